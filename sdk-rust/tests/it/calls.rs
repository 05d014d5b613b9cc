//! Tool calls, from the daemon's request to the handler and back.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use ropewalk::{Json, Tool, ToolContext, ToolError, ToolOutput, Tools};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use crate::support::{attached, call, in_time};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct GetIssue {
    /// The number.
    id: String,
}

fn get_issue() -> Tool {
    Tool::new("get_issue")
        .description("Read an issue.")
        .input::<GetIssue>()
        .handler(|args: GetIssue, _| async move { format!("#{} Login fails", args.id) })
}

/// A tool without arguments whose handler does `work`.
fn tool<F, Fut>(work: F) -> Tools
where
    F: Fn(ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: ropewalk::IntoToolResult> + Send + 'static,
{
    Tool::new("work").description("Work.").handler(move |_, cx| work(cx)).into()
}

fn text(answer: &Value) -> &str {
    answer["contentItems"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_call_reaches_the_handler_and_its_result_goes_back() {
    let (fake, _thread) = attached(get_issue().into()).await;
    let answer = fake.ask("tool/call", call("int-1", "get_issue", json!({"id": "7"}))).await.unwrap();
    assert_eq!(answer, json!({"success": true, "contentItems": [{"type": "text", "text": "#7 Login fails"}]}));
}

#[tokio::test]
async fn dyn_6_an_undeclared_property_never_reaches_the_handler() {
    let (fake, _thread) = attached(get_issue().into()).await;
    let answer = fake.ask("tool/call", call("int-1", "get_issue", json!({"id": "7", "dry": true}))).await.unwrap();
    assert_eq!(answer["success"], false);
    assert_eq!(answer["errorCode"], "invalid_arguments");
    assert!(answer["errorMessage"].as_str().unwrap().contains("/dry"), "{answer}");

    let answer = fake.ask("tool/call", call("int-2", "get_issue", json!({"id": 7}))).await.unwrap();
    assert!(answer["errorMessage"].as_str().unwrap().contains("/id"), "{answer}");
}

#[tokio::test]
async fn dyn_13_a_tool_without_handler_is_unsupported() {
    let (fake, _thread) = attached(get_issue().into()).await;
    for params in [call("int-1", "other", json!({})), {
        let mut params = call("int-2", "get_issue", json!({"id": "7"}));
        params["namespace"] = json!("tracker");
        params
    }] {
        let answer = fake.ask("tool/call", params).await.unwrap();
        assert_eq!((answer["success"].clone(), answer["errorCode"].clone()), (json!(false), json!("UnsupportedTool")));
    }
    let mut elsewhere = call("int-3", "get_issue", json!({"id": "7"}));
    elsewhere["threadId"] = json!("th-9");
    assert_eq!(fake.ask("tool/call", elsewhere).await.unwrap()["errorCode"], "UnsupportedTool");
}

#[tokio::test]
async fn dyn_14_a_panic_is_the_failure_of_one_call_and_the_process_goes_on() {
    let tools = tool(|cx| async move {
        assert_ne!(cx.interaction_id().as_str(), "int-1", "boom");
        "fine"
    });
    let (fake, _thread) = attached(tools).await;
    let answer = fake.ask("tool/call", call("int-1", "work", json!({}))).await.unwrap();
    assert_eq!(answer["errorCode"], "AdapterToolCallFailed");
    let message = answer["errorMessage"].as_str().unwrap();
    assert!(message.contains("work panicked") && message.contains("boom"), "{message}");
    let answer = fake.ask("tool/call", call("int-2", "work", json!({}))).await.unwrap();
    assert_eq!(text(&answer), "fine");
}

#[tokio::test]
async fn dyn_14_an_error_is_told_with_its_causes_and_may_have_a_code() {
    let tools = tool(|cx| async move {
        if cx.interaction_id().as_str() == "int-1" {
            let number: u32 = "x".parse()?;
            return Ok(number.to_string());
        }
        Err(ToolError::with_code("not_found", "There is no issue 9."))
    });
    let (fake, _thread) = attached(tools).await;
    let answer = fake.ask("tool/call", call("int-1", "work", json!({}))).await.unwrap();
    let expected = json!({
        "success": false, "errorCode": "AdapterToolCallFailed", "errorMessage": "invalid digit found in string",
    });
    assert_eq!(answer, expected);
    let answer = fake.ask("tool/call", call("int-2", "work", json!({}))).await.unwrap();
    assert_eq!(answer["errorCode"], "not_found");
}

#[tokio::test]
async fn dyn_16_a_handler_knows_its_call() {
    let seen = |cx: ToolContext| async move {
        Json(json!([cx.thread_id(), cx.run_id(), cx.call_id(), cx.interaction_id(), cx.tool(), cx.namespace()]))
    };
    let tool = Tool::new("work").namespace("my").description("Work.").handler(move |_, cx| seen(cx));
    let (fake, _thread) = attached(tool.into()).await;
    let mut params = call("int-1", "work", json!({}));
    params["namespace"] = json!("my");
    let answer = fake.ask("tool/call", params).await.unwrap();
    assert_eq!(answer["structuredContent"], json!(["th-1", "run-1", "call-1", "int-1", "work", "my"]));
}

#[tokio::test]
async fn x09_every_result_of_a_handler_is_a_documented_one() {
    let tools: Tools = [
        Tool::new("unit").description("d").handler(|_, _| async {}),
        Tool::new("empty").description("d").handler(|_, _| async { "" }),
        Tool::new("json").description("d").handler(|_, _| async { Json(f64::NAN) }),
        Tool::new("bad")
            .description("d")
            .handler(|_, _| async { Json(std::collections::HashMap::from([((1, 2), 3)])) }),
        Tool::new("parts").description("d").handler(|_, _| async { ToolOutput::text("t").with_structured(json!(1)) }),
    ]
    .into_iter()
    .collect();
    let (fake, _thread) = attached(tools).await;
    let ask = async |tool: &str| fake.ask("tool/call", call(tool, tool, json!({}))).await.unwrap();
    assert_eq!(text(&ask("unit").await), "Done.");
    assert_eq!(text(&ask("empty").await), "");
    let answer = ask("json").await;
    assert_eq!(text(&answer), "null");
    let answer = ask("bad").await;
    assert!(answer["errorMessage"].as_str().unwrap().contains("HashMap"), "{answer}");
    assert_eq!(ask("parts").await["structuredContent"], 1);
}

#[tokio::test]
async fn a_result_no_message_can_carry_is_refused_here_with_its_size() {
    let (fake, _thread) = attached(tool(|_| async { "x".repeat(17_000_000) })).await;
    let answer = fake.ask("tool/call", call("int-1", "work", json!({}))).await.unwrap();
    assert_eq!(answer["errorCode"], "result_too_large");
    assert!(answer["errorMessage"].as_str().unwrap().contains("17000"), "{answer}");
}

#[tokio::test]
async fn k17_a_second_offer_joins_the_work_and_a_third_repeats_its_result() {
    let (runs, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (counted, gate) = (Arc::clone(&runs), Arc::clone(&go));
    let (fake, _thread) = attached(tool(move |_| {
        let (count, gate) = (counted.fetch_add(1, Ordering::SeqCst) + 1, Arc::clone(&gate));
        async move {
            gate.notified().await;
            format!("run {count}")
        }
    }))
    .await;
    let first = fake.begin("tool/call", call("int-1", "work", json!({})));
    let mut again = call("int-1", "work", json!({}));
    again["attempt"] = json!(2);
    let second = fake.begin("tool/call", again.clone());
    fake.fence().await;
    go.notify_one();
    assert_eq!(text(&in_time(first).await.unwrap().unwrap()), "run 1");
    assert_eq!(text(&in_time(second).await.unwrap().unwrap()), "run 1");
    assert_eq!(text(&fake.ask("tool/call", again).await.unwrap()), "run 1");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_result_is_kept_until_the_daemon_acknowledges_it() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let (fake, _thread) = attached(tool(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { "done" }
    }))
    .await;
    for _ in 0..2 {
        fake.ask("tool/call", call("int-1", "work", json!({}))).await.unwrap();
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    fake.settle("int-1", "answered");
    // Only a daemon that has forgotten its own acknowledgement would do this; it shows that the result is gone.
    fake.ask("tool/call", call("int-1", "work", json!({}))).await.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn dyn_33_a_settled_call_reaches_its_handler_as_a_cancellation() {
    let (told, mut hear) = mpsc::unbounded_channel();
    let (fake, _thread) = attached(tool(move |cx| {
        let told = told.clone();
        async move {
            told.send(cx.is_cancelled()).unwrap();
            cx.cancelled().await;
            told.send(cx.is_cancelled()).unwrap();
        }
    }))
    .await;
    let pending = fake.begin("tool/call", call("int-1", "work", json!({})));
    assert_eq!(in_time(hear.recv()).await, Some(false));
    fake.settle("int-1", "cancelled");
    assert_eq!(in_time(hear.recv()).await, Some(true));
    assert!(in_time(pending).await.unwrap().is_err());
}

#[tokio::test]
async fn dyn_33_a_settlement_in_words_of_a_newer_daemon_is_heard_all_the_same() {
    let (told, mut hear) = mpsc::unbounded_channel();
    let (fake, _thread) = attached(tool(move |cx| {
        let told = told.clone();
        async move {
            cx.cancelled().await;
            told.send(()).unwrap();
        }
    }))
    .await;
    let _pending = fake.begin("tool/call", call("int-1", "work", json!({})));
    fake.fence().await;
    fake.tell(
        "interaction/settled",
        json!({"interactionId": "int-1", "outcome": "evaporated", "by": {"kind": "moon"}}),
    );
    assert_eq!(in_time(hear.recv()).await, Some(()));
}

#[tokio::test]
async fn k45_closing_the_client_cancels_what_its_handlers_do() {
    let (told, mut hear) = mpsc::unbounded_channel();
    let (fake, thread) = attached(tool(move |cx| {
        let told = told.clone();
        async move {
            told.send(()).unwrap();
            cx.cancelled().await;
            told.send(()).unwrap();
        }
    }))
    .await;
    let pending = fake.begin("tool/call", call("int-1", "work", json!({})));
    in_time(hear.recv()).await;
    in_time(thread.client().close()).await;
    assert_eq!(in_time(hear.recv()).await, Some(()));
    let unanswered = in_time(pending).await.unwrap().unwrap_err();
    assert!(matches!(unanswered, ropewalk_peer::CallError::Closed), "{unanswered}");
}

#[tokio::test]
async fn dyn_34_a_handler_shows_life() {
    let (mut fake, _thread) = attached(tool(|cx| async move {
        cx.progress(&"é".repeat(600), 1.5);
        cx.progress("dropped, as it comes too soon", None);
    }))
    .await;
    fake.ask("tool/call", call("int-1", "work", json!({}))).await.unwrap();
    let (method, params) = fake.notice().await;
    assert_eq!(method, "tool/progress");
    assert_eq!(params["interactionId"], "int-1");
    assert_eq!(params["message"].as_str().unwrap().chars().count(), 500);
    assert_eq!(params["fraction"], 1.0);
}
