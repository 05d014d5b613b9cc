//! Calling a client's tool: what crosses the wire, what counts as a result, and who sees which part of it.

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, get_issue, success, told_text, tool, tool_with};
use crate::{ScriptedServer, ServerOptions};

scenarios! { $ calling
    wire:
        dyn_10_success_needs_at_least_one_content_item
        dyn_11_structured_content_reaches_clients_and_never_the_model
        dyn_12_a_failure_needs_a_code_and_a_message
        dyn_12_an_odd_result_settles_the_call_as_invalid
        dyn_13_an_answer_of_method_not_found_is_an_unsupported_tool
        dyn_14_any_other_error_as_answer_is_a_failed_call_and_the_client_goes_on
        dyn_16_a_call_carries_thread_run_call_namespace_tool_and_arguments
        dyn_17_bad_arguments_never_reach_the_handler
        dyn_17_arguments_are_repaired_before_the_check_and_both_are_recorded
        calls_of_one_message_run_in_order_and_each_has_its_own_id
        a_result_that_is_cut_is_kept_whole_and_read_in_parts;
    clock:;
}

pub(super) async fn dyn_10_success_needs_at_least_one_content_item(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    for empty in [json!({"success": true}), json!({"success": true, "contentItems": []})] {
        let item = one_call(&mut bot, &thread, empty).await;
        assert_eq!((&item["state"], &item["error"]["code"]), (&json!("failed"), &json!("invalid_result")), "{item}");
        assert_eq!(item["effect"], "done", "it was carried out");
        assert!(told_text(&item).contains("/contentItems must have at least one item"), "{}", told_text(&item));
    }
    let item = one_call(&mut bot, &thread, success("#7 Login fails")).await;
    assert_eq!((&item["state"], &item["effect"]), (&json!("completed"), &json!("done")));
    assert_eq!(told_text(&item), "#7 Login fails");
    assert!(item.get("error").is_none());
}

pub(super) async fn dyn_11_structured_content_reaches_clients_and_never_the_model(subject: Fresh) {
    let server = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
    let mut bot = subject.bot().await;
    bot.use_model_at(&server.base_url()).await;
    let thread = bot.start(&[get_issue()]).await;
    let mut result = success("seven");
    result["structuredContent"] = json!({"marker": "PLANTED-4711"});
    let item = one_call(&mut bot, &thread, result).await;
    assert_eq!(item["structuredContent"], json!({"marker": "PLANTED-4711"}), "clients see it");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert!(!request.body.to_string().contains("PLANTED-4711"), "the model does not: {}", request.body);
        assert_eq!(request.refused, None);
    }
    let messages = bot.chain(&thread).await;
    assert!(!json!(messages).to_string().contains("PLANTED-4711"), "nor does what the model sees show it");
}

pub(super) async fn dyn_12_a_failure_needs_a_code_and_a_message(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    for (missing, path) in [
        (json!({"success": false, "errorCode": "E_GONE"}), "/errorMessage"),
        (json!({"success": false, "errorMessage": "it is gone"}), "/errorCode"),
        (json!({"success": false, "errorCode": "", "errorMessage": "it is gone"}), "/errorCode"),
    ] {
        let item = one_call(&mut bot, &thread, missing).await;
        assert_eq!((&item["state"], &item["error"]["code"]), (&json!("failed"), &json!("invalid_result")), "{item}");
        assert!(told_text(&item).contains(path), "{}", told_text(&item));
    }
    let failure = json!({"success": false, "errorCode": "E_GONE", "errorMessage": "it is gone"});
    let item = one_call(&mut bot, &thread, failure).await;
    assert_eq!(item["state"], "failed");
    assert_eq!(item["error"], json!({"code": "E_GONE", "message": "it is gone"}));
    assert_eq!((&item["effect"], &item["severity"]), (&json!("unknown"), &json!("error")));
    assert!(told_text(&item).contains("it is gone") && told_text(&item).contains("E_GONE"));
}

