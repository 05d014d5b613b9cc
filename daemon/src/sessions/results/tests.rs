//! Results in every shape a server may give them.

use ropewalk_protocol::{Part, Severity};
use serde_json::{Value, json};

use super::{BLOCKS, result_of};
use crate::tools::{CallFailure, Schema, SourceResult};

/// The smallest PNG that is one.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

fn read(result: &Value) -> SourceResult {
    result_of(result, false, None).unwrap()
}

fn texts(result: &SourceResult) -> Vec<&str> {
    result.content.iter().filter_map(Part::as_text).collect()
}

#[test]
fn m23_data_without_text_is_told_to_the_model_once_and_shown_to_clients() {
    for content in [json!([]), json!(null), json!([{ "type": "text", "text": " " }])] {
        let result = read(&json!({ "content": content, "structuredContent": { "total": 36 } }));
        assert_eq!(texts(&result).iter().filter(|text| text.contains("36")).count(), 1);
        assert_eq!(result.structured_content, Some(json!({ "total": 36 })));
    }
    let result =
        read(&json!({ "content": [{ "type": "text", "text": "36 in all" }], "structuredContent": { "total": 36 } }));
    assert_eq!(texts(&result), ["36 in all"], "data with a text is for clients");
}

#[test]
fn app_7_structured_content_off_the_output_schema_fails_the_call() {
    let schema = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
    let schema = Schema::compile(&schema).unwrap();
    let result = |structured: Value| {
        let content = json!([{ "type": "text", "text": "{\"n\":1}" }]);
        result_of(&json!({ "content": content, "structuredContent": structured }), true, Some(&schema))
    };
    assert_eq!(result(json!({ "n": 1 })).unwrap().severity, Severity::Info);
    let Err(CallFailure::InvalidResult { problem }) = result(json!({ "n": "one" })) else { panic!("it passed") };
    assert_eq!(problem.path, "/structuredContent/n");
}

#[test]
fn m25_a_text_where_data_was_promised_reaches_the_model_with_a_warning() {
    let schema = Schema::compile(&json!({ "type": "object", "required": ["n"] })).unwrap();
    for text in ["{\"n\":1}", "no data"] {
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        let result = result_of(&result, true, Some(&schema)).unwrap();
        assert_eq!((texts(&result), result.severity), (vec![text], Severity::Warning));
        assert_eq!(result.structured_content, None);
    }
}

#[test]
fn mcp_50_blocks_beyond_256_are_cut_and_counted() {
    let blocks = |count: usize| {
        let blocks: Vec<Value> = (0..count).map(|n| json!({ "type": "text", "text": n.to_string() })).collect();
        read(&json!({ "content": blocks })).content
    };
    assert_eq!(blocks(BLOCKS).len(), BLOCKS);
    let cut = blocks(BLOCKS + 1);
    assert_eq!((cut.len(), cut[BLOCKS].as_text()), (BLOCKS + 1, Some("[1 more blocks of this result were cut]")));
}

#[test]
fn mcp_51_to_55_blocks_of_every_kind_are_shown_or_said_to_be_there() {
    let result = read(&json!({ "content": [
        { "type": "text", "text": "t", "annotations": { "audience": ["user"] } },
        { "type": "image", "data": PNG, "mimeType": "image/png" },
        { "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" },
        { "type": "resource_link", "uri": "file:///a", "name": "a" },
        { "type": "resource", "resource": { "uri": "file:///b", "mimeType": "text/plain", "text": "whole" } },
        { "type": "resource", "resource": { "uri": "file:///c", "mimeType": "application/zip", "blob": "AAEC" } },
        { "type": "image", "data": "broken!", "mimeType": "image/png" },
        { "type": "hologram", "data": "x" },
        7,
    ] }));
    assert_eq!(result.content[1], Part::Image { media_type: "image/png".to_owned(), data: PNG.to_owned() });
    assert!(matches!(result.content[2], Part::Audio { .. }));
    assert_eq!(result.content[3], Part::ResourceLink { uri: "file:///a".to_owned(), name: "a".to_owned() });
    let texts = texts(&result);
    assert_eq!(texts[..3], ["t", "whole", "[the binary resource file:///c (application/zip, 3 bytes) is not shown]"]);
    assert!(texts[3].starts_with("[an image is not shown: its data"));
    assert_eq!(
        texts[4..],
        ["[a block of the unknown kind hologram is not shown]", "[a block without a kind is not shown]"]
    );
}

#[test]
fn mcp_57_a_tools_own_error_is_a_failed_result_with_its_text() {
    let result = read(&json!({ "isError": true, "content": [{ "type": "text", "text": "No such issue." }] }));
    let failure = CallFailure::Reported { code: "tool_error".to_owned(), message: "No such issue.".to_owned() };
    assert_eq!((texts(&result), result.failure.clone()), (vec!["No such issue."], Some(failure)));
    let silent = read(&json!({ "isError": true }));
    assert_eq!(texts(&silent), ["The tool failed and did not say why."]);
}

#[test]
fn k10_a_result_that_says_nothing_says_so() {
    for empty in [json!({}), json!({ "content": [] }), json!({ "content": null, "structuredContent": null })] {
        assert_eq!(texts(&read(&empty)), ["The tool was carried out, and says nothing."]);
    }
    assert!(result_of(&json!("text"), false, None).is_err());
    assert!(result_of(&json!({ "content": "text" }), false, None).is_err());
    assert!(result_of(&json!({ "resultType": "inputRequired" }), false, None).is_err());
}
