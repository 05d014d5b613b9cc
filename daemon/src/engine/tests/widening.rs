//! Calls that would let runs do more than before: a person decides about each of them, whatever the rules say.

use serde_json::{Value, json};

use super::{
    client::Person,
    life::{begin, call_ends, idle},
    notes::{Notes, WRITE},
    rules::{calls, set},
};

/// A rule about all of the server's tools.
fn rule(decision: &str) -> Value {
    json!({"level": "global", "source": "notes", "decision": decision})
}

#[tokio::test]
async fn app_141_what_widens_authority_is_asked_about_each_time_and_shows_its_change() {
    let ((mut life, mut notes), mut person) = (Notes::beside().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    set(&life, rule("allow")).await;
    let run = begin(&thread, "go").await;
    let widening = (WRITE, r#"{"widens":true}"#);
    life.asked().await.calls(&[widening, widening, (WRITE, r#"{"widens":false}"#)]);
    for _ in 0..2 {
        let approval = person.offered("approval/request").await;
        let params = approval.params();
        assert_eq!(params["change"], json!({"before": "closed", "after": "open"}));
        assert_eq!(params["choices"], json!(["accept", "decline", "cancel"]), "nothing can be remembered");
        person.answers(&approval, json!({"decision": "accept"})).await;
        notes.called().await;
        notes.answers();
    }
    // What replaces and does not widen is for the rules.
    notes.called().await;
    notes.answers();
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let via: Vec<Value> = calls(&thread).await.iter().map(|call| call["decision"]["via"].clone()).collect();
    assert_eq!(via, ["person", "person", "policy"]);
}

#[tokio::test]
async fn app_141_no_rule_releases_what_widens_authority_and_a_deny_still_refuses_it() {
    let ((mut life, notes), mut person) = (Notes::beside().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[(WRITE, r#"{"widens":true}"#), (WRITE, r#"{"widens":true}"#)]);
    person.offered("approval/request").await;
    set(&life, rule("allow")).await;
    idle().await;
    assert_eq!((notes.unread(), person.unread()), (0, 0), "the approval is open");
    set(&life, rule("deny")).await;
    person.settled().await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let refused = json!(["refused", "tool_denied", "none"]);
    assert_eq!(call_ends(&thread).await, [refused.clone(), refused]);
    assert_eq!(notes.unread(), 0);
}
