//! The example exchanges of the JSON-RPC 2.0 specification, section 7, by code and id.

use serde::Deserialize;
use serde_json::Value;

use super::setting;

/// What is sent and answered, as the specification prints it.
const EXAMPLES: &str = include_str!("../../../tests/fixtures/json-rpc-examples.jsonl");

#[derive(Deserialize)]
struct Example {
    send: String,
    /// Null where nothing is answered.
    answer: Value,
}

/// An answer, or the answers of a batch, without the errors' texts and data, which are ours to choose.
fn without_texts(mut answer: Value) -> Value {
    let answers = if let Value::Array(answers) = &mut answer {
        answers.as_mut_slice()
    } else {
        std::slice::from_mut(&mut answer)
    };
    for error in answers.iter_mut().filter_map(|answer| answer.get_mut("error")).filter_map(Value::as_object_mut) {
        assert!(error["message"].is_string());
        error.retain(|name, _| name == "code");
    }
    answer
}

#[tokio::test]
async fn the_examples_of_the_specification_hold() {
    let mut setting = setting();
    let examples: Vec<Example> = EXAMPLES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(examples.len(), 15);
    for Example { send, answer } in examples {
        if answer.is_null() {
            setting.stranger.send(format!("{send}\n")).await;
            setting.stranger.nothing_more().await;
        } else {
            assert_eq!(without_texts(setting.stranger.ask(&send).await), without_texts(answer), "{send}");
        }
    }
}
