//! What is refused before a handler sees it: lines that are no requests, early requests, parameters that do not fit.

use serde_json::{Value, json};

use super::{Fresh, Raw, get_issue, success, text};

scenarios! { $ refusing
    wire:
        lines_that_are_no_json_get_a_parse_error_and_the_connection_goes_on
        json_that_is_no_request_is_an_invalid_request
        ids_are_echoed_as_they_came_and_unknown_answers_are_ignored
        a_batch_is_answered_as_a_whole_and_waits_in_it_are_refused
        methods_nobody_knows_are_method_not_found
        before_the_handshake_nothing_is_answered_and_after_it_no_second_one
        parameters_that_do_not_fit_are_named_with_path_and_reason_and_never_repeated
        what_cannot_be_represented_is_refused_with_its_path_and_id
        ten_thousand_lines_of_garbage_end_neither_connection_nor_daemon;
    clock:;
}

pub(super) async fn lines_that_are_no_json_get_a_parse_error_and_the_connection_goes_on(subject: Fresh) {
    let mut bot = subject.bot().await;
    for garbage in ["{", "nonsense", "{\"jsonrpc\":\"2.0\",\"id\":1,}", "[1,2", "\u{1}\u{2}", "tru"] {
        bot.line(garbage).await;
        let answer = bot.until("a parse error", |line| line["error"]["data"]["kind"] == "parse").await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)), "{garbage}: {answer}");
        assert!(answer["error"]["data"]["position"].is_u64());
    }
    bot.bytes(b"\xff\xfe{}\n").await;
    bot.until("a parse error", |line| line["error"]["data"]["kind"] == "parse").await;
    bot.line("").await;
    bot.line("   ").await;
    bot.settle_down().await;
    assert!(bot.kept.is_empty(), "empty lines are ignored: {:?}", bot.kept);
}

pub(super) async fn json_that_is_no_request_is_an_invalid_request(subject: Fresh) {
    let mut bot = subject.bot().await;
    let odd = [
        ("1", Value::Null),
        ("\"text\"", Value::Null),
        ("null", Value::Null),
        ("[]", Value::Null),
        ("{}", Value::Null),
        ("{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"daemon/status\"}", json!("a")),
        ("{\"id\":\"b\",\"method\":\"daemon/status\"}", json!("b")),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":5}", json!("c")),
        ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"daemon/status\"}", Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"daemon/status\"}", Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"daemon/status\",\"params\":\"x\"}", json!("d")),
    ];
    for (line, id) in odd {
        bot.line(line).await;
        let answer = bot.until("an error", |answer| answer.get("error").is_some()).await;
        assert_eq!((&answer["error"]["code"], &answer["error"]["data"]["kind"]), (&json!(-32600), &json!("invalidRequest")), "{line}: {answer}");
        assert!(!answer["error"]["data"]["reason"].as_str().unwrap().is_empty());
        assert_eq!(answer["id"], id, "{line}");
    }
    bot.settle_down().await;
}

pub(super) async fn ids_are_echoed_as_they_came_and_unknown_answers_are_ignored(subject: Fresh) {
    let mut bot = subject.bot().await;
    for id in [json!("text"), json!(-7), json!(i64::MAX), json!(0), json!("")] {
        bot.send(json!({"jsonrpc": "2.0", "id": id, "method": "daemon/status"})).await;
        bot.until("the same id", |line| line["id"] == id && line.get("result").is_some()).await;
    }
    bot.send(json!({"jsonrpc": "2.0", "id": null, "method": "daemon/status"})).await;
    bot.until("id null", |line| line["id"].is_null() && line.get("result").is_some()).await;
    bot.send(json!({"jsonrpc": "2.0", "id": 4711, "result": {}})).await;
    bot.send(json!({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "m"}})).await;
    bot.send(json!({"jsonrpc": "2.0", "method": "no/such/notification", "params": {}})).await;
    bot.settle_down().await;
    assert!(bot.kept.is_empty(), "{:?}", bot.kept);
}

