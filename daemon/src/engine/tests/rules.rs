//! Rules at the door: what is allowed is looked at when a call is made, and while somebody is asked about it.

use std::time::Duration;

use ropewalk_protocol::{Event, ItemBody, Outcome, Policy, PolicyOrigin, RunStatus};
use serde_json::{Value, json};

use super::{
    client::Person,
    life::{Life, asking, begin, call_ends, completed, events, idle, plain, soon, tools},
    notes::{Notes, WRITE},
};
use crate::{
    catalogue::{Caller, is_listed},
    clock::Clock as _,
    engine::ThreadHandle,
};

const SECOND: Duration = Duration::from_secs(1);

/// Sets a rule, as `policy/set` does.
pub(super) async fn set(life: &Life, params: Value) -> Policy {
    let params = serde_json::from_value(params).unwrap();
    let set = life.daemon.catalogue.set_policy(Caller::default(), PolicyOrigin::Owner, params).await.unwrap();
    life.engine().rule_changed(&set.policy, Some("elsewhere".to_owned())).await;
    set.policy
}

/// Takes a rule back, as `policy/remove` does.
async fn remove(life: &Life, policy: &Policy) {
    let params = serde_json::from_value(json!({"policyId": policy.policy_id})).unwrap();
    life.daemon.catalogue.remove_policy(Caller::default(), params).await.unwrap();
    life.engine().rule_changed(policy, None).await;
}

/// A rule of the thread about a tool of `bot`.
fn of_thread(thread: &ThreadHandle, name: &str, decision: &str) -> Value {
    let tool = json!({"source": "client:bot", "name": name});
    json!({"level": "thread", "threadId": thread.id(), "tool": tool, "decision": decision})
}

/// The calls that are complete, as the wire shows them.
pub(super) async fn calls(thread: &ThreadHandle) -> Vec<Value> {
    let items = completed(thread).await.into_iter().filter(|item| matches!(item.body, ItemBody::ToolCall(_)));
    items.map(|item| serde_json::to_value(item).unwrap()).collect()
}

#[tokio::test]
async fn a25_k24_a_deny_that_comes_during_a_batch_refuses_its_next_call() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}"), ("look", "{}")]);
    let offered = person.offered("tool/call").await;
    set(&life, of_thread(&thread, "look", "deny")).await;
    person.returns(&offered, "seen").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let expected = [json!(["completed", null, "done"]), json!(["refused", "tool_denied", "none"])];
    assert_eq!(call_ends(&thread).await, expected);
}

/// Field case A25: what a rule denies is not carried out however it is called, and nobody is asked.
#[tokio::test]
async fn a25_k24_a_tool_that_is_off_is_not_called_by_any_of_its_names() {
    let ((mut life, notes), person) = (Notes::beside().await, Person::new("in-A"));
    let thread = life.start(&person, asking("look")).await;
    set(&life, of_thread(&thread, "look", "deny")).await;
    set(&life, json!({"level": "global", "source": "notes", "decision": "deny"})).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    assert!(asked.request.tools.iter().all(|tool| tool.name != "look" && tool.name != WRITE), "it is not shown");
    asked.calls(&[("look", "{}"), (WRITE, "{}"), ("write", "{}"), ("notes/write", "{}")]);
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let codes: Vec<_> = calls(&thread).await.iter().map(|item| item["error"]["code"].clone()).collect();
    assert_eq!(codes, ["tool_denied", "tool_denied", "unknown_tool", "unknown_tool"]);
    assert_eq!((person.unread(), notes.unread()), (0, 0), "nobody was asked and nothing called");
    person.breaks(&thread).await;
}

