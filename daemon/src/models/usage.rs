//! Estimates what a request costs where its provider does not say.

use ropewalk_protocol::{Part, Usage};

use super::ModelRequest;

/// A count where nobody counted: a token is taken for four characters.
pub(super) fn estimated(input_characters: usize, output_characters: usize) -> Usage {
    Usage {
        input_tokens: input_characters.div_ceil(4) as u64,
        output_tokens: output_characters.div_ceil(4) as u64,
        requests: 1,
        estimated: true,
        ..Usage::default()
    }
}

/// The characters a request makes a model read, for an estimate.
pub(super) fn input_characters(request: &ModelRequest) -> usize {
    let tools = request.tools.iter().map(|tool| tool.name.len() + tool.description.len());
    let messages = request.messages.iter().map(|chained| {
        let texts = chained.message.content.iter().filter_map(Part::as_text).map(str::len).sum::<usize>();
        let calls = chained.message.tool_calls.iter();
        texts + calls.map(|call| call.flat_name.len() + call.arguments.to_string().len()).sum::<usize>()
    });
    request.instructions.len() + tools.sum::<usize>() + messages.sum::<usize>()
}
