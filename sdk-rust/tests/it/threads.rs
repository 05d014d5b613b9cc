//! Threads: started and resumed with tools, which come and go.

use ropewalk::{Error, Tool, Tools};
use serde_json::{Value, json};

use crate::support::{attached, call, connected, header, in_time, started};

fn tool(name: &str, answer: &'static str) -> Tool {
    Tool::new(name).description("Work.").handler(move |_, _| async move { answer })
}

fn resumed(seq: u64) -> Value {
    json!({"thread": header("th-1", seq), "seq": seq, "tools": [], "replayed": false})
}

fn names(params: &Value) -> Vec<&str> {
    params["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn text(answer: &Value) -> &str {
    answer["contentItems"][0]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn dyn_5_one_value_declares_and_binds() {
    let (fake, _thread) = attached(tool("a", "from a").into()).await;
    let sent = &fake.asked("thread/start")[0];
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert_eq!(sent["tools"], json!([{"name": "a", "description": "Work.", "inputSchema": closed}]));
    assert_eq!(text(&fake.ask("tool/call", call("int-1", "a", json!({}))).await.unwrap()), "from a");
}

#[tokio::test]
async fn dyn_8_one_registry_serves_many_threads() {
    let (fake, client) = connected().await;
    let tools = Tools::new().add(tool("a", "from a")).add(tool("b", "from b"));
    assert_eq!(tools.declarations().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    for id in ["th-1", "th-2"] {
        fake.reply("thread/start", move |_| Ok(started(id, 3)));
        in_time(client.threads().start().tools(tools.iter().cloned()).into_future()).await.unwrap();
        let mut params = call(&format!("int-{id}"), "b", json!({}));
        params["threadId"] = json!(id);
        assert_eq!(text(&fake.ask("tool/call", params).await.unwrap()), "from b");
    }
}

#[tokio::test]
async fn dyn_9_an_attached_tool_is_declared_beside_the_others_and_detached_by_dropping_its_registration() {
    let (fake, thread) = attached(tool("a", "from a").into()).await;
    fake.reply("thread/resume", |_| Ok(resumed(4)));
    let registration = thread.attach(tool("b", "from b")).await.unwrap();
    let sent = &fake.asked("thread/resume")[0];
    assert_eq!(names(sent), ["a", "b"]);
    assert_eq!(sent["after"], 3);
    assert_eq!(text(&fake.ask("tool/call", call("int-1", "b", json!({}))).await.unwrap()), "from b");

    drop(registration);
    let answer = fake.ask("tool/call", call("int-2", "b", json!({}))).await.unwrap();
    assert_eq!(answer["errorCode"], "UnsupportedTool");
    assert_eq!(text(&fake.ask("tool/call", call("int-3", "a", json!({}))).await.unwrap()), "from a");

    thread.attach(tool("b", "again")).await.unwrap().keep();
    assert_eq!(text(&fake.ask("tool/call", call("int-4", "b", json!({}))).await.unwrap()), "again");
    assert_eq!(fake.asked("thread/resume").len(), 1, "its declaration has stayed");
}

#[tokio::test]
async fn an_old_registration_does_not_detach_the_tool_that_took_its_place() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.reply("thread/resume", |_| Ok(resumed(4)));
    let old = thread.attach(tool("a", "old")).await.unwrap();
    let _new = thread.attach(tool("a", "new")).await.unwrap();
    drop(old);
    assert_eq!(text(&fake.ask("tool/call", call("int-1", "a", json!({}))).await.unwrap()), "new");
}

#[tokio::test]
async fn a_declaration_the_daemon_refuses_changes_nothing() {
    let (fake, thread) = attached(tool("a", "old").into()).await;
    fake.reply("thread/resume", |_| {
        Err(ropewalk::RpcError::invalid_params("/tools/0", "name_taken", "The name is taken."))
    });
    let other = Tool::new("a").description("Other words.").handler(|_, _| async { "new" });
    let error = thread.attach(other).await.unwrap_err();
    assert_eq!(error.to_string(), "The name is taken.");
    assert_eq!(text(&fake.ask("tool/call", call("int-1", "a", json!({}))).await.unwrap()), "old");
}

#[tokio::test]
async fn an_invalid_tool_is_refused_before_anything_is_sent() {
    let (fake, client) = connected().await;
    let bad = Tool::new("get issue").description("Read.").handler(|_, _| async {});
    let error = in_time(client.threads().start().tool(bad).into_future()).await.unwrap_err();
    assert!(matches!(&error, Error::InvalidTool { path, .. } if path == "/name"), "{error}");
    assert!(fake.asked("thread/start").is_empty());
}

#[tokio::test]
async fn a_call_that_overtakes_the_answer_of_its_start_finds_the_handler() {
    let (mut fake, client) = connected().await;
    let starting = tokio::spawn(client.threads().start().tool(tool("a", "from a")).into_future());
    let (_, _, responder) = fake.next().await;
    let called = fake.begin("tool/call", call("int-1", "a", json!({})));
    fake.fence().await;
    responder.ok(&started("th-1", 3));
    let _thread = in_time(starting).await.unwrap().unwrap();
    assert_eq!(text(&in_time(called).await.unwrap().unwrap()), "from a");
}

#[tokio::test]
async fn dyn_18_resuming_declares_the_same_tools_and_reads_on_without_a_gap() {
    let (mut fake, client) = connected().await;
    let resuming = tokio::spawn(client.threads().resume("th-1").tool(tool("a", "from a")).after(7).watch());
    let (method, params, responder) = fake.next().await;
    assert_eq!((method.as_str(), names(&params), &params["after"]), ("thread/resume", vec!["a"], &json!(7)));
    // An open call is offered right behind the answer, and so are the events.
    responder.ok(&resumed(9));
    for seq in 8..=9 {
        fake.event("th-1", seq, json!({"type": "branchDeleted", "branchId": "b"}));
    }
    assert_eq!(text(&fake.ask("tool/call", call("int-1", "a", json!({}))).await.unwrap()), "from a");
    let mut taken = in_time(resuming).await.unwrap().unwrap();
    assert_eq!(taken.thread.attached_at(), 9);
    for seq in 8..=9 {
        assert_eq!(in_time(taken.events.next()).await.unwrap().unwrap().seq, Some(seq));
    }
}

#[tokio::test]
async fn resuming_without_tools_keeps_what_was_declared() {
    let (fake, client) = connected().await;
    fake.reply("thread/resume", |_| Ok(resumed(9)));
    in_time(client.threads().resume("th-1").takeover().into_future()).await.unwrap();
    let sent = &fake.asked("thread/resume")[0];
    assert_eq!(*sent, json!({"threadId": "th-1", "takeover": true}));
    in_time(client.threads().resume("th-1").tools([]).into_future()).await.unwrap();
    assert_eq!(fake.asked("thread/resume")[1]["tools"], json!([]));
}

#[tokio::test]
async fn k45_closing_a_thread_ends_its_streams_and_forgets_its_handlers() {
    let (fake, thread) = attached(tool("a", "from a").into()).await;
    fake.reply("thread/unsubscribe", |_| Ok(json!({})));
    let mut events = thread.events();
    in_time(thread.close()).await.unwrap();
    assert!(in_time(events.next()).await.is_none());
    assert_eq!(fake.asked("thread/unsubscribe"), [json!({"threadId": "th-1"})]);
    let answer = fake.ask("tool/call", call("int-1", "a", json!({}))).await.unwrap();
    assert_eq!(answer["errorCode"], "UnsupportedTool");
}

#[tokio::test]
async fn an_attachment_that_is_given_up_leaves_the_old_handler() {
    let (mut fake, thread) = attached(tool("a", "old").into()).await;
    let other = Tool::new("a").description("Other words.").handler(|_, _| async { "new" });
    let attaching = tokio::spawn({
        let thread = thread.clone();
        async move { thread.attach(other).await.map(ropewalk::Registration::keep) }
    });
    let _unanswered = fake.next().await;
    attaching.abort();
    assert!(in_time(attaching).await.unwrap_err().is_cancelled());
    assert_eq!(text(&fake.ask("tool/call", call("int-1", "a", json!({}))).await.unwrap()), "old");
}
