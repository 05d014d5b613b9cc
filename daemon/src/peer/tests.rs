//! Tests of the events an attached client is sent.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use ropewalk_peer::{Feed as _, NoFeed, Options, Peer, Request, Service, serve_with};
use ropewalk_protocol::{Capabilities, ClientRef, DataKind, InputAsk, InteractionId, Method, NavigateParams};
use serde_json::{Value, json, value::RawValue};
use tokio::io::{AsyncBufReadExt, BufReader, DuplexStream};

use super::{Client, Clients, EventFeed, Session};
use crate::engine::{
    Offer, ThreadHandle, Wants,
    tests::{
        client::Person,
        life::{Life, asking, begin, idle, soon, submit},
    },
};

const SECOND: Duration = Duration::from_secs(1);

/// What a connection is sent next, if anything is there to be sent.
async fn sent(feed: &EventFeed) -> Vec<Value> {
    let mut lines = Vec::new();
    loop {
        let chunk = tokio::select! {
            biased;
            chunk = feed.next() => chunk,
            () = idle() => return lines,
        };
        let text = std::str::from_utf8(&chunk).unwrap();
        assert!(text.ends_with('\n'), "a chunk is whole lines");
        lines.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["params"].clone()));
    }
}

/// Types of events, each with its place: `seq`, or `after` for what is not stored. A thread that is followed no more is
/// `lost`.
fn brief(lines: &[Value]) -> Vec<String> {
    let name = |line: &Value| {
        let place = line.get("seq").unwrap_or(&line["after"]);
        let lost = || format!("lost: {}", line["error"]["data"]["kind"].as_str().unwrap());
        format!("{} {place}", line["event"]["type"].as_str().map_or_else(lost, ToOwned::to_owned))
    };
    lines.iter().map(name).collect()
}

fn texts(lines: &[Value]) -> Vec<(u64, &str)> {
    let deltas = lines.iter().map(|line| &line["event"]).filter(|event| event["type"] == "itemDelta");
    deltas.map(|event| (event["offset"].as_u64().unwrap(), event["text"].as_str().unwrap())).collect()
}

fn feed(life: &Life) -> Arc<EventFeed> {
    Arc::new(EventFeed::new(Arc::new(life.clock.clone())))
}

async fn started(life: &Life) -> ThreadHandle {
    life.start(&Person::new("in-A"), Vec::new()).await
}

#[tokio::test]
async fn every_event_after_a_place_comes_once_and_in_order_then_live_ones() {
    let mut life = Life::first().await;
    let thread = started(&life).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    let feed = feed(&life);
    assert!(feed.follow(&thread, 1));
    assert_eq!(brief(&sent(&feed).await), ["branchUpdated 2", "runStarted 3", "itemCompleted 4"]);
    asked.says("Well");
    idle().await;
    assert_eq!(brief(&sent(&feed).await), ["itemStarted 5", "itemDelta 5"]);
    asked.ends("Well");
    life.ended(&thread, &run).await;
    assert_eq!(brief(&sent(&feed).await), ["itemCompleted 6", "runCompleted 7"]);
    assert!(sent(&feed).await.is_empty());
}

#[tokio::test]
async fn ruling_10_who_joins_late_gets_the_text_so_far_and_no_text_of_what_is_complete() {
    let mut life = Life::first().await;
    let thread = started(&life).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    for word in ["One ", "two "] {
        asked.says(word);
        idle().await;
    }
    let late = feed(&life);
    late.follow(&thread, 5);
    assert_eq!(texts(&sent(&late).await).iter().map(|(_, text)| *text).collect::<String>(), "One two ");
    asked.says("three");
    idle().await;
    assert_eq!(texts(&sent(&late).await), [(8, "three")]);
    asked.ends("One two three");
    life.ended(&thread, &run).await;
    let later = feed(&life);
    later.follow(&thread, 7);
    assert_eq!(brief(&sent(&later).await), Vec::<String>::new());
}

#[tokio::test]
async fn a_slow_reader_is_served_from_the_log_and_gets_fewer_and_longer_deltas() {
    let mut life = Life::first().await;
    let thread = started(&life).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    let (feed, line) = (feed(&life), "x".repeat(1_000));
    feed.follow(&thread, 0);
    for _ in 0..300 {
        asked.says(&line);
        idle().await;
    }
    let lines = sent(&feed).await;
    assert_eq!(
        brief(&lines)[..5],
        ["threadUpdated 1", "branchUpdated 2", "runStarted 3", "itemCompleted 4", "itemStarted 5"]
    );
    let deltas = texts(&lines);
    assert!(deltas.len() < 150, "{} deltas", deltas.len());
    let mut end = 0;
    for (offset, text) in deltas {
        assert_eq!(offset, end, "text has no gap and no repeat");
        end += text.len() as u64;
    }
    assert_eq!(end, 300_000);
    asked.ends(&line.repeat(300));
    life.ended(&thread, &run).await;
    assert_eq!(brief(&sent(&feed).await).last().unwrap(), "runCompleted 7");
}

