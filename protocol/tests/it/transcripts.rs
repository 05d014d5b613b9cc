//! Recorded lines of the wire against the types and the bundle: read, checked, and written again without a loss.

use ropewalk_protocol::{ApprovalAnswer, InputAnswer, RpcError, ToolCallAnswer};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    bundle::{Bundle, problems},
    typed::{RoundTrip, round_trip, types},
};

/// One recorded line.
#[derive(Deserialize)]
struct Line {
    /// The scenario it belongs to.
    section: String,
    /// The method it answers, for a response.
    answers: Option<String>,
    /// The line itself.
    message: Value,
}

fn lines() -> Vec<Line> {
    include_str!("../fixtures/transcripts.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Calls `check` with each line's payload, its types, its schema and what to call it in a message.
fn each_payload(mut check: impl FnMut(&Value, RoundTrip, &jsonschema::Validator, &str)) {
    let bundle = Bundle::new();
    let types = types();
    for line in lines() {
        let message = &line.message;
        if let Some(method) = message["method"].as_str() {
            let what = format!("({}) {method}", line.section);
            check(&message["params"], types[method].params, &bundle.params(method), &what);
            continue;
        }
        let method = line.answers.expect("a response of the fixture names the method it answers");
        let what = format!("({}) the answer to {method}", line.section);
        if let Some(error) = message.get("error") {
            check(error, round_trip::<RpcError>, &bundle.definition("RpcError"), &what);
        } else {
            check(&message["result"], types[&*method].result.unwrap(), &bundle.result(&method), &what);
        }
    }
}

#[test]
fn every_recorded_line_passes_through_its_type_without_a_loss() {
    each_payload(|payload, through, _, what| {
        assert_eq!(through(payload.clone()).as_ref(), Ok(payload), "{what}");
    });
}

#[test]
fn every_recorded_line_fits_the_schema_bundle() {
    each_payload(|payload, _, schema, what| {
        let problems = problems(schema, payload);
        assert!(problems.is_empty(), "{what}: {problems:#?}\n{payload}");
    });
}

#[test]
fn a_recorded_settlement_carries_what_a_response_would() {
    for line in lines() {
        if line.message["method"] == "interaction/settle" {
            let answer = line.message["params"]["answer"].clone();
            let fits = round_trip::<ApprovalAnswer>(answer.clone()).is_ok()
                || round_trip::<InputAnswer>(answer.clone()).is_ok()
                || round_trip::<ToolCallAnswer>(answer.clone()).is_ok();
            assert!(fits, "{answer}");
        }
    }
}

#[test]
fn a_field_that_is_missing_from_a_recorded_line_is_noticed() {
    let bundle = Bundle::new();
    let schema = bundle.params("thread/event");
    for line in lines().iter().filter(|line| line.message["method"] == "thread/event") {
        let mut params = line.message["params"].clone();
        let event = params["event"].as_object_mut().unwrap();
        let required =
            event.keys().find(|key| *key != "type" && *key != "answer" && *key != "message").cloned().unwrap();
        event.remove(&required);
        assert!(!schema.is_valid(&params), "{} without {required}", line.message["params"]["event"]["type"]);
    }
}
