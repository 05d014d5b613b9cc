//! Results of tools: what counts as success, and what the model sees of it.

use base64::{Engine, engine::general_purpose::STANDARD};
use ropewalk_protocol::{Effect, Part, Problem};
use serde_json::{Value, json};

use super::{CheckedResult, check_result, told_to_model};
use crate::tools::{CallFailure, Schema};

fn checked(answer: Value) -> CheckedResult {
    check_result(&answer, None).unwrap_or_else(|failure| panic!("{answer}: {failure:?}"))
}

fn invalid(answer: Value) -> (String, String) {
    match check_result(&answer, None) {
        Err(CallFailure::InvalidResult { problem: Problem { path, reason } }) => (path, reason),
        other => panic!("expected an invalid result of {answer}, got {other:?}"),
    }
}

fn success(item: Value) -> Value {
    json!({"success": true, "contentItems": [item]})
}

#[test]
fn dyn_10_success_needs_at_least_one_content_item() {
    let result = checked(success(json!({"type": "text", "text": "#7"})));
    assert_eq!(result.content, [Part::text("#7")]);
    assert_eq!((result.failure, result.structured_content, result.warning), (None, None, None));
    for answer in [
        json!({"success": true}),
        json!({"success": true, "contentItems": []}),
        json!({"success": true, "contentItems": null, "structuredContent": {"a": 1}}),
    ] {
        assert_eq!(invalid(answer), ("/contentItems".into(), "must have at least one item on success".into()));
    }
}

#[test]
fn dyn_11_structured_content_is_kept_apart_from_what_the_model_is_told() {
    let answer =
        json!({"success": true, "contentItems": [{"type": "text", "text": "told"}], "structuredContent": {"k": 1}});
    let result = checked(answer);
    assert_eq!(result.structured_content, Some(json!({"k": 1})));
    assert_eq!(told_to_model(&result, "t"), [Part::text("told")]);
}

#[test]
fn dyn_12_failure_needs_a_code_and_a_message() {
    let whole = json!({"success": false, "errorCode": "not_found", "errorMessage": "There is no issue 9."});
    let result = checked(whole.clone());
    assert_eq!(told_to_model(&result, "get_issue"), [Part::text("get_issue failed: There is no issue 9. (not_found)")]);
    for field in ["errorCode", "errorMessage"] {
        for broken in [Value::Null, json!(" "), json!(4)] {
            let mut answer = whole.clone();
            answer[field] = broken;
            assert_eq!(invalid(answer).0, format!("/{field}"));
        }
    }
    assert_eq!(invalid(json!({"success": false, "contentItems": [{"type": "text", "text": "x"}]})).0, "/errorCode");
    let long = json!({"success": false, "errorCode": "c".repeat(129), "errorMessage": "m"});
    assert_eq!(invalid(long).0, "/errorCode");
}

#[test]
fn a_failure_is_never_a_success_as_well() {
    let mut answer = success(json!({"type": "text", "text": "x"}));
    answer["errorCode"] = "oops".into();
    assert_eq!(invalid(answer), ("/errorCode".into(), "must be absent on success".into()));
    for success in [json!("true"), json!(1), json!(null)] {
        assert_eq!(invalid(json!({"success": success})).0, "/success");
    }
    assert_eq!(invalid(json!({"contentItems": []})), ("/success".into(), "is missing".into()));
}

#[test]
fn answers_and_their_items_are_closed() {
    let mut answer = success(json!({"type": "text", "text": "x"}));
    answer["sucess"] = true.into();
    assert_eq!(invalid(answer), ("/sucess".into(), "is no field of it".into()));
    assert_eq!(invalid(json!([1])), (String::new(), "must be an object".into()));
    assert_eq!(invalid(success(json!({"type": "text", "text": "x", "lang": "en"}))).0, "/contentItems/0/lang");
    assert_eq!(invalid(success(json!("x"))).0, "/contentItems/0");
    assert_eq!(invalid(success(json!({"type": "text"}))), ("/contentItems/0/text".into(), "is missing".into()));
    assert_eq!(invalid(success(json!({"type": "text", "text": null}))).0, "/contentItems/0/text");
    assert_eq!(invalid(json!({"success": true, "contentItems": "x"})).0, "/contentItems");
}

#[test]
fn only_parts_of_results_are_taken() {
    let data = STANDARD.encode("bytes");
    for item in [
        json!({"type": "image", "mediaType": "image/png", "data": data}),
        json!({"type": "audio", "mediaType": "audio/wav", "data": data}),
        json!({"type": "resourceLink", "uri": "https://example.com", "name": "home"}),
    ] {
        assert_eq!(serde_json::to_value(&checked(success(item.clone())).content[0]).unwrap(), item);
    }
    for item in [json!({"type": "resource", "resourceId": "r"}), json!({"type": "video"}), json!({})] {
        assert_eq!(invalid(success(item)).0, "/contentItems/0/type");
    }
    let broken = json!({"type": "image", "mediaType": "image/png", "data": "not base64"});
    assert_eq!(invalid(success(broken)).0, "/contentItems/0/data");
    let mismatch = json!({"type": "image", "mediaType": "text/html", "data": data});
    assert_eq!(invalid(success(mismatch)).0, "/contentItems/0/mediaType");
}

#[test]
fn images_are_limited_in_decoded_bytes() {
    let image = |bytes: usize| {
        success(json!({"type": "image", "mediaType": "image/png", "data": STANDARD.encode(vec![7; bytes])}))
    };
    assert!(check_result(&image(5_242_880), None).is_ok());
    let failure = check_result(&image(5_242_881), None).unwrap_err();
    assert_eq!((failure.code(), failure.effect()), ("result_too_large", Effect::Done));
}

#[test]
fn dyn_35_structured_content_off_the_output_schema_fails_and_none_is_a_warning() {
    let schema = Schema::compile(&json!({"type": "object", "properties": {"id": {"type": "string"}}})).unwrap();
    let mut answer = success(json!({"type": "text", "text": "x"}));
    assert!(check_result(&answer, Some(&schema)).unwrap().warning.is_some());
    answer["structuredContent"] = json!({"id": "7"});
    assert_eq!(check_result(&answer, Some(&schema)).unwrap().warning, None);
    answer["structuredContent"] = json!({"id": 7});
    let Err(CallFailure::InvalidResult { problem }) = check_result(&answer, Some(&schema)) else { panic!() };
    assert_eq!(
        (problem.path.as_str(), problem.reason.as_str()),
        ("/structuredContent/id", "must be a string, says the output schema")
    );
    let failed = json!({"success": false, "errorCode": "c", "errorMessage": "m", "structuredContent": 1});
    assert!(check_result(&failed, Some(&schema)).is_ok());
}