pub(super) async fn a_batch_is_answered_as_a_whole_and_waits_in_it_are_refused(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "sleep 600000").await;
    bot.send(json!([
        {"jsonrpc": "2.0", "id": "a", "method": "daemon/status"},
        {"jsonrpc": "2.0", "method": "daemon/status"},
        {"jsonrpc": "2.0", "id": "b", "method": "no/such"},
        7,
        {"jsonrpc": "2.0", "id": "c", "method": "run/wait", "params": {"runId": run}},
        {"jsonrpc": "2.0", "id": "d", "method": "run/submit", "params": {"threadId": thread, "input": text("x"), "wait": true}},
        {"jsonrpc": "2.0", "id": "e", "method": "thread/events", "params": {"threadId": thread, "after": 0, "waitMs": 5}},
    ]))
    .await;
    let answers = bot.until("the answers", Value::is_array).await;
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 6, "one for each but the notification: {answers:?}");
    let of = |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert!(of(json!("a")).get("result").is_some());
    assert_eq!(of(json!("b"))["error"]["data"]["kind"], "methodNotFound");
    assert_eq!(of(Value::Null)["error"]["data"]["kind"], "invalidRequest");
    for id in ["c", "d", "e"] {
        let error = &of(json!(id))["error"]["data"];
        assert_eq!((&error["kind"], &error["reason"]), (&json!("invalidRequest"), &json!("waits_in_batch")), "{id}");
    }
    let many: Vec<_> = (0..101).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "daemon/status"})).collect();
    bot.send(Value::from(many)).await;
    let answer = bot.until("one error", |line| line.get("error").is_some()).await;
    assert_eq!(answer["error"]["data"]["reason"], "batch_too_large");
    let calls: Vec<_> = (0..50).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "daemon/status"})).collect();
    bot.send(Value::from(calls)).await;
    assert_eq!(bot.until("fifty answers", Value::is_array).await.as_array().unwrap().len(), 50);
}

pub(super) async fn methods_nobody_knows_are_method_not_found(subject: Fresh) {
    let mut bot = subject.bot().await;
    for method in ["no/such", "thread/erase", "Thread/Start", "tool/call", "approval/request", "rpc.discover", ""] {
        let error = bot.refused(method, json!({})).await;
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32601), &json!("methodNotFound")), "{method}");
        assert_eq!(error["data"]["method"], method);
        assert_eq!(error["data"]["retryable"], false);
    }
}

pub(super) async fn before_the_handshake_nothing_is_answered_and_after_it_no_second_one(subject: Fresh) {
    let mut raw = subject.raw().await;
    for method in ["daemon/status", "thread/start", "no/such"] {
        let error = raw.refused(method, json!({})).await;
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32002), &json!("notInitialized")), "{method}");
    }
    let hello = |min: u32, max: u32| json!({"protocol": {"min": min, "max": max}, "client": {"name": "x", "version": "1"}});
    let error = raw.refused("initialize", hello(2, 9)).await;
    assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32004), &json!("unsupportedProtocol")));
    assert_eq!(error["data"]["supported"], json!({"min": 1, "max": 1}));
    assert!(error["data"]["daemon"]["version"].is_string());
    let odd = [
        (json!({"client": {"name": "x", "version": "1"}}), "/protocol", "required"),
        (json!({"protocol": {"min": 1, "max": 1}}), "/client", "required"),
        (json!({"protocol": {"min": 2, "max": 1}, "client": {"name": "x", "version": "1"}}), "/protocol/min", "out_of_range"),
        (json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "a b", "version": "1"}}), "/client/name", "not_a_name"),
        (json!({"protocol": {"min": "1", "max": 1}, "client": {"name": "x", "version": "1"}}), "/protocol/min", "wrong_type"),
    ];
    for (params, path, reason) in odd {
        let error = raw.refused("initialize", params).await;
        assert_eq!((&error["data"]["path"], &error["data"]["reason"]), (&json!(path), &json!(reason)), "{error}");
    }
    let welcome = raw.call("initialize", hello(0, 5)).await;
    assert_eq!((&welcome["protocol"], &welcome["daemon"]["name"]), (&json!(1), &json!("ropewalk")));
    assert_eq!(welcome["schemaHash"].as_str().unwrap().len(), 64);
    assert_eq!(welcome["limits"]["maxInFlight"], 64);
    let error = raw.refused("initialize", hello(1, 1)).await;
    assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32003), &json!("alreadyInitialized")));
    raw.settle_down().await;
}

