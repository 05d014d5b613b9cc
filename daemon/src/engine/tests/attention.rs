//! What waits for the person: over all threads, over crashes, until it is over or was seen.

use std::time::Duration;

use ropewalk_protocol::{Attention, AttentionKind, RunErrorKind, Unattended};
use serde_json::json;

use super::{
    client::Person,
    life::{Life, asking, begin, request, soon},
};
use crate::engine::lookup;

fn waiting(life: &Life) -> Vec<Attention> {
    lookup::attention(life.engine().shared(), None, 100).unwrap()
}

fn kinds(life: &Life) -> Vec<AttentionKind> {
    waiting(life).iter().map(|waits| waits.kind).collect()
}

#[tokio::test]
async fn an_open_approval_waits_over_a_restart_until_it_is_settled() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = soon(thread.submit(request(&thread, "go", Unattended::Wait))).await.unwrap().run_id.unwrap();
    life.asked().await.calls(&[("write", "{\"path\": \"a.txt\"}")]);
    let offered = person.offered("approval/request").await;
    let [waits] = &waiting(&life)[..] else { panic!("one thing waits") };
    assert_eq!((waits.kind, waits.subject.as_str()), (AttentionKind::Interaction, offered.id().as_str()));
    assert_eq!((waits.summary.as_str(), &waits.thread_id), ("write a.txt", &Some(thread.id().clone())));
    let before = waits.clone();

    let mut life = life.crash(Duration::from_secs(1)).await;
    assert_eq!(waiting(&life), [before]);
    let thread = life.thread(thread.id());
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    let offered = person.offered("approval/request").await;
    person.answers(&offered, json!({"decision": "decline"})).await;
    life.asked().await.ends("Well.");
    life.ended(&thread, &run).await;
    assert_eq!(waiting(&life), [], "it is over, and somebody saw the end");
}

#[tokio::test]
async fn a_run_that_failed_waits_until_it_was_seen_and_the_next_one_waits_anew() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let run = begin(&thread, "go").await;
        life.asked().await.refuses(RunErrorKind::BadRequest, "No such thing.\nMore of it.");
        life.ended(&thread, &run).await;
        let [waits] = &waiting(&life)[..] else { panic!("one thing waits: {:?}", waiting(&life)) };
        assert_eq!((waits.kind, waits.subject.as_str()), (AttentionKind::Run, run.as_str()));
        assert!(waits.summary.contains("No such thing.") && !waits.summary.contains('\n'), "{}", waits.summary);
        let id = waits.attention_id.clone();
        soon(thread.attention_seen(id.clone(), None)).await.unwrap();
        soon(thread.attention_seen(id.clone(), None)).await.unwrap();
        assert_eq!(waiting(&life), [], "it was seen");
        ids.push(id);
    }
    assert_ne!(ids[0], ids[1]);
    assert!(soon(thread.attention_seen(ids[0].clone(), None)).await.is_err(), "it does not wait any more");
    let life = life.crash(Duration::from_secs(1)).await;
    assert_eq!(waiting(&life), [], "what was seen stays seen");
}

#[tokio::test]
async fn an_answer_that_nobody_saw_waits_until_it_is_read() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "Count the leaves").await;
    let asked = life.asked().await;
    person.breaks(&thread).await;
    asked.ends("Seven.");
    life.ended(&thread, &run).await;
    let [waits] = &waiting(&life)[..] else { panic!("one thing waits") };
    assert_eq!((waits.kind, waits.subject.as_str()), (AttentionKind::Unread, thread.id().as_str()));
    assert_eq!(waits.summary, "A run has ended: Count the leaves");
    let life = life.crash(Duration::from_secs(1)).await;
    let thread = life.thread(thread.id());
    assert_eq!(kinds(&life), [AttentionKind::Unread]);
    let seq = soon(thread.read()).await.unwrap().seq;
    soon(thread.mark_read(None, seq, None)).await.unwrap();
    assert_eq!(kinds(&life), []);
}

#[tokio::test]
async fn what_waits_is_listed_in_pages_without_what_was_seen_and_goes_with_its_thread() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    for _ in 0..5 {
        let thread = life.start(&person, asking("write")).await;
        let run = begin(&thread, "go").await;
        life.asked().await.refuses(RunErrorKind::BadRequest, "No.");
        life.ended(&thread, &run).await;
    }
    let all = waiting(&life);
    assert_eq!(all.len(), 5);
    let seen = life.thread(all[1].thread_id.as_ref().unwrap());
    soon(seen.attention_seen(all[1].attention_id.clone(), None)).await.unwrap();
    let shared = life.engine().shared();
    let first = lookup::attention(shared, None, 2).unwrap();
    assert_eq!(first, [all[0].clone(), all[2].clone()]);
    let rest = lookup::attention(shared, Some(first[1].attention_id.as_str()), 2).unwrap();
    assert_eq!(rest, [all[3].clone(), all[4].clone()]);
    assert_eq!(lookup::attention(shared, Some(all[4].attention_id.as_str()), 2).unwrap(), []);
    let deletion = crate::engine::Deletion {
        dry_run: false,
        expected_revision: None,
        by: person.end.client_ref().clone(),
        operation: None,
    };
    soon(life.engine().delete_thread(all[0].thread_id.as_ref().unwrap(), deletion)).await.unwrap();
    assert_eq!(waiting(&life), all[2..]);
}