/// Between the yes of a person and the call there is a record to write: a rule that comes meanwhile has the last word.
#[tokio::test]
async fn k24_a_deny_that_comes_between_the_approval_and_the_call_refuses_it() {
    let ((mut life, mut notes), mut person) = (Notes::beside().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[(WRITE, "{}"), (WRITE, r#"{"n":2}"#)]);
    let first = person.offered("approval/request").await;
    person.answers(&first, json!({"decision": "accept"})).await;
    notes.called().await;
    notes.answers();
    let second = person.offered("approval/request").await;
    idle().await;
    life.store.hold(true);
    person.answers(&second, json!({"decision": "accept"})).await;
    idle().await;
    let rule = set(&life, json!({"level": "global", "source": "notes", "decision": "deny"})).await;
    life.store.hold(false);
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!(notes.unread(), 0, "it was not called");
    let ends = call_ends(&thread).await;
    assert_eq!(ends[1], json!(["refused", "tool_denied", "none"]));
    let decision = &calls(&thread).await[1]["decision"];
    assert_eq!((&decision["decision"], &decision["policyId"]), (&json!("deny"), &json!(rule.policy_id)));
}

/// No time passes in this test: whoever waits is told, and does not look from time to time.
#[tokio::test]
async fn app_175_app_176_app_177_a_rule_set_elsewhere_settles_an_open_approval_at_once() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let project = life.daemon.catalogue.snapshot().default_project().project_id.clone();
    let tool = json!({"source": "client:bot", "name": "write"});
    let places = [
        json!({"level": "thread", "threadId": thread.id(), "tool": tool}),
        json!({"level": "project", "projectId": project, "tool": tool}),
        json!({"level": "global", "tool": tool}),
        json!({"level": "global", "source": "client:bot"}),
        json!({"level": "project", "projectId": project, "tool": tool, "principal": {"kind": "agent"}}),
    ];
    for (place, decision) in places.iter().flat_map(|place| [(place, "allow"), (place, "deny")]) {
        let run = begin(&thread, "go").await;
        life.asked().await.calls(&[("write", "{}")]);
        let approval = person.offered("approval/request").await;
        // Rules about others change nothing.
        let other = set(&life, json!({"level": "global", "source": "files", "decision": decision})).await;
        let app = json!({"kind": "app", "appId": "a"});
        let app = set(&life, json!({"level": "global", "tool": tool, "principal": app, "decision": decision})).await;
        idle().await;
        assert_eq!(life.run(&thread, &run).await.state, RunStatus::Waiting);
        let mut params = place.clone();
        params["decision"] = json!(decision);
        let rule = set(&life, params).await;
        let settled = person.settled().await;
        assert_eq!(settled.interaction_id, *approval.id());
        let outcome = if decision == "allow" { Outcome::Answered } else { Outcome::Declined };
        assert_eq!((settled.outcome, settled.by.policy_id.as_ref()), (outcome, Some(&rule.policy_id)));
        if decision == "allow" {
            let call = person.offered("tool/call").await;
            person.returns(&call, "written").await;
        }
        life.asked().await.ends("Done.");
        life.ended(&thread, &run).await;
        let last = calls(&thread).await.pop().unwrap();
        assert_eq!((&last["decision"]["via"], &last["decision"]["decision"]), (&json!("policy"), &json!(decision)));
        for policy in [rule, other, app] {
            remove(&life, &policy).await;
        }
    }
}

#[tokio::test]
async fn app_176_taking_the_rule_back_that_asks_releases_the_call() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let rule = set(&life, of_thread(&thread, "look", "ask")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    person.offered("approval/request").await;
    remove(&life, &rule).await;
    let call = person.offered("tool/call").await;
    person.returns(&call, "seen").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn app_175_a_rule_that_expires_while_an_approval_waits_is_not_there_any_more() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let mut params = of_thread(&thread, "look", "ask");
    params["expiresAt"] = json!("2026-11-30T10:01:00Z");
    set(&life, params).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}"), ("look", "{}")]);
    let approval = person.offered("approval/request").await;
    life.passes(59 * SECOND).await;
    assert_eq!(life.run(&thread, &run).await.state, RunStatus::Waiting);
    life.passes(SECOND).await;
    let settled = person.settled().await;
    assert_eq!((&settled.interaction_id, settled.outcome), (approval.id(), Outcome::Answered));
    for _ in 0..2 {
        let call = person.offered("tool/call").await;
        person.returns(&call, "seen").await;
    }
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!(calls(&thread).await[1]["decision"]["via"], "default");
}

#[tokio::test]
async fn app_178_app_179_app_180_approvals_come_one_at_a_time_and_one_answer_is_for_one_call() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}"), ("write", "{}"), ("write", "{}")]);
    for index in 1..=3 {
        let approval = person.offered("approval/request").await;
        let params = approval.params();
        assert_eq!((&params["index"], &params["total"]), (&json!(index), &json!(3)));
        idle().await;
        assert_eq!(soon(thread.open_interactions()).await.unwrap().len(), 1);
        assert_eq!(person.unread(), 0);
        person.answers(&approval, json!({"decision": "accept"})).await;
        let call = person.offered("tool/call").await;
        person.returns(&call, "written").await;
    }
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
}

