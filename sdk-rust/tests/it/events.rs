//! Events: every durable one once and in order, whatever the reader and the connection do.

use std::time::Duration;

use ropewalk::{
    Error, EventStream, Tools,
    protocol::{ErrorDetail, Event},
};
use serde_json::{Value, json};

use crate::support::{assistant, attached, in_time};

fn deleted(branch: u64) -> Value {
    json!({"type": "branchDeleted", "branchId": format!("b-{branch}")})
}

/// The positions of the next events.
async fn take(events: &mut EventStream, count: usize) -> Vec<u64> {
    let mut seqs = Vec::new();
    while seqs.len() < count {
        seqs.push(in_time(events.next()).await.unwrap().unwrap().seq.unwrap());
    }
    seqs
}

#[tokio::test]
async fn rule_1_events_come_once_and_in_order_to_every_reader() {
    let (fake, thread) = attached(Tools::new()).await;
    let (mut one, mut two) = (thread.events(), thread.events());
    for seq in [4, 5, 5, 4, 6] {
        fake.event("th-1", seq, deleted(seq));
    }
    assert_eq!(take(&mut one, 3).await, [4, 5, 6]);
    assert_eq!(take(&mut two, 3).await, [4, 5, 6]);
    assert_eq!(one.last_seq(), 6);
}

#[tokio::test]
async fn k36_a_thread_that_is_followed_no_more_ends_its_streams_with_why() {
    let (fake, thread) = attached(Tools::new()).await;
    let mut events = thread.events();
    fake.event("th-1", 4, deleted(4));
    let data = json!({"kind": "notFound", "noun": "thread", "id": "th-1", "retryable": false});
    let error = json!({"code": -32005, "message": "There is no thread th-1.", "data": data});
    fake.tell("thread/unsubscribed", json!({"threadId": "th-1", "after": 4, "error": error}));
    assert_eq!(take(&mut events, 1).await, [4], "what was sent before is handed out");
    let error = in_time(events.next()).await.unwrap().unwrap_err();
    assert!(matches!(error.kind(), Some(ErrorDetail::NotFound { noun, .. }) if noun == "thread"), "{error}");
    assert!(in_time(events.next()).await.is_none(), "it has ended");
    let mut later = thread.events();
    assert!(matches!(in_time(later.next()).await, Some(Err(Error::Rpc(_)))), "so does whoever comes to read");
}

#[tokio::test]
async fn a_gap_is_filled_from_the_log() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.keep_log("th-1", (1..=9).map(|seq| (seq, deleted(seq))).collect());
    let mut events = thread.events();
    fake.event("th-1", 4, deleted(4));
    fake.event("th-1", 9, deleted(9));
    assert_eq!(take(&mut events, 6).await, [4, 5, 6, 7, 8, 9]);
    assert_eq!(fake.asked("thread/events")[0]["after"], 4);
}

#[tokio::test]
async fn a_reader_may_begin_anywhere_in_the_past() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.keep_log("th-1", (1..=3).map(|seq| (seq, deleted(seq))).collect());
    let mut events = thread.events_after(0);
    assert_eq!(take(&mut events, 3).await, [1, 2, 3]);
    fake.event("th-1", 4, deleted(4));
    assert_eq!(take(&mut events, 1).await, [4]);
}

#[tokio::test]
async fn a_slow_reader_costs_bounded_memory_and_loses_nothing() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.keep_log("th-1", (1..=3_000).map(|seq| (seq, deleted(seq))).collect());
    let mut slow = thread.events();
    for seq in 4..=3_000 {
        fake.event("th-1", seq, deleted(seq));
    }
    fake.fence().await;
    assert_eq!(take(&mut slow, 2_997).await, (4..=3_000).collect::<Vec<_>>());
    assert!(!fake.asked("thread/events").is_empty(), "what did not fit comes from the log");
}