pub(super) async fn dyn_12_an_odd_result_settles_the_call_as_invalid(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let odd = [
        (json!({"success": true, "contentItems": [{"type": "text", "text": "x"}], "extra": 1}), "/extra"),
        (json!({"success": "yes", "contentItems": []}), "/success"),
        (json!({"contentItems": []}), "/success"),
        (json!({"success": true, "contentItems": [{"type": "text"}]}), "/contentItems/0/text"),
        (json!({"success": true, "contentItems": [{"type": "tent", "text": "x"}]}), "/contentItems/0/type"),
        (json!({"success": true, "contentItems": [{"type": "text", "text": "x", "y": 1}]}), "/contentItems/0/y"),
        (json!({"success": true, "contentItems": [{"type": "text", "text": "x"}], "errorCode": "E"}), "/errorCode"),
        (json!("fine"), ""),
        (Value::Null, ""),
    ];
    for (result, path) in odd {
        let item = one_call(&mut bot, &thread, result).await;
        assert_eq!(item["error"]["code"], "invalid_result", "{item}");
        assert!(told_text(&item).contains(path), "{path}: {}", told_text(&item));
    }
    assert!(bot.seen(|line| line["method"] == "interaction/invalidAnswer").is_empty(), "that is for people");
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn dyn_13_an_answer_of_method_not_found_is_an_unsupported_tool(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    let call = bot.asked("tool/call").await;
    bot.reply_error(&call, -32601, "No handler for get_issue.").await;
    bot.ended(&run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!(item["state"], "failed");
    assert_eq!(item["error"], json!({"code": "UnsupportedTool", "message": "No handler for get_issue."}));
    assert!(told_text(&item).contains("UnsupportedTool"), "the model sees the code: {}", told_text(&item));
    let settled = bot.told("interaction/settled").await;
    assert_eq!(settled["outcome"], "answered", "the client did answer");
}

pub(super) async fn dyn_14_any_other_error_as_answer_is_a_failed_call_and_the_client_goes_on(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    for code in [-32603, -32000, 17] {
        let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
        let call = bot.asked("tool/call").await;
        bot.reply_error(&call, code, "The handler panicked: index out of bounds.").await;
        let ended = bot.ended(&run).await;
        assert_eq!(ended["outcome"]["status"], "completed", "a failed call fails no run");
        let item = bot.calls(&thread).await.pop().unwrap();
        assert_eq!((&item["state"], &item["error"]["code"]), (&json!("failed"), &json!("AdapterToolCallFailed")));
        assert_eq!(item["effect"], "unknown");
        assert!(told_text(&item).contains("AdapterToolCallFailed"), "{}", told_text(&item));
    }
    let item = one_call(&mut bot, &thread, success("well again")).await;
    assert_eq!(item["state"], "completed");
}

pub(super) async fn dyn_16_a_call_carries_thread_run_call_namespace_tool_and_arguments(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("get", json!({"namespace": "issues"})), tool("plain")]).await;
    let run = bot.submit(&thread, "call issues__get {\"id\":7,\"deep\":{\"list\":[1,2.5,null]}}\ncall plain").await;
    let call = bot.asked("tool/call").await;
    let started = bot.event("itemStarted").await;
    let params = &call["params"];
    assert_eq!((&params["threadId"], &params["runId"]), (&thread, &run));
    assert_eq!(params["callId"], started["event"]["item"]["callId"]);
    assert_eq!((&params["namespace"], &params["tool"], &params["attempt"]), (&json!("issues"), &json!("get"), &json!(1)));
    assert_eq!(params["arguments"], json!({"id": 7, "deep": {"list": [1, 2.5, null]}}));
    assert_eq!(params["silenceMs"], 120_000);
    assert!(params["deadlineAt"].is_string() && params["interactionId"].is_string());
    bot.reply(&call, success("one")).await;
    let second = bot.asked("tool/call").await;
    assert!(second["params"].get("namespace").is_none(), "absent, not null");
    assert_eq!(second["params"]["arguments"], json!({}), "no arguments are an empty object");
    bot.reply(&second, success("two")).await;
    bot.ended(&run).await;
}

pub(super) async fn dyn_17_bad_arguments_never_reach_the_handler(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let cases = [
        ("call get_issue {\"id\":7}", "/id", "invalid_arguments"),
        ("call get_issue {}", "/id", "invalid_arguments"),
        ("call get_issue {\"id\":\"7\",\"extra\":true}", "/extra", "invalid_arguments"),
        ("call get_issue {\"id\":", "get_issue", "invalid_json"),
        ("call get_issue [1]", "get_issue", "invalid_arguments"),
        ("call get_isue {\"id\":\"7\"}", "get_issue", "unknown_tool"),
    ];
    for (input, told, code) in cases {
        let ended = bot.run(&thread, input).await;
        assert_eq!(ended["outcome"]["status"], "completed", "{input}");
        let item = bot.calls(&thread).await.pop().unwrap();
        assert_eq!((&item["state"], &item["effect"]), (&json!("failed"), &json!("none")), "{item}");
        assert_eq!(item["error"]["code"], code, "{item}");
        assert!(told_text(&item).contains(told), "{input}: {}", told_text(&item));
        assert!(item.get("interactionId").is_none(), "nobody was asked");
    }
    assert!(bot.seen(|line| line["method"] == "tool/call").is_empty(), "the handler was not called");
}

