//! What a new connection takes up: threads, their tools and their events, and what the client was asked for.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use ropewalk::{
    Approval, Connection, Decision, Error, EventStream, Thread, Tool, ToolContext, Tools,
    protocol::{ErrorDetail, Event, RpcError},
};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use crate::support::{AT, Daemons, Fake, assistant, attach, call, header, in_time, started};

fn resumed(thread: &str, seq: u64, tools: Value) -> Value {
    json!({"thread": header(thread, seq), "seq": seq, "tools": tools, "replayed": false})
}

/// A tool of a thread as the daemon shows it.
fn effective(name: &str, instance: &str) -> Value {
    json!({
        "flatName": name, "name": name, "description": "Work.", "annotations": {}, "source": "client:bot",
        "sourceKind": "client", "sourceName": "bot", "owner": {"clientName": "bot", "instanceId": instance},
        "state": "ready", "digest": "d", "policy": {"decision": "allow", "level": "default", "timeoutMs": 1_000, "maxCallsPerRun": 10}, "why": "no rule",
    })
}

fn tool(name: &str) -> Tool {
    Tool::new(name).description("Work.").handler(|_, _| async { "done" })
}

/// A client attached to `th-1`, the daemon it is connected to, and those to come.
async fn attached(tools: Tools) -> (Fake, Daemons, Thread) {
    let daemons = Daemons::default();
    let fake = daemons.next();
    let (fake, thread) = attach(fake, daemons.connect().instance_id("in-A"), tools).await;
    (fake, daemons, thread)
}

/// A daemon to come, where `th-1` has come to event `seq`.
fn next(daemons: &Daemons, seq: u64) -> Fake {
    let fake = daemons.next();
    fake.reply("thread/resume", move |params| Ok(resumed(params["threadId"].as_str().unwrap(), seq, json!([]))));
    fake.reply("interaction/list", |_| Ok(json!({"items": []})));
    fake
}

/// Cuts the connection and waits until the client has taken everything up at the next daemon.
async fn cut(fake: &Fake, thread: &Thread) {
    let mut connection = thread.client().connection();
    let Connection::Connected { reconnects: before, .. } = *connection.borrow_and_update() else { unreachable!() };
    fake.peer.close();
    let is_back = |it: &Connection| matches!(it, Connection::Connected { reconnects, .. } if *reconnects > before);
    in_time(connection.wait_for(is_back)).await.unwrap();
}

fn deleted(branch: u64) -> Value {
    json!({"type": "branchDeleted", "branchId": format!("b-{branch}")})
}

async fn seqs(events: &mut EventStream, count: usize) -> Vec<u64> {
    let mut seqs = Vec::new();
    while seqs.len() < count {
        seqs.push(in_time(events.next()).await.unwrap().unwrap().seq.unwrap());
    }
    seqs
}

#[tokio::test]
async fn dyn_20_threads_are_resumed_behind_the_last_seen_event_and_streams_go_on_without_gap_or_repeat() {
    let (fake, daemons, thread) = attached(Tools::new()).await;
    let mut events = thread.events();
    for seq in 4..=6 {
        fake.event("th-1", seq, deleted(seq));
    }
    fake.fence().await;
    let second = next(&daemons, 8);
    cut(&fake, &thread).await;
    assert_eq!(second.asked("thread/resume"), [json!({"threadId": "th-1", "after": 6})]);
    for seq in 6..=8 {
        second.event("th-1", seq, deleted(seq));
    }
    assert_eq!(seqs(&mut events, 5).await, [4, 5, 6, 7, 8]);
    let third = next(&daemons, 9);
    cut(&second, &thread).await;
    assert_eq!(third.asked("thread/resume")[0]["after"], 8, "twice in a row");
    third.event("th-1", 9, deleted(9));
    assert_eq!(seqs(&mut events, 1).await, [9]);
}

