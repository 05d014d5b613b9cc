//! The lines of `docs/protocol.md` are real: each fits its types and the schema bundle.

use std::collections::BTreeMap;

use ropewalk_protocol::RpcError;
use serde_json::Value;

use crate::{
    bundle::{Bundle, problems},
    typed::{round_trip, types},
};

#[test]
fn every_line_of_the_story_is_a_line_of_the_wire() {
    let bundle = Bundle::new();
    let types = types();
    let mut asked = BTreeMap::new();
    let mut count = 0;
    for (sent, message) in lines() {
        count += 1;
        let id = message["id"].to_string();
        let (payload, schema, through) = if let Some(method) = message["method"].as_str() {
            asked.insert((sent, id), method.to_owned());
            (&message["params"], bundle.params(method), types[method].params)
        } else if message.get("error").is_some() {
            (&message["error"], bundle.definition("RpcError"), round_trip::<RpcError> as _)
        } else {
            let method = &asked[&(!sent, id)];
            (&message["result"], bundle.result(method), types[&**method].result.unwrap())
        };
        let problems = problems(&schema, payload);
        assert!(problems.is_empty(), "{problems:#?}\n{message}");
        assert_eq!(through(payload.clone()).as_ref(), Ok(payload));
    }
    assert!(count > 15, "the story has only {count} lines");
}

/// Whether the client sends it, and the message.
fn lines() -> Vec<(bool, Value)> {
    let page = include_str!("../../../docs/protocol.md");
    page.lines()
        .filter_map(|line| {
            let (arrow, text) = line.split_once(" {")?;
            let sent = match arrow {
                "→" => true,
                "←" => false,
                _ => return None,
            };
            Some((sent, serde_json::from_str(&format!("{{{text}")).unwrap()))
        })
        .collect()
}