/// Field case A30: who has said no to a call is not asked about it over and over.
#[tokio::test]
async fn a30_k12_a_call_that_was_refused_is_not_asked_about_again_in_its_run() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", r#"{"a":1,"b":2}"#)]);
    let approval = person.offered("approval/request").await;
    person.answers(&approval, json!({"decision": "decline"})).await;
    let mut asked = life.asked().await;
    for _ in 0..2 {
        asked.calls(&[("write", r#"{"b":2,"a":1}"#)]);
        asked = life.asked().await;
        assert!(asked.history().last().unwrap().contains("has refused exactly this call"), "{:?}", asked.history());
    }
    asked.calls(&[("write", r#"{"a":1,"b":3}"#)]);
    let other = person.offered("approval/request").await;
    assert_ne!(other.id(), approval.id(), "another call is another question");
    person.answers(&other, json!({"decision": "decline"})).await;

    // What was refused stays refused over a crash, and a rule comes before it.
    life.asked().await;
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    idle().await;
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    life.asked().await.calls(&[("write", r#"{"a":1,"b":2}"#)]);
    let asked = life.asked().await;
    assert_eq!(person.unread(), 0);
    set(&life, of_thread(&thread, "write", "allow")).await;
    asked.calls(&[("write", r#"{"a":1,"b":2}"#)]);
    let call = person.offered("tool/call").await;
    person.returns(&call, "written").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let items = calls(&thread).await;
    let decided = &items[1]["decision"];
    assert_eq!((&decided["decision"], &decided["via"]), (&json!("decline"), &json!("person")));
    assert_eq!(decided["interactionId"], json!(approval.id()), "the word that counted");
    assert_eq!((&items[1]["state"], &items[1]["error"]["code"]), (&json!("refused"), &json!("declined")));
    assert_eq!(items.len(), 6);
}

#[tokio::test]
async fn a30_a_call_that_was_refused_with_a_note_is_asked_about_once_more() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    for _ in 0..2 {
        life.asked().await.calls(&[("write", "{}")]);
        let approval = person.offered("approval/request").await;
        person.answers(&approval, json!({"decision": "decline", "note": "Test it first."})).await;
    }
    life.asked().await.calls(&[("write", "{}")]);
    let asked = life.asked().await;
    assert!(asked.history().last().unwrap().ends_with("and said: Test it first."), "{:?}", asked.history());
    asked.ends("I give up.");
    life.ended(&thread, &run).await;
    // The next run begins anew.
    let run = begin(&thread, "again").await;
    life.asked().await.calls(&[("write", "{}")]);
    let approval = person.offered("approval/request").await;
    person.answers(&approval, json!({"decision": "decline"})).await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
}

/// Field case A16: what is shown is what is called, in the daemon's own repair of it.
#[tokio::test]
async fn a16_k22_app_215_what_a_person_sees_is_what_the_tool_receives() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let schema = json!({"type": "object", "properties": {"list": {"type": "array"}, "id": {"type": "string"}}});
    let declared = tools(&[("write", json!({"approval": "ask", "inputSchema": schema}))]);
    let thread = life.start(&person, declared).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", r#"{"list":"[1]","id":"00713"}"#)]);
    let shown = person.offered("approval/request").await;
    let repaired = json!({"list": [1], "id": "00713"});
    assert_eq!(shown.params()["arguments"], repaired, "M07: an id keeps its zeros");
    let original = json!({"list": "[1]", "id": "00713"});
    assert_eq!(shown.params()["originalArguments"], original, "what the model wrote stands beside it");
    person.answers(&shown, json!({"decision": "accept"})).await;
    let call = person.offered("tool/call").await;
    assert_eq!(call.params()["arguments"], repaired);
    person.returns(&call, "written").await;
    let asked = life.asked().await;
    let made = &asked.request.messages[1].message.tool_calls[0];
    assert_eq!(made.arguments, original, "M07: its history has the model's own words");
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    let item = calls(&thread).await.remove(0);
    assert_eq!((&item["arguments"], &item["originalArguments"]), (&repaired, &original));
}

/// Whatever is no slip of the two kinds fails, and the model is told which property and why (M06: never a guess).
#[tokio::test]
async fn app_217_m06_what_does_not_fit_fails_with_property_and_reason_and_is_not_called() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let properties = json!({
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "verbose": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        "note": {"type": ["string", "null"]},
        "mode": {"enum": ["on", "ON"]},
    });
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    let declared = tools(&[("look", json!({"approval": "ask", "inputSchema": schema}))]);
    let thread = life.start(&person, declared).await;
    let run = begin(&thread, "go").await;
    let off = r#"{"limit":"5","verbose":"false","note":"007","mode":"On","more":1}"#;
    life.asked().await.calls(&[("look", off), ("look", r#"{"limit":5,"verbose":false,"note":"007"}"#)]);
    let approval = person.offered("approval/request").await;
    assert_eq!(approval.params()["index"], 2, "nobody is asked about what cannot be called");
    person.answers(&approval, json!({"decision": "accept"})).await;
    let call = person.offered("tool/call").await;
    assert_eq!(call.params()["arguments"], json!({"limit": 5, "verbose": false, "note": "007"}));
    person.returns(&call, "seen").await;
    let asked = life.asked().await;
    let told = &asked.history()[2];
    for property in ["/limit", "/verbose", "/mode", "more"] {
        assert!(told.contains(property), "{property}: {told}");
    }
    assert!(!told.contains("/note"), "{told}");
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!(call_ends(&thread).await[0], json!(["failed", "invalid_arguments", "none"]));
}

/// Field case A16: the digest of what was shown is kept, and an answer counts for nothing else, also after a crash.
#[tokio::test]
async fn a16_k22_an_approval_is_voided_when_what_would_be_called_is_not_what_was_shown() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let shown = person.offered("approval/request").await;
    let call_id = serde_json::from_value(shown.params()["callId"].clone()).unwrap();
    let of_run = run.clone();
    // As if another version of the tool had been shown.
    let another = thread.turn(move |turn| {
        turn.change.show_call(&of_run, &call_id, "another".to_owned());
        Ok(())
    });
    soon(another).await.unwrap();

    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    idle().await;
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    let anew = person.offered("approval/request").await;
    assert_ne!(anew.id(), shown.id(), "it is another question");
    person.answers(&anew, json!({"decision": "accept"})).await;
    let call = person.offered("tool/call").await;
    person.returns(&call, "written").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let settled = |event: Event| match event {
        Event::InteractionSettled { interaction_id, outcome, .. } => Some((interaction_id, outcome)),
        _ => None,
    };
    let settled: Vec<_> = events(&thread).await.into_iter().filter_map(|event| settled(event.event)).collect();
    let expected = [(shown.id(), Outcome::Cancelled), (anew.id(), Outcome::Answered), (call.id(), Outcome::Answered)];
    assert_eq!(settled.iter().map(|(id, outcome)| (id, *outcome)).collect::<Vec<_>>(), expected);
}

/// Field case A12: a permission lasts as long as its label says, over runs and restarts, and not a moment longer.
#[tokio::test]
async fn a12_k23_allowed_for_the_thread_lasts_over_runs_and_restarts_until_it_is_taken_back() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}"), ("write", "{}")]);
    let approval = person.offered("approval/request").await;
    person.answers(&approval, json!({"decision": "acceptForSession"})).await;
    for _ in 0..2 {
        let call = person.offered("tool/call").await;
        person.returns(&call, "written").await;
    }
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;

    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    let run = begin(&thread, "again").await;
    life.asked().await.calls(&[("write", "{}"), ("write", r#"{"n":2}"#)]);
    let call = person.offered("tool/call").await;
    let rule = life.daemon.catalogue.snapshot().policies.values().next().unwrap().clone();
    remove(&life, &rule).await;
    person.returns(&call, "written").await;
    let approval = person.offered("approval/request").await;
    person.answers(&approval, json!({"decision": "decline"})).await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
}

/// An `allow` that was set before a server was ever listed is bound to the tool as it is when it is seen.
#[tokio::test]
async fn k23_an_allow_on_a_tool_of_a_server_is_bound_to_it_and_counts_what_it_matches() {
    let ((mut life, mut notes), person) = (Notes::beside().await, Person::new("in-A"));
    notes.is_listed(false);
    let allow = json!({"level": "global", "tool": {"source": "notes", "name": "write"}, "decision": "allow"});
    let rule = set(&life, allow.clone()).await;
    assert_eq!((rule.matches, rule.tool.unwrap().digest), (0, None), "a rule that matches nothing is reported");
    notes.is_listed(true);
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[(WRITE, "{}")]);
    let call = notes.called().await;
    notes.answers();
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let rule = life.daemon.catalogue.snapshot().policies[&rule.policy_id].clone();
    assert_eq!(rule.tool.as_ref().unwrap().digest.as_ref(), Some(&call.tool.digest));
    assert_eq!(life.daemon.catalogue.show_policy(&rule).matches, 1);
    let of_thread = json!({"level": "thread", "threadId": thread.id(), "source": "notes", "decision": "ask"});
    assert_eq!(set(&life, of_thread).await.matches, 1);
    assert_eq!(set(&life, allow).await.matches, 1);
}

/// Three audiences: what is for clients alone never reaches a model.
#[tokio::test]
async fn app_95_k48_structured_content_and_meta_are_for_clients_alone() {
    let ((mut life, notes), mut person) = (Notes::beside().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[(WRITE, "{}"), ("look", "{}")]);
    let approval = person.offered("approval/request").await;
    person.answers(&approval, json!({"decision": "accept"})).await;
    notes.answers();
    let call = person.offered("tool/call").await;
    let content = json!([{"type": "text", "text": "seen"}]);
    let data = json!({"only": "clients alone"});
    person.answers(&call, json!({"success": true, "contentItems": content, "structuredContent": data})).await;
    let asked = life.asked().await;
    let sent = format!("{:?}", asked.request.messages);
    assert!(sent.contains("noted") && sent.contains("seen"));
    assert!(!sent.contains("clients alone") && !sent.contains("beside"), "{sent}");
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    let items = calls(&thread).await;
    assert_eq!(items[0]["structuredContent"], json!({"for": "clients alone"}));
    assert_eq!(items[0]["meta"], json!({"beside": "the result"}));
    assert_eq!(items[1]["structuredContent"], data);
    // One shape for every source.
    for item in &items {
        assert!(item["timing"].is_object() && item["decision"].is_object(), "{item}");
        assert_eq!((&item["severity"], &item["effect"]), (&json!("info"), &json!("done")));
    }
    assert_eq!((&items[0]["summary"], &items[1]["summary"]), (&json!("Write a note"), &json!("look")));
    assert_eq!(items[0]["decision"]["decision"], "accept");
}

/// A rule that has expired is not there any more: not in a list, not at its project, and before long not on the disk.
#[tokio::test]
async fn app_175_a_rule_that_has_expired_is_not_there_any_more() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let project = life.daemon.catalogue.snapshot().default_project().project_id.clone();
    let tool = json!({"source": "client:bot", "name": "write"});
    let until = "2026-11-30T10:01:00Z";
    let allow =
        json!({"level": "project", "projectId": project, "tool": tool, "decision": "allow", "expiresAt": until});
    let rule = set(&life, allow).await;
    let of_project = || life.daemon.catalogue.read_project(&project).unwrap().policies.unwrap().len();
    let filter = Default::default();
    assert!(is_listed(&rule, &filter, life.clock.now()));
    assert_eq!(of_project(), 1);
    life.clock.advance(60 * SECOND);
    assert!(!is_listed(&rule, &filter, life.clock.now()));
    assert_eq!(of_project(), 0);
    life.daemon.tend_store().await;
    assert!(life.daemon.catalogue.snapshot().policies.is_empty());
    let life = life.crash(SECOND).await;
    assert!(life.daemon.catalogue.snapshot().policies.is_empty());
    life.thread(thread.id());
}