#[tokio::test]
async fn ruling_10_the_text_of_an_open_item_has_no_hole_and_no_repeat_across_a_cut() {
    let (fake, daemons, thread) = attached(Tools::new()).await;
    let mut events = thread.events();
    let delta =
        |offset: u64, text: &str| json!({"type": "itemDelta", "itemId": "it-1", "offset": offset, "text": text});
    fake.event("th-1", 4, json!({"type": "itemStarted", "item": assistant("run-1", "it-1", "open", "")}));
    fake.ephemeral("th-1", 4, delta(0, "One "));
    fake.fence().await;
    let second = next(&daemons, 4);
    cut(&fake, &thread).await;
    second.ephemeral("th-1", 4, delta(0, "One two "));
    second.ephemeral("th-1", 4, delta(8, "three"));
    assert_eq!(seqs(&mut events, 1).await, [4]);
    let mut text = String::new();
    while text.len() < 13 {
        let event = in_time(events.next()).await.unwrap().unwrap();
        let Event::ItemDelta { offset, text: more, .. } = &event.event else { panic!("{event:?}") };
        assert_eq!(*offset as usize, text.len());
        text.push_str(more);
    }
    assert_eq!(text, "One two three");
}

#[tokio::test]
async fn dyn_18_tools_are_bound_again_and_nothing_is_declared_anew() {
    let (fake, daemons, thread) = attached(tool("a").into()).await;
    let second = next(&daemons, 3);
    second.reply("thread/resume", |_| Ok(resumed("th-1", 3, json!([effective("a", "in-A")]))));
    cut(&fake, &thread).await;
    assert_eq!(second.asked("thread/resume"), [json!({"threadId": "th-1", "after": 3})]);
    let answer = second.ask("tool/call", call("int-1", "a", json!({}))).await.unwrap();
    assert_eq!(answer["contentItems"][0]["text"], "done");
    assert!(thread.taken_tools().is_empty());
}

#[tokio::test]
async fn tools_that_were_taken_over_meanwhile_stay_with_whoever_took_them() {
    let (fake, daemons, thread) = attached([tool("a"), tool("b")].into_iter().collect()).await;
    let second = next(&daemons, 5);
    let tools = json!([effective("a", "in-B"), effective("b", "in-A")]);
    second.reply("thread/resume", move |_| Ok(resumed("th-1", 5, tools.clone())));
    cut(&fake, &thread).await;
    assert_eq!(thread.taken_tools(), ["a"]);
    assert_eq!(second.asked("thread/resume"), [json!({"threadId": "th-1", "after": 3})]);
}

#[tokio::test]
async fn tools_a_restored_daemon_knows_nothing_of_are_declared_again_without_a_takeover() {
    let (fake, daemons, thread) = attached([tool("a"), tool("b")].into_iter().collect()).await;
    let second = next(&daemons, 5);
    let tools = json!([effective("a", "in-B")]);
    second.reply("thread/resume", move |_| Ok(resumed("th-1", 5, tools.clone())));
    cut(&fake, &thread).await;
    let sent = second.asked("thread/resume");
    assert_eq!(sent.len(), 2);
    assert_eq!((sent[1]["tools"][0]["name"].as_str(), sent[1]["tools"].as_array().unwrap().len()), (Some("b"), 1));
    assert_eq!((sent[1].get("takeover"), thread.taken_tools()), (None, vec!["a".to_owned()]));
}

