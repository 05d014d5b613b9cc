//! The example exchanges of the JSON-RPC 2.0 specification, section 7, by code and id.

use serde_json::{Value, json};

use super::setting;

/// What is sent, and the answer without the errors' texts and data; null where there is none.
fn examples() -> Vec<(&'static str, Value)> {
    let result = |id: Value, result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let error = |id: Value, code: i32| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code}});
    let invalid = || error(Value::Null, -32600);
    vec![
        (r#"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#, result(json!(1), json!(19))),
        (r#"{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}"#, result(json!(2), json!(-19))),
        (
            r#"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#,
            result(json!(3), json!(19)),
        ),
        (
            r#"{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}"#,
            result(json!(4), json!(19)),
        ),
        (r#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#, Value::Null),
        (r#"{"jsonrpc": "2.0", "method": "foobar"}"#, Value::Null),
        (r#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#, error(json!("1"), -32601)),
        (r#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, error(Value::Null, -32700)),
        (r#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, invalid()),
        (
            r#"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method"]"#,
            error(Value::Null, -32700),
        ),
        ("[]", invalid()),
        ("[1]", json!([invalid()])),
        ("[1,2,3]", json!([invalid(), invalid(), invalid()])),
        (
            r#"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}, {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"}, {"foo": "boo"}, {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"}, {"jsonrpc": "2.0", "method": "get_data", "id": "9"}]"#,
            json!([
                result(json!("1"), json!(7)),
                result(json!("2"), json!(19)),
                invalid(),
                error(json!("5"), -32601),
                result(json!("9"), json!(["hello", 5])),
            ]),
        ),
        (
            r#"[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]}, {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]"#,
            Value::Null,
        ),
    ]
}

fn without_texts(mut answer: Value) -> Value {
    let answers = if let Value::Array(answers) = &mut answer {
        answers.as_mut_slice()
    } else {
        std::slice::from_mut(&mut answer)
    };
    for answer in answers {
        if let Some(error) = answer["error"].as_object_mut() {
            assert!(error["message"].is_string());
            error.retain(|name, _| name == "code");
        }
        if answer["error"].is_null() {
            answer.as_object_mut().unwrap().remove("error");
        }
    }
    answer
}

#[tokio::test]
async fn the_examples_of_the_specification_hold() {
    let mut setting = setting();
    for (line, expected) in examples() {
        if expected.is_null() {
            setting.stranger.send(format!("{line}\n")).await;
            setting.stranger.nothing_more().await;
        } else {
            assert_eq!(without_texts(setting.stranger.ask(line).await), expected, "{line}");
        }
    }
}
