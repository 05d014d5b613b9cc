//! Every limit that can be run into: what is refused, with which numbers, and that the rest goes on.

use serde_json::{Value, json};

use super::{Fresh, Raw, get_issue, success, text, tool_with};
use crate::{RawEnding, RawReply, RawServer};

scenarios! { $ limits
    wire:
        a_line_that_is_too_long_is_skipped_and_answered_with_its_id
        a_result_that_is_too_long_ends_its_call
        nesting_beyond_max_depth_is_too_large_even_in_a_field_nobody_knows
        a_schema_has_a_limit_of_bytes_and_of_levels
        an_image_has_a_limit_of_bytes_and_an_input_of_parts
        more_requests_than_max_in_flight_are_overloaded_and_control_is_answered
        more_waits_than_max_waiting_are_overloaded_and_other_requests_are_not
        a_full_queue_is_overloaded
        more_subscriptions_than_there_may_be_are_overloaded
        one_connection_too_many_is_told_and_closed
        a_result_over_the_budget_is_cut_for_the_model_with_a_marker;
    clock:;
}

pub(super) async fn a_line_that_is_too_long_is_skipped_and_answered_with_its_id(subject: Fresh) {
    let mut bot = subject.bot().await;
    let filler = "x".repeat(16 * 1024 * 1024);
    bot.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":\"big\",\"method\":\"daemon/status\",\"params\":{{\"x\":\"{filler}\"}}}}")).await;
    let answer = bot.until("too large", |line| line.get("error").is_some()).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("big"), &json!(-32011)));
    let data = &answer["error"]["data"];
    assert_eq!((&data["kind"], &data["what"], &data["limit"]), (&json!("tooLarge"), &json!("message"), &json!(16_777_216)));
    assert!(data["actual"].as_u64() > Some(16_777_216));
    bot.line(&format!("\"{filler}\"")).await;
    let answer = bot.until("too large", |line| line.get("error").is_some()).await;
    assert_eq!(answer["id"], Value::Null, "no id in its first 4 KiB");
    bot.settle_down().await;
}

pub(super) async fn a_result_that_is_too_long_ends_its_call(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"2\"}").await;
    let call = bot.asked("tool/call").await;
    let filler = "x".repeat(16 * 1024 * 1024);
    bot.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"x\":\"{filler}\"}}}}", call["id"])).await;
    let call = bot.asked("tool/call").await;
    let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    bot.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"success\":true,\"structuredContent\":{deep}}}}}", call["id"])).await;
    bot.ended(&run).await;
    for item in bot.calls(&thread).await {
        assert_eq!((&item["state"], &item["error"]["code"]), (&json!("failed"), &json!("result_too_large")), "{item}");
        assert_eq!(item["effect"], "done");
    }
}

pub(super) async fn nesting_beyond_max_depth_is_too_large_even_in_a_field_nobody_knows(subject: Fresh) {
    let mut bot = subject.bot().await;
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    for (id, levels, fits) in [(901, 98, true), (902, 99, false), (903, 5_000, false)] {
        let params = format!("{{\"x\":{}}}", nested(levels));
        bot.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"daemon/status\",\"params\":{params}}}")).await;
        let answer = bot.answer(id).await;
        assert_eq!(answer.get("result").is_some(), fits, "{levels}: {answer}");
        if !fits {
            let data = &answer["error"]["data"];
            assert_eq!((&data["kind"], &data["what"], &data["limit"]), (&json!("tooLarge"), &json!("depth"), &json!(100)));
            assert!(data["actual"].as_u64() > Some(100), "{data}");
        }
    }
}

pub(super) async fn a_schema_has_a_limit_of_bytes_and_of_levels(subject: Fresh) {
    let mut bot = subject.bot().await;
    let wide = json!({"inputSchema": {"type": "object", "properties": {}, "description": "x".repeat(65_536)}});
    let error = bot.refused("thread/start", json!({"tools": [tool_with("wide", wide)]})).await;
    assert_eq!((&error["code"], &error["data"]["what"]), (&json!(-32011), &json!("schema")));
    assert_eq!(error["data"]["limit"], 65_536);
    assert!(error["data"]["actual"].as_u64() > Some(65_536));
    assert!(error["message"].as_str().unwrap().contains("/tools/0/inputSchema"), "{error}");
    let mut deep = json!({"type": "string"});
    for _ in 0..32 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    let error = bot.refused("thread/start", json!({"tools": [tool_with("deep", json!({"inputSchema": deep}))]})).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["limit"]), (&json!("tooLarge"), &json!(64)), "{error}");
}

pub(super) async fn an_image_has_a_limit_of_bytes_and_an_input_of_parts(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    // Four characters are three bytes.
    let data = "AAAA".repeat(5_242_881 / 3 + 1);
    let image = json!({"threadId": thread, "input": [{"type": "image", "mediaType": "image/png", "data": data}]});
    let error = bot.refused("run/submit", image).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["what"]), (&json!("tooLarge"), &json!("image")));
    assert_eq!(error["data"]["limit"], 5_242_880);
    let parts: Vec<_> = (0..33).map(|_| json!({"type": "text", "text": "x"})).collect();
    let error = bot.refused("run/submit", json!({"threadId": thread, "input": parts})).await;
    assert_eq!((&error["data"]["path"], &error["data"]["reason"]), (&json!("/input"), &json!("too_many")));
}