pub(super) async fn dyn_17_arguments_are_repaired_before_the_check_and_both_are_recorded(subject: Fresh) {
    let mut bot = subject.bot().await;
    let schema = json!({"inputSchema": {
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"type": "string"}}, "id": {"type": "string"}},
    }});
    let thread = bot.start(&[tool_with("tag", schema)]).await;
    let run = bot.submit(&thread, "call tag {\"id\":\"00713\",\"tags\":\"[\\\"a\\\",\\\"b\\\"]\"}").await;
    let call = bot.asked("tool/call").await;
    assert_eq!(call["params"]["arguments"], json!({"id": "00713", "tags": ["a", "b"]}));
    bot.reply(&call, success("tagged")).await;
    bot.ended(&run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!(item["arguments"], json!({"id": "00713", "tags": ["a", "b"]}));
    assert_eq!(item["originalArguments"], json!({"id": "00713", "tags": "[\"a\",\"b\"]"}));
}

pub(super) async fn calls_of_one_message_run_in_order_and_each_has_its_own_id(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let lines: Vec<_> = (1..=4).map(|n| format!("call get_issue {{\"id\":\"{n}\"}}")).collect();
    let run = bot.submit(&thread, &lines.join("\n")).await;
    let mut ids = Vec::new();
    for n in 1..=4 {
        let call = bot.asked("tool/call").await;
        assert_eq!(call["params"]["arguments"]["id"], n.to_string());
        bot.settle_down().await;
        assert!(bot.seen(|line| line["method"] == "tool/call").is_empty(), "one at a time");
        ids.push(call["params"]["callId"].clone());
        bot.reply(&call, success(&format!("result {n}"))).await;
    }
    ids.dedup();
    assert_eq!(ids.len(), 4);
    let ended = bot.ended(&run).await;
    let report: Vec<_> = (1..=4).map(|n| format!("get_issue: result {n}")).collect();
    assert_eq!(ended["outcome"]["text"], report.join("\n"));
}

/// Lets the model call `get_issue` once and answers with this result; the item of the call.
async fn one_call(bot: &mut Raw, thread: &Value, result: Value) -> Value {
    let run = bot.submit(thread, "call get_issue {\"id\":\"7\"}").await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, result).await;
    bot.ended(&run).await;
    bot.calls(thread).await.pop().unwrap()
}

pub(super) async fn a_result_that_is_cut_is_kept_whole_and_read_in_parts(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let whole = "gr\u{fc}n \u{1f9f5} ".repeat(40_000);
    let item = one_call(&mut bot, &thread, success(&whole)).await;
    let blob = &item["blob"];
    assert_eq!(blob["totalBytes"], whole.len());
    let told = told_text(&item);
    let marker = format!("characters; the whole is kept as blob {}]", blob["blobId"].as_str().unwrap());
    assert!(told.contains(&marker) && told.chars().count() <= 262_144, "{}", &told[told.len() - 200..]);
    let (mut read, mut parts) = (String::new(), 0);
    while read.len() < whole.len() {
        let part = bot.call("blob/read", json!({"blobId": blob["blobId"], "offset": read.len(), "limit": 99_999})).await;
        assert_eq!((&part["totalBytes"], part.get("data")), (&blob["totalBytes"], None), "{}", part["totalBytes"]);
        read.push_str(part["text"].as_str().unwrap());
        parts += 1;
    }
    assert!(read == whole && parts > 4, "{parts} parts, {} bytes", read.len());
    let end = bot.call("blob/read", json!({"blobId": blob["blobId"], "offset": whole.len()})).await;
    assert_eq!(end["text"], "");
    let within = bot.call("blob/read", json!({"blobId": blob["blobId"], "offset": 3, "limit": 2})).await;
    assert_eq!((within.get("text"), &within["data"]), (None, &json!("vG4=")), "from within a character on it is bytes");
    let beyond = bot.refused("blob/read", json!({"blobId": blob["blobId"], "offset": whole.len() + 1})).await;
    assert_eq!((&beyond["data"]["path"], &beyond["data"]["reason"]), (&json!("/offset"), &json!("out_of_range")));
    let nothing = bot.refused("blob/read", json!({"blobId": "nope"})).await;
    assert_eq!((&nothing["data"]["kind"], &nothing["data"]["noun"]), (&json!("notFound"), &json!("blob")));
}
