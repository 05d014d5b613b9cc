//! What a step that waits takes of what has come, and what it leaves.

use serde_json::{Value, json};

use super::seeking::{Seeker, Sought};
use crate::kit::matching::Captures;

fn event(thread: &str, seq: u64, kind: &str) -> Value {
    json!({"method": "thread/event", "params": {"threadId": thread, "seq": seq, "event": {"type": kind}}})
}

fn found(seeker: &Seeker, inbox: &mut Vec<Value>, captures: &mut Captures) -> Option<Vec<Value>> {
    match seeker.seek(inbox, captures) {
        Ok(Sought::Found(places)) => Some(seeker.take(inbox, &places)),
        Ok(Sought::NotYet(_)) => None,
        Err(problem) => panic!("{problem:?}"),
    }
}

#[test]
fn an_answer_is_found_by_its_id_and_its_kind() {
    let request = json!({"id": 1, "method": "tool/call"});
    let mut inbox = vec![request.clone(), json!({"id": "1", "result": {}}), json!({"id": 1, "result": {}})];
    let taken = found(&Seeker::answer(json!(1)), &mut inbox, &mut Captures::new()).unwrap();
    assert_eq!(taken, [json!({"id": 1, "result": {}})]);
    assert_eq!(inbox, [request, json!({"id": "1", "result": {}})], "what was not sought stays");
}

#[test]
fn several_messages_are_each_another_one_in_any_order() {
    let mut captures = Captures::new();
    let same = || json!({"a": 1});
    let seeker = Seeker::Messages(vec![json!({"b": "$b"}), same(), same()]);
    let mut inbox = vec![same(), json!({"b": 2})];
    assert_eq!(found(&seeker, &mut inbox, &mut captures), None);
    assert_eq!(captures.get("b"), None, "nothing is captured before all of it is there");
    inbox.push(same());
    assert!(found(&seeker, &mut inbox, &mut captures).is_some() && inbox.is_empty());
    assert_eq!(captures.get("b"), Some(&json!(2)));
}

#[test]
fn a_log_is_read_forward() {
    let mut inbox =
        vec![event("t", 1, "x"), event("u", 1, "x"), json!({"id": 9}), event("t", 2, "y"), event("t", 3, "x")];
    let seeker = Seeker::Event(json!({"params": {"threadId": "t", "event": {"type": "y"}}}));
    found(&seeker, &mut inbox, &mut Captures::new()).unwrap();
    assert_eq!(inbox, [event("u", 1, "x"), json!({"id": 9}), event("t", 3, "x")]);
}

#[test]
fn the_next_events_of_a_thread_are_exactly_those() {
    let patterns = |kinds: &[&str]| kinds.iter().map(|kind| json!({"params": {"event": {"type": kind}}})).collect();
    let seeker = |kinds: &[&str]| Seeker::Events {
        thread: json!("t"),
        patterns: patterns(kinds),
        ignoring: vec!["noise".to_owned()],
    };
    let came = || vec![event("u", 1, "z"), event("t", 1, "noise"), event("t", 2, "x"), event("t", 3, "y")];
    let mut inbox = came();
    let taken = found(&seeker(&["x", "y"]), &mut inbox, &mut Captures::new()).unwrap();
    assert_eq!((taken.len(), inbox), (2, vec![event("u", 1, "z")]));
    assert_eq!(found(&seeker(&["x", "y", "x"]), &mut came(), &mut Captures::new()), None, "one more may come");
    let other = seeker(&["y"]).seek(&came(), &mut Captures::new());
    assert!(other.is_err_and(|problem| problem.came.contains("expected \"y\", came \"x\"")));
}