pub(super) async fn more_requests_than_max_in_flight_are_overloaded_and_control_is_answered(subject: Fresh) {
    let server = RawServer::start([RawReply { ending: RawEnding::Stall, ..RawReply::stream("") }]).await.unwrap();
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let endpoint = bot.use_model_at(&server.base_url()).await;
    for _ in 0..64 {
        bot.request("endpoint/test", json!({"endpointId": endpoint})).await;
    }
    let error = bot.refused("thread/list", json!({})).await;
    assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32001), &json!("overloaded")));
    assert_eq!((&error["data"]["limit"], &error["data"]["retryable"]), (&json!(64), &json!(true)));
    assert!(error["data"]["retryAfterMs"].is_u64() && error["data"]["what"].is_string());
    bot.settle_down().await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.call("thread/unsubscribe", json!({"threadId": thread})).await;
    let mut other = subject.client("other", "in-B").await;
    other.call("thread/list", json!({})).await;
}

pub(super) async fn more_waits_than_max_waiting_are_overloaded_and_other_requests_are_not(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "sleep 600000").await;
    let waits: Vec<_> = (0..64).map(|n| json!({"runId": run, "timeoutMs": 600_000 - n})).collect();
    let mut ids = Vec::new();
    for wait in waits {
        ids.push(bot.request("run/wait", wait).await);
    }
    let error = bot.refused("thread/events", json!({"threadId": thread, "after": 4, "waitMs": 1000})).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["limit"]), (&json!("overloaded"), &json!(64)));
    bot.call("thread/list", json!({})).await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    for id in ids {
        assert_eq!(bot.answer(id).await["result"]["run"]["state"], "stopped");
    }
}

pub(super) async fn a_full_queue_is_overloaded(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.call("thread/start", json!({"subscribe": false})).await["thread"]["threadId"].clone();
    bot.submit(&thread, "sleep 600000").await;
    many(&mut bot, 1_000, |_| ("run/submit", json!({"threadId": thread, "input": text("x")}))).await;
    let error = bot.refused("run/submit", json!({"threadId": thread, "input": text("x")})).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["what"]), (&json!("overloaded"), &json!("queueEntries")));
    assert_eq!((&error["data"]["limit"], &error["data"]["retryable"]), (&json!(1_000), &json!(true)));
    let resumed = bot.call("thread/resume", json!({"threadId": thread, "subscribe": false})).await;
    let queue = &resumed["snapshot"]["queues"][thread.as_str().unwrap()];
    assert_eq!(queue["length"], 1_000);
    assert!(queue["entries"].as_array().unwrap().len() <= 1_000);
}

pub(super) async fn more_subscriptions_than_there_may_be_are_overloaded(subject: Fresh) {
    let mut bot = subject.bot().await;
    many(&mut bot, 1_024, |_| ("thread/start", json!({}))).await;
    let error = bot.refused("thread/start", json!({})).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["what"]), (&json!("overloaded"), &json!("subscriptions")));
    assert_eq!(error["data"]["limit"], 1_024);
    let status = bot.call("daemon/status", json!({})).await;
    assert_eq!(status["counts"]["threads"], 1_024, "a refused start has started nothing");
    bot.call("thread/start", json!({"subscribe": false})).await;
}

pub(super) async fn one_connection_too_many_is_told_and_closed(subject: Fresh) {
    let mut open = Vec::new();
    for _ in 0..256 {
        open.push(subject.bot().await);
    }
    let mut late = subject.raw().await;
    let line = late.next().await;
    assert_eq!((&line["id"], &line["error"]["data"]["kind"]), (&Value::Null, &json!("overloaded")));
    assert_eq!(line["error"]["data"]["limit"], 256);
    late.closed().await;
    assert!(late.kept.is_empty());
    open.pop().unwrap().settle_down().await;
    open[0].settle_down().await;
}

pub(super) async fn a_result_over_the_budget_is_cut_for_the_model_with_a_marker(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, success(&"x".repeat(300_000))).await;
    bot.ended(&run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    let told = super::told_text(&item);
    assert!(told.chars().count() <= 262_145, "{}", told.chars().count());
    assert!(told.contains("[cut: ") && told.contains("of 300000 characters"), "{}", &told[told.len() - 200..]);
}

/// Sends so many requests, fifty at a time, and looks that each succeeded.
async fn many(bot: &mut Raw, count: i64, make: impl Fn(i64) -> (&'static str, Value)) {
    for first in (0..count).step_by(50) {
        let batch = (first..count.min(first + 50)).map(|n| {
            let (method, params) = make(n);
            json!({"jsonrpc": "2.0", "id": n, "method": method, "params": params})
        });
        bot.send(Value::from(batch.collect::<Vec<_>>())).await;
        let answers = bot.until("a batch of answers", Value::is_array).await;
        for answer in answers.as_array().unwrap() {
            assert!(answer.get("result").is_some(), "{answer}");
        }
        bot.kept.clear();
    }
}
