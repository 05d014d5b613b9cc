//! The scan and the sniffing of long lines, without a stream around them.

use ropewalk_protocol::RequestId;

use crate::{scan, sniff};

#[test]
fn what_values_can_hold_has_no_flaw() {
    for json in [
        "{}",
        "[]",
        "\"\\ud83d\\ude00\"",
        "\"\\\\ud800\"",
        "\"\\\\\"",
        r#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}"#,
        "[18446744073709551615,-9223372036854775808,0,-0,1.5e300,123456789012345678901.0]",
        r#"{"":1," ":2}"#,
    ] {
        assert_eq!(scan::flaw(json), None, "{json}");
    }
}

#[test]
fn a_path_is_escaped_as_json_pointer_says() {
    let flaw = scan::flaw(r#"{"a/b":{"~":[{}, {"x":{},"x":1}]}}"#).unwrap();
    assert_eq!(flaw.path, "/a~1b/~0/1/x");
}

#[test]
fn a_key_that_cannot_be_represented_is_named_by_its_object() {
    let flaw = scan::flaw(r#"{"a":{"ok":1,"\udc00":2}}"#).unwrap();
    assert_eq!((flaw.path.as_str(), flaw.reason), ("/a", "lone_surrogate"));
}

#[test]
fn repeated_keys_are_found_among_many() {
    let many = |last: &str| {
        let keys: String = (0..10_000).map(|n| format!("\"k{n}\":{{\"x\":1}},")).collect();
        format!("{{{keys}\"{last}\":1}}")
    };
    assert_eq!(scan::flaw(&many("new")), None);
    for last in ["k0", "k15", "k16", "k9999"] {
        assert_eq!(scan::flaw(&many(last)).unwrap().path, format!("/{last}"));
    }
}

#[test]
fn the_head_of_a_long_line_tells_its_id_and_its_direction() {
    let sniffed = |head: &str| {
        let sniffed = sniff::sniff(head.as_bytes());
        (sniffed.id, sniffed.is_answer)
    };
    let number = |id| Some(RequestId::Number(id));
    assert_eq!(sniffed(r#"{"jsonrpc":"2.0","id":5,"result":{"a":"xxx"#), (number(5), true));
    assert_eq!(sniffed(r#" { "jsonrpc" : "2.0" , "id" : 5 , "method" : "echo" , "params" : ["#), (number(5), false));
    assert_eq!(sniffed(r#"{"method":"a","id":"x\"y","params":"#), (Some(RequestId::Text("x\"y".to_owned())), false));
    assert_eq!(sniffed(r#"{"x":{"id":1,"y":["}"]},"id":2,"error":"#), (number(2), true));
    assert_eq!(sniffed(r#"{"result":"xxxx"#), (None, true));
    assert_eq!(sniffed(r#"{"id":12"#), (None, false), "the id may go on");
    assert_eq!(sniffed(r#"{"id":1.5,"method":"a","#), (None, false));
    assert_eq!(sniffed(r#"[{"id":5,"#), (None, false));
    assert_eq!(sniffed("}{\"\\"), (None, false));
}
