//! Models that fail for a while: how long is waited before they are asked again, who sees it, and how it ends.

use std::time::Duration;

use ropewalk_protocol::Timestamp;
use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, get_issue, text, told_text, tool};
use crate::{Fault, ScriptedServer, ServerOptions};

scenarios! { $ retrying
    wire:
        l17_a_stop_ends_the_wait_for_an_endpoint
        a_provider_that_asks_for_an_hour_fails_the_run_at_once
        l25_an_empty_answer_is_asked_about_and_no_request_is_repeated
        l27_calls_of_an_answer_cut_by_its_output_limit_are_not_made;
    clock:
        l17_what_a_provider_asks_for_is_waited_out_in_seconds_and_as_a_date
        l25_a_run_gives_up_after_five_attempts_and_lists_them
        l12_the_text_of_a_cut_answer_is_kept_and_the_next_one_begins_anew
        l13_a_silent_provider_is_noticed_and_asked_again;
}

pub(super) async fn l17_a_stop_ends_the_wait_for_an_endpoint(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    server.fault_next(refusal(429, "240"));
    let run = bot.submit(&thread, "hello").await;
    let waiting = bot.waits_for_endpoint().await;
    assert_eq!(waiting["canAnswer"], json!([]));
    let stopped = bot.call("run/stop", json!({"threadId": thread})).await;
    assert!(stopped["seq"].is_u64());
    assert_eq!(bot.ended(&run).await["outcome"]["status"], "stopped");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(bot.run(&thread, "say well again").await["outcome"]["status"], "completed");
}

pub(super) async fn a_provider_that_asks_for_an_hour_fails_the_run_at_once(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    server.fault_next(refusal(429, "3600"));
    let ended = bot.run(&thread, "hello").await;
    let error = &ended["outcome"]["error"];
    assert_eq!((&error["kind"], &error["retryAfterMs"]), (&json!("rateLimited"), &json!(3_600_000)), "{error}");
    assert_eq!((&error["retryable"], &error["provider"]), (&json!(true), &json!("http")));
    assert_eq!(server.requests().len(), 1);
}

