//! Digests: what changes them and what does not.

use ropewalk_protocol::Annotations;
use serde_json::{Value, json};

use super::{canonical, digest, exact_digest, tool_digest};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn canonical_json_sorts_keys_and_drops_spaces() {
    let value = parsed(r#"{ "b": [1.0, 10e1, "é\u000a"], "a": {"z": null, "A": true} }"#);
    assert_eq!(String::from_utf8(canonical(&value)).unwrap(), r#"{"a":{"A":true,"z":null},"b":[1,100,"é\n"]}"#);
}

#[test]
fn an_exact_digest_tells_large_integers_apart() {
    let digest_of = |number: u64| exact_digest(&json!({"n": number}));
    assert_ne!(digest_of(9_007_199_254_740_993), digest_of(9_007_199_254_740_992));
    assert_eq!(digest_of(1), exact_digest(&parsed(r#"{ "n" : 1 }"#)));
}

#[test]
fn a_digest_is_64_lower_case_hex_digits_of_sha_256() {
    assert_eq!(digest(&json!({})), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}

#[test]
fn dyn_35_schemas_and_annotations_decide_a_tools_digest_and_key_order_does_not() {
    let input = json!({"type": "object", "properties": {"id": {"type": "string"}}});
    let reordered = parsed(r#"{"properties":{"id":{"type":"string"}},"type":"object"}"#);
    let none = Annotations::default();
    let reads = Annotations { read_only_hint: Some(true), ..Annotations::default() };
    let base = tool_digest(&input, None, &none);
    assert_eq!(base, tool_digest(&reordered, None, &none));
    assert_ne!(base, tool_digest(&json!({"type": "object"}), None, &none));
    assert_ne!(base, tool_digest(&input, Some(&json!({})), &none));
    assert_ne!(base, tool_digest(&input, None, &reads));
}