#[tokio::test]
async fn rule_2_nothing_is_given_out_while_an_answer_is_on_its_way() {
    let life = Life::first().await;
    let thread = started(&life).await;
    let feed = feed(&life);
    feed.follow(&thread, 2);
    let hold = feed.hold();
    submit(&thread, "go").await;
    assert!(sent(&feed).await.is_empty());
    drop(hold);
    assert_eq!(brief(&sent(&feed).await), ["runStarted 3", "itemCompleted 4"]);
}

/// The end of a connection that is asked, and asks nothing itself.
struct Silent;

impl Service for Silent {
    fn request(&self, _: &Peer, _: Request) {}

    fn notification(&self, _: &Peer, _: String, _: Option<Box<RawValue>>) {}
}

/// A client that can decide approvals, and what it is sent.
fn connected(life: &Life) -> (Arc<Client>, BufReader<DuplexStream>) {
    let (ours, theirs) = tokio::io::duplex(65_536);
    let clients = Clients::new(Arc::new(life.clock.clone()));
    let mut client = None;
    serve_with(ours, Options::default(), |peer| {
        client = Some(clients.open(peer));
        (Arc::new(Silent), Arc::new(NoFeed))
    });
    let client = client.unwrap();
    client.greet(Session {
        client: ClientRef { client_name: "bot".into(), instance_id: "in-B".into() },
        is_lasting: true,
        capabilities: Capabilities { approvals: true, input: true, navigation: false },
    });
    (client, BufReader::new(theirs))
}

#[tokio::test]
async fn rule_2_a_question_waits_for_the_answer_that_is_on_its_way() {
    let mut life = Life::first().await;
    let thread = life.start(&Person::new("in-A"), asking("write")).await;
    let ((client, mut wire), mut line) = (connected(&life), String::new());
    thread.follow(client.attached(), None).await.unwrap();
    let hold = client.feed().hold();
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    life.waiting(&thread, &run).await;
    tokio::select! {
        biased;
        read = wire.read_line(&mut line) => panic!("{read:?}: {line}"),
        () = idle() => {}
    }
    drop(hold);
    soon(wire.read_line(&mut line)).await.unwrap();
    let asked: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&asked["method"], &asked["params"]["runId"]), (&json!("approval/request"), &json!(run)));
}

#[tokio::test]
async fn of_two_requests_of_one_interaction_the_older_is_never_asked_last() {
    let life = Life::first().await;
    let thread = life.start(&Person::new("in-A"), Vec::new()).await;
    let ((client, wire), interaction) = (connected(&life), InteractionId::from(String::from("int-1")));
    let mut lines = wire.lines();
    let offered = |attempt: u64| Offer {
        interaction_id: interaction.clone(),
        method: InputAsk::NAME,
        params: RawValue::from_string(json!({ "attempt": attempt }).to_string()).unwrap().into(),
        attempt,
    };
    let attached = client.attached();
    let hold = client.feed().hold();
    attached.offer(offered(1), thread.clone());
    drop(hold);
    // The answer is on its way, and the one who asks what was held back has not been scheduled yet.
    attached.offer(offered(2), thread.clone());
    let asked: Value = serde_json::from_str(&soon(lines.next_line()).await.unwrap().unwrap()).unwrap();
    assert_eq!(asked["params"]["attempt"], 2, "the newer takes the place of the older");
    tokio::select! {
        biased;
        line = lines.next_line() => panic!("{line:?}"),
        () = idle() => {}
    }
}

#[tokio::test]
async fn who_does_not_want_deltas_gets_none_and_who_unfollows_gets_nothing() {
    let mut life = Life::first().await;
    let thread = started(&life).await;
    begin(&thread, "go").await;
    let asked = life.asked().await;
    let feed = feed(&life);
    feed.want(Wants { deltas: false, progress: false }, false);
    feed.follow(&thread, 4);
    asked.says("Well");
    idle().await;
    assert_eq!(brief(&sent(&feed).await), ["itemStarted 5"]);
    feed.unfollow(thread.id());
    asked.ends("Well");
    assert!(sent(&feed).await.is_empty());
    assert!(!thread.bus().has_subscribers());
}

#[tokio::test]
async fn changes_of_lists_are_told_at_most_four_times_a_second_and_merged() {
    let life = Life::first().await;
    let feed = feed(&life);
    feed.want(Wants { deltas: true, progress: true }, true);
    feed.changed(1, &[DataKind::Run], &["run-1".to_owned()], None);
    assert_eq!(sent(&feed).await, [json!({"seq": 1, "kinds": ["run"], "ids": ["run-1"]})]);
    feed.changed(2, &[DataKind::Run], &["run-2".to_owned()], None);
    feed.changed(3, &[DataKind::Thread, DataKind::Run], &["run-2".to_owned(), "th-1".to_owned()], None);
    assert!(sent(&feed).await.is_empty(), "a quarter of a second has not passed");
    life.clock.advance(SECOND / 4);
    let merged = soon(feed.next()).await;
    let merged: Value = serde_json::from_slice(&merged).unwrap();
    assert_eq!(merged["params"], json!({"seq": 3, "kinds": ["thread", "run"], "ids": ["run-2", "th-1"]}));
    feed.changed(4, &[DataKind::Run], &(0..101).map(|id| format!("run-{id}")).collect::<Vec<_>>(), None);
    life.clock.advance(SECOND);
    assert_eq!(sent(&feed).await, [json!({"seq": 4, "kinds": ["run"]})]);
}