#[tokio::test]
async fn a_thread_that_is_gone_or_shortened_ends_alone() {
    let (fake, daemons, kept) = attached(Tools::new()).await;
    let client = kept.client().clone();
    let mut others = Vec::new();
    for id in ["th-gone", "th-short"] {
        fake.reply("thread/start", move |_| Ok(started(id, 9)));
        others.push(in_time(client.threads().start().into_future()).await.unwrap());
    }
    let mut streams: Vec<EventStream> = others.iter().map(Thread::events).collect();
    let mut goes_on = kept.events();
    let second = next(&daemons, 3);
    second.reply("thread/resume", |params| match params["threadId"].as_str().unwrap() {
        "th-gone" => Err(RpcError::not_found("thread", "th-gone")),
        "th-short" => Err(RpcError::invalid_params("/after", "after_the_end", "after is 9, but the last event is 4.")),
        id => Ok(resumed(id, 3, json!([]))),
    });
    cut(&fake, &kept).await;
    let gone = in_time(streams[0].next()).await.unwrap().unwrap_err();
    assert!(matches!(gone.kind(), Some(ErrorDetail::NotFound { .. })), "{gone}");
    let short = in_time(streams[1].next()).await.unwrap().unwrap_err();
    assert!(
        matches!(&short, Error::LogShortened { thread_id, seen: 9 } if thread_id.as_str() == "th-short"),
        "{short}"
    );
    assert!(in_time(others[1].events().next()).await.unwrap().is_err(), "whoever comes later is told too");
    second.event("th-1", 4, deleted(4));
    assert_eq!(seqs(&mut goes_on, 1).await, [4]);
    // Taken up from its snapshot, it goes on.
    second.reply("thread/resume", |_| Ok(resumed("th-short", 4, json!([]))));
    let mut again = in_time(client.threads().resume("th-short").watch()).await.unwrap();
    second.event("th-short", 5, deleted(5));
    assert_eq!(seqs(&mut again.events, 1).await, [5]);
}

#[tokio::test]
async fn a_start_that_is_answered_from_the_journal_is_attached_to_by_a_resume() {
    let daemons = Daemons::default();
    let mut fake = daemons.next();
    let client = in_time(daemons.connect().into_future()).await.unwrap();
    let starting = tokio::spawn(client.threads().start().tool(tool("a")).into_future());
    let (_, first, _held) = fake.next().await;
    let second = next(&daemons, 3);
    second.reply("thread/start", move |params| {
        assert_eq!(params, first);
        let mut answer = started("th-1", 3);
        answer["replayed"] = json!(true);
        Ok(answer)
    });
    second.reply("thread/resume", |_| Ok(resumed("th-1", 3, json!([effective("a", "in-A")]))));
    fake.peer.close();
    let thread = in_time(starting).await.unwrap().unwrap();
    assert_eq!(second.asked("thread/resume"), [json!({"threadId": "th-1", "after": 3})]);
    assert_eq!(thread.id().as_str(), "th-1");
}

/// A tool whose handler counts its calls, tells that it has begun and waits until it may go on or is cancelled.
struct Work {
    calls: Arc<AtomicUsize>,
    go: Arc<Notify>,
    told: mpsc::UnboundedReceiver<&'static str>,
}

fn work() -> (Tool, Work) {
    let (calls, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (tell, told) = mpsc::unbounded_channel();
    let (counted, gate) = (Arc::clone(&calls), Arc::clone(&go));
    let tool = Tool::new("work").description("Work.").handler(move |_, cx: ToolContext| {
        let (tell, gate) = (tell.clone(), Arc::clone(&gate));
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            tell.send("begun").unwrap();
            tokio::select! {
                () = gate.notified() => cx.progress("nearly there", 0.9),
                () = cx.cancelled() => tell.send("cancelled").unwrap(),
            }
            "done"
        }
    });
    (tool, Work { calls, go, told })
}

fn again(mut call: Value, attempt: u64) -> Value {
    call["attempt"] = json!(attempt);
    call
}

fn open(interaction: &str) -> Value {
    let request = call(interaction, "work", json!({}));
    json!({"items": [{
        "interactionId": interaction, "threadId": "th-1", "runId": "run-1", "callId": "call-1", "kind": "toolCall", "request": request,
        "offeredTo": [{"clientName": "bot", "instanceId": "in-A"}], "attempt": 1, "state": "open", "openedAt": AT,
    }]})
}