pub(super) async fn parameters_that_do_not_fit_are_named_with_path_and_reason_and_never_repeated(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let odd = [
        ("run/submit", json!({"threadId": thread}), "/input", "required"),
        ("run/submit", json!({"threadId": 7, "input": []}), "/threadId", "wrong_type"),
        ("run/submit", json!({"threadId": thread, "input": "SECRET"}), "/input", "wrong_type"),
        ("run/submit", json!({"threadId": thread, "input": [{"type": "text"}]}), "/input/0/text", "required"),
        ("run/submit", json!({"threadId": thread, "input": [{"type": "SECRET", "text": "x"}]}), "/input/0/type", "unknown_value"),
        ("run/submit", json!({"threadId": thread, "input": [{"type": "text", "text": 5}]}), "/input/0/text", "wrong_type"),
        ("run/submit", json!({"threadId": thread, "input": []}), "/input", "empty"),
        ("run/submit", json!({"threadId": thread, "input": text(" ")}), "/input/0/text", "empty"),
        ("run/submit", json!({"threadId": thread, "input": text("x"), "mode": "SECRET"}), "/mode", "unknown_value"),
        ("run/submit", json!({"threadId": thread, "input": text("x"), "title": "x"}), "/title", "not_of_mode"),
        ("run/submit", json!({"threadId": thread, "input": text("x"), "mode": "steer"}), "/expectedRunId", "required"),
        ("run/submit", json!({"threadId": thread, "input": text("x"), "expectedRunId": "x"}), "/expectedRunId", "not_of_mode"),
        ("run/submit", json!({"threadId": thread, "input": text("x"), "mode": "aside", "outputSchema": true}), "/outputSchema", "not_of_mode"),
        ("run/submit", json!({"threadId": thread, "input": text(" "), "mode": "aside"}), "/input/0/text", "empty"),
        ("queue/update", json!({"threadId": thread, "messageId": "x", "input": []}), "/input", "empty"),
        ("queue/update", json!({"threadId": thread, "messageId": "x", "input": text(" ")}), "/input/0/text", "empty"),
        ("queue/reorder", json!({"threadId": thread, "messageIds": ["x", "y", "x"]}), "/messageIds/2", "repeated"),
        ("queue/reorder", json!({"threadId": thread, "messageIds": vec!["x"; 1_001]}), "/messageIds", "too_many"),
        ("run/submit", json!({"threadId": thread, "input": text("x"), "unattended": "maybe"}), "/unattended", "unknown_value"),
        ("run/submit", json!({"threadId": thread, "input": text("x"), "waitTimeoutMs": 5}), "/waitTimeoutMs", "out_of_range"),
        ("run/submit", json!({"threadId": thread, "input": text("x"), "operationId": "a b"}), "/operationId", "invalid_value"),
        ("run/submit", json!({"threadId": thread, "input": text("x"), "dryRun": true}), "/dryRun", "not_supported"),
        ("run/wait", json!({"runId": "x", "timeoutMs": 999}), "/timeoutMs", "out_of_range"),
        ("run/wait", json!({"runId": "x", "until": "SECRET"}), "/until", "unknown_value"),
        ("run/list", json!({"states": ["done"]}), "/states/0", "unknown_value"),
        ("thread/list", json!({"limit": -1}), "/limit", "invalid_value"),
        ("thread/list", json!({"limit": 0}), "/limit", "out_of_range"),
        ("thread/events", json!({"threadId": thread, "after": 0, "limit": 0}), "/limit", "out_of_range"),
        ("thread/events", json!({"threadId": thread, "after": 0, "waitMs": 600_001}), "/waitMs", "out_of_range"),
        ("thread/list", json!({"sort": "SECRET"}), "/sort", "unknown_value"),
        ("thread/start", json!({"title": ""}), "/title", "empty"),
        ("thread/start", json!({"title": "x".repeat(201)}), "/title", "too_long"),
        ("thread/start", json!({"tools": {}}), "/tools", "wrong_type"),
        ("thread/update", json!({"threadId": thread, "pinned": "yes"}), "/pinned", "wrong_type"),
        ("endpoint/set", json!({"name": "x", "provider": "SECRET", "model": "m"}), "/provider", "unknown_value"),
        ("endpoint/set", json!({"name": "x", "model": "m"}), "/provider", "required"),
        ("endpoint/set", json!({"name": "x", "provider": "scripted", "model": "m", "capability": 9}), "/capability", "out_of_range"),
        ("settings/update", json!({"toolSilenceMs": 10}), "/toolSilenceMs", "out_of_range"),
        ("settings/update", json!({"toolSilenceMs": 3_600_000}), "/toolSilenceMs", "above_ceiling"),
        ("grant/add", json!({"projectId": "p", "path": "/", "capabilities": ["fly"]}), "/capabilities/0", "unknown_value"),
        ("interaction/list", json!({"kind": "SECRET"}), "/kind", "unknown_value"),
        ("interaction/list", json!({"state": "settled"}), "/threadId", "required"),
        ("daemon/shutdown", json!({"graceMs": 600_001}), "/graceMs", "out_of_range"),
    ];
    for (method, params, path, reason) in odd {
        let error = bot.refused(method, params.clone()).await;
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32602), &json!("invalidParams")), "{method} {params}: {error}");
        assert_eq!((&error["data"]["path"], &error["data"]["reason"]), (&json!(path), &json!(reason)), "{method} {params}: {error}");
        assert_eq!(error["data"]["retryable"], false);
        assert!(error["message"].as_str().unwrap().len() > 10, "{error}");
        assert!(!error.to_string().contains("SECRET"), "never the refused value: {error}");
    }
    let error = bot.refused("thread/list", json!([1])).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["reason"]), (&json!("invalidParams"), &json!("positional")));
    assert_eq!(bot.log(&thread).await.len(), 2, "nothing of it happened");
    let unknown = bot.call("thread/list", json!({"nobodyKnows": 1})).await;
    assert!(unknown["items"].is_array(), "unknown fields of requests are ignored");
}