pub(super) async fn l25_an_empty_answer_is_asked_about_and_no_request_is_repeated(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    let ended = bot.run(&thread, "think only thoughts").await;
    let error = &ended["outcome"]["error"];
    assert_eq!((&error["kind"], &error["retryable"]), (&json!("badResponse"), &json!(false)), "{error}");
    let bodies: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies.len(), 3);
    assert!(bodies.windows(2).all(|two| two[0] != two[1]), "each request says more than the one before it");
    let chain = bot.chain(&thread).await;
    assert_eq!(chain[1]["sender"]["intent"], "emptyAnswer", "{chain:?}");
    let to_scripted = json!({
        "threadId": thread, "input": text("think only thoughts"), "endpointId": "scripted", "wait": true,
    });
    let scripted = bot.call("run/submit", to_scripted).await["run"].clone();
    assert_eq!((&scripted["outcome"]["text"], &scripted["steps"]), (&json!(""), &json!(1)), "its silence is its answer");
    assert_eq!(bot.run(&thread, "say well again").await["outcome"]["status"], "completed");
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn l27_calls_of_an_answer_cut_by_its_output_limit_are_not_made(subject: Fresh) {
    let options = ServerOptions { strict: true, ..ServerOptions::default() };
    let server = ScriptedServer::start(options).await.unwrap();
    let mut bot = subject.bot().await;
    bot.use_model_at(&server.base_url()).await;
    let thread = bot.start(&[get_issue(), tool("act")]).await;
    server.fault_next(cut_within_calls());
    let ended = bot.run(&thread, "say never\nthen say done with less").await;
    assert_eq!(ended["outcome"]["text"], "done with less", "{ended}");
    let calls = bot.calls(&thread).await;
    assert_eq!(calls.len(), 2);
    for call in &calls {
        let ending = (&call["state"], &call["error"]["code"], &call["effect"]);
        assert_eq!(ending, (&json!("failed"), &json!("invalid_arguments"), &json!("none")), "{call}");
        assert!(told_text(call).starts_with("Your answer was cut off by its output limit"), "{call}");
    }
    for _ in 0..3 {
        server.fault_next(cut_within_calls());
    }
    let ended = bot.run(&thread, "say never").await;
    let error = &ended["outcome"]["error"];
    assert_eq!((&error["kind"], &error["retryable"]), (&json!("cutOff"), &json!(false)), "{error}");
    assert_eq!(server.requests().len(), 5, "there is no fourth try");
    assert!(bot.seen(|line| line["method"] == "tool/call").is_empty());
    assert_eq!(bot.run(&thread, "say well again").await["outcome"]["status"], "completed", "strictly");
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn l17_what_a_provider_asks_for_is_waited_out_in_seconds_and_as_a_date(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    server.fault_next(refusal(429, "3"));
    server.fault_next(refusal(429, "3"));
    let run = bot.submit(&thread, "say at last").await;
    let wait = bot.request("run/wait", json!({"runId": run, "until": "blocked", "timeoutMs": 600_000})).await;
    let mut asked_for = vec![3_000, 3_000, 4_000];
    for attempt in 2..=4_u64 {
        let waiting = bot.waits_for_endpoint().await;
        let (since, until) = (moment(&waiting["since"]), moment(&waiting["deadlineAt"]));
        let notice = bot.notice().await;
        assert_eq!((&notice["code"], &notice["severity"]), (&json!("retrying"), &json!("warning")));
        let told = notice["text"].as_str().unwrap();
        assert!(told.starts_with("Too many requests at 127.0.0.1:"), "{told}");
        assert!(told.ends_with(&format!("attempt {attempt} of 5.")), "{told}");
        let gap = until.millis_since(since);
        assert!(gap >= asked_for.remove(0), "{gap} ms before attempt {attempt}");
        if attempt == 3 {
            // The next refusal names the first full second that is at least four later.
            server.fault_next(refusal(429, &http_date(until.plus_millis(4_999))));
        }
        subject.advance(Duration::from_millis(gap - 1));
        bot.settle_down().await;
        assert_eq!(bot.call("run/read", json!({"runId": run})).await["run"]["state"], "waiting");
        assert_eq!(server.requests().len() as u64, attempt - 1, "nobody is asked a millisecond too soon");
        subject.advance(Duration::from_millis(1));
    }
    let ended = bot.ended(&run).await;
    assert_eq!((&ended["outcome"]["status"], &ended["outcome"]["text"]), (&json!("completed"), &json!("at last")));
    let waited = bot.answer(wait).await;
    assert_eq!(waited["result"]["run"]["state"], "completed", "a wait for an endpoint blocks nobody");
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    assert!(requests.iter().all(|request| request.body == requests[0].body), "a notice is not for the model");
}

pub(super) async fn l25_a_run_gives_up_after_five_attempts_and_lists_them(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    for status in [503, 429, 503, 529, 503] {
        server.fault_next(refusal(status, "0"));
    }
    let run = bot.submit(&thread, "hello").await;
    let ended = bot.ended_after_waits(&subject, &run).await;
    let error = &ended["outcome"]["error"];
    assert_eq!((&error["kind"], &error["provider"]), (&json!("overloaded"), &json!("http")));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("(5 attempts over "), "{message}");
    assert!(message.ends_with(": overloaded ×4, rateLimited ×1)"), "{message}");
    assert_eq!(server.requests().len(), 5);
    assert_eq!(bot.run(&thread, "say well again").await["outcome"]["status"], "completed");
}

