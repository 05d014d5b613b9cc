//! Which items are exported, and how they read.

use ropewalk_protocol::{Item, Thread};
use serde_json::{Value, json};

use super::*;

fn branch(id: &str, parent: Option<(&str, &str)>) -> Branch {
    let mut branch = json!({"branchId": id, "threadId": "b", "queue": {"length": 0, "held": false}, "revision": 1});
    if let Some((parent, root)) = parent {
        branch["parentBranchId"] = json!(parent);
        branch["rootMessageId"] = json!(root);
    }
    serde_json::from_value(branch).unwrap()
}

fn item(branch: &str, fields: Value) -> Item {
    let mut item = json!({
        "itemId": "it-1", "branchId": branch, "state": "completed", "startedAt": "2026-11-30T10:00:00Z",
        "kind": "userMessage", "content": [{"type": "text", "text": "hi"}], "delivery": "turn",
    });
    for (name, value) in fields.as_object().unwrap() {
        item[name] = value.clone();
    }
    serde_json::from_value(item).unwrap()
}

#[test]
fn a_branch_has_its_own_items_and_those_before_it_up_to_where_it_left() {
    let branches = [branch("b", None), branch("c", Some(("b", "m-2"))), branch("d", Some(("c", "m-5")))];
    let said = |branch: &str, message: &str| item(branch, json!({"messageId": message}));
    let log =
        [said("b", "m-1"), said("b", "m-2"), said("b", "m-3"), said("c", "m-4"), said("d", "m-6"), said("b", "m-7")];
    let of = |id: &str| {
        let mut lineage = Lineage::of(id, &branches).unwrap();
        log.iter().map(|item| lineage.has(item)).collect::<Vec<_>>()
    };
    assert_eq!(of("b"), [true, true, true, false, false, true]);
    assert_eq!(of("c"), [true, true, false, true, false, false]);
    assert_eq!(of("d"), [true, true, false, true, true, false]);
    assert!(Lineage::of("e", &branches).is_none());

    let mut lineage = Lineage::of("d", &branches).unwrap();
    lineage.passes(&Event::BranchUpdated { branch: branches[2].clone() });
    assert!(!lineage.has(&said("c", "m-8")), "what its parent does after it has begun is not its past");
}

#[test]
fn items_read_as_a_conversation_and_nothing_in_them_ends_a_fence_or_steers_a_terminal() {
    let user = markdown::item(&item("b", json!({"messageId": "m-1"}))).unwrap();
    assert_eq!(user, "\n## User · 2026-11-30T10:00:00Z\n\nhi\n");
    let own = json!({"messageId": "m-1", "sender": {"threadId": "b", "branchId": "b", "runId": "run-1"}});
    assert!(markdown::item(&item("b", own)).unwrap().starts_with("\n## Ropewalk"));
    let cut = json!({"kind": "assistantMessage", "messageId": "m-2", "text": "Half\u{1b}[2J", "incomplete": true});
    let cut = markdown::item(&item("b", cut)).unwrap();
    assert!(cut.ends_with("Half\\u{1b}[2J\n\n*(cut off here)*\n"), "{cut}");
    let call = json!({
        "kind": "toolCall", "messageId": "m-2", "callId": "call-1", "arguments": {"n": 1},
        "tool": {"flatName": "look", "name": "look", "source": "client:bot", "digest": "d"},
        "content": [{"type": "text", "text": "```\nseen\n```"}],
    });
    let call = markdown::item(&item("b", call)).unwrap();
    assert!(call.contains("```json\n{\"n\":1}\n```\n\nResult:\n\n````\n```\nseen\n```\n````\n"), "{call}");
    let notice = json!({"kind": "notice", "code": "loop", "text": "It repeats\nitself."});
    assert_eq!(markdown::item(&item("b", notice)).unwrap(), "\n> It repeats\n> itself.\n");
    let thought = json!({"kind": "reasoning", "messageId": "m-2", "text": "Hm."});
    assert!(markdown::item(&item("b", thought)).is_none());
    let thread: Thread = serde_json::from_value(json!({
        "threadId": "b", "projectId": "p", "title": "Two\nlines", "pinned": false, "archived": false, "unread": false,
        "origin": {"clientName": "bot"}, "seq": 2, "createdAt": "2026-11-30T10:00:00Z",
        "updatedAt": "2026-11-30T10:00:00Z", "revision": 1,
    }))
    .unwrap();
    assert!(markdown::title(&thread).starts_with("# Two lines\n\nThread b, started 2026-"));
}

#[test]
fn how_a_run_ended_badly_is_a_line_and_a_good_end_is_none() {
    let ending = |outcome: Value| markdown::ending(&serde_json::from_value(outcome).unwrap());
    let error = json!({"kind": "overloaded", "message": "Too much\nto do.", "retryable": true});
    let failed = ending(json!({"status": "failed", "error": error}));
    assert_eq!(failed.as_deref(), Some("\n✗ failed (overloaded): Too much to do.\n"));
    let by = json!({"kind": "client", "clientName": "bot"});
    assert_eq!(ending(json!({"status": "stopped", "by": by})).as_deref(), Some("\n✗ stopped by bot\n"));
    let interrupted = ending(json!({"status": "interrupted", "reason": "crash"}));
    assert_eq!(interrupted.as_deref(), Some("\n✗ interrupted: crash\n"));
    assert!(ending(json!({"status": "completed", "text": "Done."})).is_none());
}

#[test]
fn only_a_damaged_log_ends_an_export_early() {
    let unavailable = |reason: &str| {
        let detail = json!({"kind": "unavailable", "reason": reason, "retryable": false});
        let error = json!({"code": -32012, "message": "No.", "data": detail});
        is_damage(&Error::Rpc(serde_json::from_value(error).unwrap()))
    };
    assert!(unavailable("log_damaged") && !unavailable("starting"));
}
