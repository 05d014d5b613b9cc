//! Bodies of providers' answers. The first two bytes say whose it is, and how long the pieces are in which it comes.
#![no_main]

use ropewalk_protocol::Provider;

const SHAPES: [Provider; 5] =
    [Provider::OpenaiCompatible, Provider::Anthropic, Provider::OpenaiResponses, Provider::Gemini, Provider::Ollama];

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let [shape, length, body @ ..] = input {
        let shape = SHAPES[usize::from(*shape) % SHAPES.len()];
        let offsets = (1..body.len()).step_by(1 + usize::from(*length)).collect::<Vec<_>>();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(ropewalk_daemon::models::holds::of_an_answer(shape, body, &offsets));
    }
});
