//! The example exchanges of the JSON-RPC 2.0 specification over a socket: as they are, and bound to a method there is.

use std::collections::BTreeMap;

use ropewalk_conformance::suite::Raw;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{assert_told, listening};

const EXAMPLES: &str = include_str!("../../../../protocol/tests/fixtures/json-rpc-examples.jsonl");

#[derive(Deserialize)]
struct Example {
    example: String,
    send: String,
    /// Null where nothing is answered.
    answer: Value,
}

/// Where the daemon answers with an error although the specification's server has a result: example, id and code.
type Differences = BTreeMap<(String, String), i64>;

/// The daemon has no method of this name.
const UNKNOWN: i64 = -32601;

/// The daemon's methods take their parameters by name.
const BY_NAME: i64 = -32602;

/// The methods of the specification's server. Notifications need none: whatever they name, nobody is told.
const METHODS: [&str; 3] = ["subtract", "sum", "get_data"];

fn examples() -> Vec<Example> {
    EXAMPLES.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn differences(listed: &[(&str, &str, i64)]) -> Differences {
    listed.iter().map(|(example, id, code)| (((*example).to_owned(), (*id).to_owned()), *code)).collect()
}

/// The id and the code of each answer, in the order of both; no code is a result.
fn codes(answer: &Value) -> Vec<(String, Option<i64>)> {
    let answers = answer.as_array().map_or(std::slice::from_ref(answer), Vec::as_slice);
    let code_of = |answer: &Value| {
        assert!(answer.get("error").is_some() != answer.get("result").is_some(), "{answer}");
        answer.get("error").map(|error| error["code"].as_i64().unwrap())
    };
    let mut codes: Vec<_> = answers.iter().map(|answer| (answer["id"].to_string(), code_of(answer))).collect();
    codes.sort();
    codes
}

/// Plays an example; where the daemon differs from the specification.
async fn play(client: &mut Raw<UnixStream>, example: &Example) -> Differences {
    client.line(&example.send).await;
    let mut differs = Differences::new();
    if !example.answer.is_null() {
        let answer = client.next().await;
        assert_eq!(answer.is_array(), example.answer.is_array(), "{}: {answer}", example.example);
        let (found, wanted) = (codes(&answer), codes(&example.answer));
        assert_eq!(found.len(), wanted.len(), "{}: {answer}", example.example);
        for ((id, found), (wanted_id, wanted)) in found.into_iter().zip(wanted) {
            assert_eq!(id, wanted_id, "{}: {answer}", example.example);
            if found != wanted {
                assert_eq!(wanted, None, "{}: {answer}", example.example);
                differs.insert((example.example.clone(), id), found.unwrap());
            }
        }
    }
    // Nothing more was answered, and the connection goes on.
    client.send(json!({"jsonrpc": "2.0", "id": "fence", "method": "daemon/status"})).await;
    assert_eq!(client.next().await["id"], "fence", "{}", example.example);
    differs
}

#[tokio::test]
async fn the_examples_of_the_json_rpc_specification_hold_over_a_socket() {
    let (daemon, _place) = listening().await;
    let mut client = Raw::greeted(daemon.connect().await.unwrap(), "stranger", "s").await;
    let mut found = Differences::new();
    for example in examples() {
        found.extend(play(&mut client, &example).await);
    }
    let listed = differences(&[
        ("positional parameters", "1", UNKNOWN),
        ("positional parameters, the other way round", "2", UNKNOWN),
        ("named parameters", "3", UNKNOWN),
        ("named parameters, the other way round", "4", UNKNOWN),
        ("a batch", "\"1\"", UNKNOWN),
        ("a batch", "\"2\"", UNKNOWN),
        ("a batch", "\"9\"", UNKNOWN),
    ]);
    assert_eq!(found, listed);
    assert_told(&format!("the specification's 15 examples, with {} answers that differ", listed.len()));
    daemon.kill().await.unwrap();
}

#[tokio::test]
async fn bound_to_a_method_there_is_only_parameters_by_position_differ() {
    let (daemon, _place) = listening().await;
    let mut client = Raw::greeted(daemon.connect().await.unwrap(), "stranger", "s").await;
    let mut found = Differences::new();
    for mut example in examples() {
        for method in METHODS {
            example.send = example.send.replace(&format!("\"{method}\""), "\"daemon/status\"");
        }
        found.extend(play(&mut client, &example).await);
    }
    let listed = differences(&[
        ("positional parameters", "1", BY_NAME),
        ("positional parameters, the other way round", "2", BY_NAME),
        ("a batch", "\"1\"", BY_NAME),
        ("a batch", "\"2\"", BY_NAME),
    ]);
    assert_eq!(found, listed);
    assert_told(&format!("bound to `daemon/status`, {} differ", listed.len()));
    daemon.kill().await.unwrap();
}