async fn delete(life: &Life, thread: &ThreadHandle) {
    let by = Person::new("in-A").end.client_ref().clone();
    let deletion = crate::engine::Deletion { dry_run: false, expected_revision: None, by, operation: None };
    soon(life.engine().delete_thread(thread.id(), deletion)).await.unwrap();
}

#[tokio::test]
async fn k36_who_follows_a_thread_that_is_deleted_is_sent_its_end_and_told_that_it_is_gone() {
    let mut life = Life::first().await;
    let thread = started(&life).await;
    begin(&thread, "go").await;
    let _asked = life.asked().await;
    let (prompt, slow) = (feed(&life), feed(&life));
    prompt.follow(&thread, 4);
    delete(&life, &thread).await;
    assert_eq!(brief(&sent(&prompt).await), ["runCompleted 5", "lost: notFound 5"]);
    assert!(sent(&prompt).await.is_empty());
    // Whoever asks for what only the log had is not kept busy with a log that is gone.
    slow.follow(&thread, 0);
    assert!(brief(&sent(&slow).await).last().unwrap().starts_with("lost: notFound "));
    assert!(sent(&slow).await.is_empty());
}

#[tokio::test]
async fn k36_who_follows_a_log_that_cannot_be_read_is_told_where_it_ended_and_may_follow_again() {
    let mut life = Life::first().await;
    let thread = started(&life).await;
    let run = begin(&thread, "go").await;
    let line = "x".repeat(200_000);
    life.asked().await.ends(&line);
    life.ended(&thread, &run).await;
    let feed = feed(&life);
    life.store.is_unreadable.store(true, Ordering::SeqCst);
    let hold = feed.hold();
    feed.follow(&thread, 1);
    assert!(sent(&feed).await.is_empty(), "it is said behind the answer, as events are");
    drop(hold);
    let lines = sent(&feed).await;
    assert_eq!(brief(&lines), ["lost: unavailable 1"], "nothing comes in silence");
    assert_eq!(lines[0]["threadId"], thread.id().as_str());
    assert!(lines[0]["error"]["message"].as_str().unwrap().contains("input/output error"), "{}", lines[0]);
    begin(&thread, "more").await;
    assert!(sent(&feed).await.is_empty(), "what is lost is lost as a whole");
    life.store.is_unreadable.store(false, Ordering::SeqCst);
    feed.follow(&thread, 1);
    let again = brief(&sent(&feed).await);
    assert_eq!((again[0].as_str(), again.iter().any(|line| line.starts_with("lost"))), ("branchUpdated 2", false));
}

#[tokio::test]
async fn deleted_threads_do_not_count_among_those_a_connection_follows() {
    let life = Life::first().await;
    let feed = feed(&life);
    for _ in 0..ropewalk_protocol::limits::SUBSCRIPTIONS + 3 {
        let thread = started(&life).await;
        assert!(feed.follow(&thread, 2));
        delete(&life, &thread).await;
        assert_eq!(brief(&sent(&feed).await), ["lost: notFound 2"]);
    }
}

#[tokio::test]
async fn app_198_of_several_things_to_show_only_the_newest_is_sent() {
    let life = Life::first().await;
    let feed = feed(&life);
    for thread in ["t1", "t2", "t3"] {
        feed.navigate(NavigateParams { project_id: "p".into(), thread_id: Some(thread.into()), branch_id: None });
    }
    assert_eq!(sent(&feed).await, [json!({"projectId": "p", "threadId": "t3"})]);
    assert!(sent(&feed).await.is_empty());
    feed.navigate(NavigateParams { project_id: "p".into(), thread_id: None, branch_id: None });
    assert_eq!(sent(&feed).await, [json!({"projectId": "p"})], "what was taken in does not hold up what comes later");
}

#[tokio::test]
async fn app_199_what_is_to_be_shown_comes_behind_the_word_of_what_has_changed() {
    let life = Life::first().await;
    let feed = feed(&life);
    feed.want(Wants { deltas: true, progress: true }, true);
    feed.navigate(NavigateParams { project_id: "p".into(), thread_id: None, branch_id: None });
    feed.changed(7, &[DataKind::Project], &["p".to_owned()], None);
    let lines = sent(&feed).await;
    assert_eq!((&lines[0]["seq"], &lines[1]), (&json!(7), &json!({"projectId": "p"})));
}