pub(super) async fn what_cannot_be_represented_is_refused_with_its_path_and_id(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let odd = [
        (format!("{{\"threadId\":{thread},\"input\":[{{\"type\":\"text\",\"text\":\"\\ud800\"}}]}}"), "/input/0/text"),
        (format!("{{\"threadId\":{thread},\"threadId\":{thread},\"input\":[]}}"), "/threadId"),
        (format!("{{\"threadId\":{thread},\"x\":1e999}}"), "/x"),
        (format!("{{\"threadId\":{thread},\"x\":123456789012345678901234567890}}"), "/x"),
    ];
    for (n, (params, path)) in (900..).zip(odd) {
        bot.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"run/submit\",\"params\":{params}}}")).await;
        let answer = bot.answer(n).await;
        let data = &answer["error"]["data"];
        assert_eq!((&data["kind"], &data["path"]), (&json!("invalidParams"), &json!(path)), "{params}: {answer}");
    }
    // In the arguments of a model the same is refused for the model, never rounded.
    bot.run(&thread, "call get_issue {\"id\":123456789012345678901234567890}").await;
    assert_eq!(bot.calls(&thread).await[0]["state"], "failed");
    // In the answer to a call it breaks a rule of results.
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let call = bot.asked("tool/call").await;
    let answer = success("x").to_string().replace("\"x\"", "\"\\udc00\"");
    bot.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{answer}}}", call["id"])).await;
    bot.ended(&run).await;
    assert_eq!(bot.calls(&thread).await[1]["state"], "failed");
}

pub(super) async fn ten_thousand_lines_of_garbage_end_neither_connection_nor_daemon(subject: Fresh) {
    let mut bot = subject.bot().await;
    for _ in 0..100 {
        let mut lines = String::new();
        for n in 0..100 {
            lines.push_str(&format!("garbage {n} {{[\n"));
        }
        bot.bytes(lines.as_bytes()).await;
        for _ in 0..100 {
            let answer = bot.next().await;
            assert_eq!(answer["error"]["data"]["kind"], "parse");
        }
    }
    bot.settle_down().await;
    let mut half: Raw = subject.raw().await;
    half.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ini").await;
    drop(half);
    subject.bot().await.settle_down().await;
}
