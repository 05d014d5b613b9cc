//! Which path and reason each way of not fitting gets.

use ropewalk_protocol::{
    ErrorDetail, InitializeParams, PolicySetParams, RpcError, RunSubmitParams, RunWaitParams, ThreadListParams,
    ThreadStartParams,
};
use serde::de::DeserializeOwned;

use super::read;

#[track_caller]
fn refused<T: DeserializeOwned>(text: &str) -> (String, String, RpcError) {
    let Err(error) = read::<T>(Some(text)) else { panic!("{text} fits") };
    let ErrorDetail::InvalidParams { path, reason, .. } = error.data.detail.clone() else { panic!("{error:?}") };
    (path, reason, error)
}

#[track_caller]
fn expect<T: DeserializeOwned>(text: &str, path: &str, reason: &str) {
    let (got_path, got_reason, error) = refused::<T>(text);
    assert_eq!((got_path.as_str(), got_reason.as_str()), (path, reason), "{}", error.message);
}

const TOOL: &str = r#""name":"a","description":"b","inputSchema":{"type":"object"}"#;

#[test]
fn what_is_absent_is_an_empty_object() {
    assert!(read::<ThreadListParams>(None).is_ok());
    let Err(error) = read::<RunWaitParams>(None) else { panic!("runId is required") };
    assert!(
        matches!(error.data.detail, ErrorDetail::InvalidParams { path, reason, .. } if path == "/runId" && reason == "required")
    );
}

#[test]
fn an_unknown_field_of_a_declaration_is_named() {
    expect::<ThreadStartParams>(
        &format!(r#"{{"tools":[{{{TOOL}}},{{{TOOL},"nmae":1}}]}}"#),
        "/tools/1/nmae",
        "unknown_field",
    );
    let annotated = format!(r#"{{"tools":[{{{TOOL},"inputSchema2":true}}]}}"#);
    expect::<ThreadStartParams>(&annotated, "/tools/0/inputSchema2", "unknown_field");
}

#[test]
fn an_unknown_field_of_a_request_is_ignored() {
    assert!(read::<ThreadListParams>(Some(r#"{"whatever":1}"#)).is_ok());
}

#[test]
fn a_missing_field_is_named_wherever_it_is() {
    expect::<RunSubmitParams>("{}", "/threadId", "required");
    expect::<InitializeParams>(r#"{"protocol":{"min":1},"client":{}}"#, "/protocol/max", "required");
    expect::<ThreadStartParams>(r#"{"tools":[{"name":"a"}]}"#, "/tools/0/description", "required");
    expect::<RunSubmitParams>(r#"{"threadId":"t","input":[{"text":"a"}]}"#, "/input/0/type", "required");
    expect::<RunSubmitParams>(r#"{"threadId":"t","input":[{"type":"text"}]}"#, "/input/0/text", "required");
}

#[test]
fn a_wrong_type_is_named_and_never_repeated() {
    expect::<RunSubmitParams>(r#"{"threadId":7,"input":[]}"#, "/threadId", "wrong_type");
    expect::<RunSubmitParams>(r#"{"threadId":"t","input":"hello"}"#, "/input", "wrong_type");
    expect::<ThreadListParams>(r#"{"limit":"many"}"#, "/limit", "wrong_type");
    let (_, _, error) = refused::<ThreadListParams>(r#"{"limit":"secret, expected"}"#);
    assert!(!error.message.contains("secret"), "{}", error.message);
}

#[test]
fn a_wrong_type_inside_of_a_tagged_value_is_named() {
    expect::<RunSubmitParams>(r#"{"threadId":"t","input":[{"type":"text","text":5}]}"#, "/input/0/text", "wrong_type");
    let image = r#"{"threadId":"t","input":[{"type":"image","mediaType":"image/png","data":{}}]}"#;
    expect::<RunSubmitParams>(image, "/input/0/data", "wrong_type");
    expect::<RunSubmitParams>(r#"{"threadId":"t","input":[{"type":7,"text":"a"}]}"#, "/input/0/type", "wrong_type");
}

#[test]
fn a_value_out_of_range_is_named() {
    expect::<ThreadListParams>(r#"{"limit":-1}"#, "/limit", "invalid_value");
}

#[test]
fn an_unknown_word_is_named() {
    expect::<ThreadListParams>(r#"{"sort":"random"}"#, "/sort", "unknown_value");
    expect::<RunSubmitParams>(r#"{"threadId":"t","input":[{"type":"video"}]}"#, "/input/0/type", "unknown_value");
    expect::<PolicySetParams>(r#"{"level":"global","decision":"perhaps"}"#, "/decision", "unknown_value");
    let (_, _, error) = refused::<ThreadListParams>(r#"{"sort":"hunter2"}"#);
    assert!(!error.message.contains("hunter2") && error.message.contains("created"), "{}", error.message);
}

#[test]
fn keys_are_escaped_as_json_pointer_says() {
    expect::<ThreadStartParams>(&format!(r#"{{"tools":[{{{TOOL},"a/b~":1}}]}}"#), "/tools/0/a~1b~0", "unknown_field");
}

#[test]
fn of_several_faults_the_first_is_named() {
    let image = r#"{"threadId":"t","input":[{"type":"image","extra":1,"data":5,"mediaType":6}]}"#;
    expect::<RunSubmitParams>(image, "/input/0/data", "wrong_type");
}