#[tokio::test]
async fn k17_a_handler_that_is_at_it_goes_on_and_its_answer_goes_through_the_new_connection() {
    let (tool, mut work) = work();
    let (fake, daemons, thread) = attached(tool.into()).await;
    let _first = fake.begin("tool/call", call("int-1", "work", json!({})));
    assert_eq!(in_time(work.told.recv()).await, Some("begun"));
    let second = next(&daemons, 3);
    second.reply("interaction/list", |_| Ok(open("int-1")));
    cut(&fake, &thread).await;
    let offered = second.begin("tool/call", again(call("int-1", "work", json!({})), 2));
    second.fence().await;
    work.go.notify_one();
    let answer = in_time(offered).await.unwrap().unwrap();
    assert_eq!(answer["contentItems"][0]["text"], "done");
    assert_eq!(work.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn k17_an_answer_is_kept_over_a_cut_and_given_again_until_the_daemon_lists_it_no_more() {
    let (tool, work) = work();
    let (fake, daemons, thread) = attached(tool.into()).await;
    work.go.notify_one();
    fake.ask("tool/call", call("int-1", "work", json!({}))).await.unwrap();
    let second = next(&daemons, 3);
    second.reply("interaction/list", |_| Ok(open("int-1")));
    cut(&fake, &thread).await;
    let answer = second.ask("tool/call", again(call("int-1", "work", json!({})), 2)).await.unwrap();
    assert_eq!(answer["contentItems"][0]["text"], "done");
    assert_eq!(work.calls.load(Ordering::SeqCst), 1);
    let third = next(&daemons, 4);
    cut(&second, &thread).await;
    assert_eq!(third.asked("interaction/list")[0]["threadId"], "th-1");
    // Only a daemon that has forgotten what it settled would do this; it shows that the answer is gone.
    work.go.notify_one();
    third.ask("tool/call", again(call("int-1", "work", json!({})), 3)).await.unwrap();
    assert_eq!(work.calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn dyn_33_a_handler_whose_call_was_settled_meanwhile_is_cancelled() {
    let (tool, mut work) = work();
    let (fake, daemons, thread) = attached(tool.into()).await;
    let _first = fake.begin("tool/call", call("int-1", "work", json!({})));
    assert_eq!(in_time(work.told.recv()).await, Some("begun"));
    let _second = next(&daemons, 3);
    cut(&fake, &thread).await;
    assert_eq!(in_time(work.told.recv()).await, Some("cancelled"));
}

#[tokio::test]
async fn dyn_19_approvals_stay_with_their_handler_which_is_asked_once() {
    let (asked, mut hear) = mpsc::unbounded_channel();
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let daemons = Daemons::default();
    let connect = daemons.connect().on_approval(move |_: Approval| {
        let (asked, gate) = (asked.clone(), Arc::clone(&gate));
        async move {
            asked.send(()).unwrap();
            gate.notified().await;
            Decision::Accept
        }
    });
    let (fake, thread) = attach(daemons.next(), connect, Tools::new()).await;
    let approval = json!({
        "interactionId": "int-1", "threadId": "th-1", "runId": "run-1", "callId": "call-1", "attempt": 1,
        "tool": {"name": "work", "source": "client:bot", "annotations": {}}, "arguments": {},
        "index": 1, "total": 1, "summary": "work", "choices": ["accept", "decline"], "expiresAt": AT,
    });
    let _first = fake.begin("approval/request", approval.clone());
    assert_eq!(in_time(hear.recv()).await, Some(()));
    let second = next(&daemons, 3);
    second.reply("interaction/list", |_| Ok(open("int-1")));
    cut(&fake, &thread).await;
    assert_eq!(second.asked("initialize")[0]["capabilities"]["approvals"], true);
    let offered = second.begin("approval/request", again(approval, 2));
    second.fence().await;
    go.notify_one();
    assert_eq!(in_time(offered).await.unwrap().unwrap(), json!({"decision": "accept"}));
    assert!(hear.try_recv().is_err(), "it was asked once");
}