pub(super) async fn l12_the_text_of_a_cut_answer_is_kept_and_the_next_one_begins_anew(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    server.fault_next(Fault::Cut { after_bytes: 700 });
    let run = bot.submit(&thread, "say one two three four five six seven eight nine ten").await;
    let ended = bot.ended_after_waits(&subject, &run).await;
    assert_eq!(ended["outcome"]["text"], "one two three four five six seven eight nine ten");
    let said = bot.said(&thread).await;
    assert_eq!(said.len(), 2);
    let first = said[0]["text"].as_str().unwrap();
    assert!("one two three four five six".starts_with(first.trim_end()) && !first.is_empty(), "{first}");
    assert_eq!((&said[0]["state"], &said[0]["incomplete"]), (&json!("failed"), &json!(true)));
    assert_eq!((&said[1]["state"], said[1].get("incomplete")), (&json!("completed"), None));
    let anew = |line: &&Value| {
        let event = &line["params"]["event"];
        event["type"] == "itemDelta" && event["itemId"] == said[1]["itemId"]
    };
    assert_eq!(bot.kept.iter().find(anew).unwrap()["params"]["event"]["offset"], 0);
    assert_eq!(bot.chain(&thread).await.len(), 2);
    let requests = server.requests();
    assert_eq!(requests[0].body, requests[1].body, "what was cut off is no part of the next request");
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn l13_a_silent_provider_is_noticed_and_asked_again(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    server.fault_next(Fault::Stall { after_bytes: 700 });
    let run = bot.submit(&thread, "say one two three four five six seven eight nine ten").await;
    bot.until("some text", |line| line["params"]["event"]["type"] == "itemDelta").await;
    // The rest of the first bytes may still arrive, and each puts the end of patience off.
    for _ in 0..20 {
        subject.advance(Duration::from_secs(60));
        bot.settle_down().await;
        if bot.call("run/read", json!({"runId": run})).await["run"]["state"] == "waiting" {
            break;
        }
    }
    let ended = bot.ended_after_waits(&subject, &run).await;
    assert_eq!(ended["outcome"]["status"], "completed", "{ended}");
    let said = bot.said(&thread).await;
    assert_eq!((&said[0]["state"], &said[0]["incomplete"]), (&json!("failed"), &json!(true)));
    let notice = bot.notice().await;
    assert!(notice["text"].as_str().unwrap().contains("fell silent (stalled)"), "{notice}");
}

async fn over_http(subject: &Fresh) -> (ScriptedServer, Raw, Value) {
    let options = ServerOptions { strict: true, ..ServerOptions::default() };
    let server = ScriptedServer::start(options).await.unwrap();
    let mut bot = subject.bot().await;
    bot.use_model_at(&server.base_url()).await;
    let thread = bot.start(&[]).await;
    (server, bot, thread)
}

fn refusal(status: u16, retry_after: &str) -> Fault {
    Fault::Reply {
        status,
        headers: vec![("retry-after".to_owned(), retry_after.to_owned())],
        body: json!({"error": {"message": "Not now.", "type": "busy", "code": null}}).to_string(),
    }
}

/// An answer that ends at its output limit after one whole call and one that can be read although it is cut.
fn cut_within_calls() -> Fault {
    let call = |index: u64, name: &str, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        json!({"tool_calls": [{"index": index, "id": format!("c{index}"), "type": "function", "function": function}]})
    };
    let chunks = [
        (call(0, "get_issue", "{\"id\":\"1\"}"), Value::Null),
        (call(1, "act", "{}"), Value::Null),
        (json!({}), json!("length")),
    ];
    let line = |(delta, reason): &(Value, Value)| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let chunk = json!({"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    Fault::Reply {
        status: 200,
        headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
        body: chunks.iter().map(line).collect::<String>() + "data: [DONE]\n\n",
    }
}

fn moment(value: &Value) -> Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

/// A moment of the day on which scenarios play, as HTTP writes dates: in whole seconds.
fn http_date(moment: Timestamp) -> String {
    let written = moment.to_string();
    let time = written.strip_prefix("2026-11-30T").expect("the day of the scenarios").get(..8).unwrap();
    format!("Mon, 30 Nov 2026 {time} GMT")
}