#[tokio::test]
async fn x23_giving_up_a_poll_loses_nothing() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.keep_log("th-1", (1..=2_000).map(|seq| (seq, deleted(seq))).collect());
    let mut events = thread.events();
    for seq in 4..=2_000 {
        fake.event("th-1", seq, deleted(seq));
    }
    let mut seqs = Vec::new();
    while seqs.len() < 1_997 {
        if let Ok(event) = tokio::time::timeout(Duration::from_micros(20), events.next()).await {
            seqs.push(event.unwrap().unwrap().seq.unwrap());
        }
    }
    assert_eq!(seqs, (4..=2_000).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_event_of_a_newer_type_is_passed_over() {
    let (fake, thread) = attached(Tools::new()).await;
    let mut events = thread.events();
    fake.event("th-1", 4, deleted(4));
    fake.event("th-1", 5, json!({"type": "somethingNew", "value": 1}));
    fake.event("th-1", 6, deleted(6));
    assert_eq!(take(&mut events, 2).await, [4, 6]);
    assert!(fake.asked("thread/events").is_empty(), "it is no gap");
}

#[tokio::test]
async fn deltas_of_a_slow_reader_are_merged_and_repeats_cut() {
    let (fake, thread) = attached(Tools::new()).await;
    let mut events = thread.events();
    fake.event("th-1", 4, json!({"type": "itemStarted", "item": assistant("run-1", "it-1", "open", "")}));
    for offset in 0..1_000_u64 {
        let delta = json!({"type": "itemDelta", "itemId": "it-1", "offset": offset, "text": "x"});
        fake.ephemeral("th-1", 4, delta);
    }
    fake.fence().await;
    assert_eq!(take(&mut events, 1).await, [4]);
    let event = in_time(events.next()).await.unwrap().unwrap();
    assert!(matches!(&event.event, Event::ItemDelta { offset: 0, text, .. } if text.len() == 1_000));
    // A connection that joins again is sent the text from the start.
    fake.ephemeral("th-1", 4, json!({"type": "itemDelta", "itemId": "it-1", "offset": 0, "text": "x".repeat(1_002)}));
    let event = in_time(events.next()).await.unwrap().unwrap();
    assert!(matches!(&event.event, Event::ItemDelta { offset: 1_000, text, .. } if text == "xx"));
}

#[tokio::test]
async fn a_delta_that_was_overtaken_still_belongs_to_its_open_item() {
    let (fake, thread) = attached(Tools::new()).await;
    let mut events = thread.events();
    fake.event("th-1", 4, json!({"type": "itemStarted", "item": assistant("run-1", "it-1", "open", "")}));
    fake.event("th-1", 5, deleted(5));
    fake.ephemeral("th-1", 4, json!({"type": "itemDelta", "itemId": "it-1", "offset": 0, "text": "hi"}));
    assert_eq!(take(&mut events, 2).await, [4, 5]);
    let event = in_time(events.next()).await.unwrap().unwrap();
    assert!(matches!(&event.event, Event::ItemDelta { text, .. } if text == "hi"));
}

#[tokio::test]
async fn a_log_with_a_hole_is_an_error_and_no_endless_loop() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.keep_log("th-1", vec![(7, deleted(7))]);
    let mut events = thread.events();
    fake.event("th-1", 7, deleted(7));
    let error = in_time(events.next()).await.unwrap().unwrap_err();
    assert!(error.to_string().contains("the event after 3 is 7"), "{error}");
    assert!(in_time(events.next()).await.is_none());
}

#[tokio::test]
async fn a_delta_of_an_item_that_is_over_is_not_handed_out() {
    let (fake, thread) = attached(Tools::new()).await;
    let mut events = thread.events();
    fake.event("th-1", 4, deleted(4));
    fake.ephemeral("th-1", 3, json!({"type": "itemDelta", "itemId": "it-1", "offset": 0, "text": "late"}));
    fake.event("th-1", 5, deleted(5));
    assert_eq!(take(&mut events, 2).await, [4, 5]);
}

#[tokio::test]
async fn k45_a_stream_ends_with_its_client_and_fails_with_its_connection() {
    let (_fake, thread) = attached(Tools::new()).await;
    let mut events = thread.events();
    in_time(thread.client().close()).await;
    assert!(in_time(events.next()).await.is_none());

    let (fake, thread) = attached(Tools::new()).await;
    let mut events = thread.events();
    fake.event("th-1", 4, deleted(4));
    fake.fence().await;
    fake.peer.close();
    assert_eq!(take(&mut events, 1).await, [4]);
    assert!(matches!(in_time(events.next()).await, Some(Err(Error::Disconnected))));
    assert!(in_time(events.next()).await.is_none());
}
