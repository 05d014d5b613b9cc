//! Runs that are parked because a budget is used up or their endpoint is gone, and what lets them go on.

use std::time::Duration;

use ropewalk_protocol::{
    ByKind, ClientRef, Endpoint, EndpointRemoveParams, ErrorDetail, ItemBody, Recovery, Run, RunId, RunStatus,
};
use serde_json::{Value, json};

use super::{
    client::Person,
    life::{Life, asking, begin, completed, idle, plain, soon, submit, types},
    recovering::recover,
};
use crate::{
    catalogue::Caller,
    daemon::stop_when_idle,
    engine::{StopTarget, ThreadHandle},
};

const CALLER: Caller = Caller { client: None, operation: None };

async fn set(life: &Life, settings: Value) {
    let params = serde_json::from_value(settings).unwrap();
    life.daemon.catalogue.update_settings(CALLER, params).await.unwrap();
}

async fn add_endpoint(life: &Life, name: &str) -> Endpoint {
    let params = json!({"name": name, "provider": "openaiCompatible", "baseUrl": "http://127.0.0.1:9/v1", "model": name, "isDefault": name == "first"});
    life.daemon.catalogue.set_endpoint(CALLER, serde_json::from_value(params).unwrap()).await.unwrap().endpoint
}

async fn remove_endpoint(life: &Life, endpoint: &Endpoint) {
    let params =
        EndpointRemoveParams { endpoint_id: endpoint.endpoint_id.clone(), operation_id: None, expected_revision: None };
    life.daemon.catalogue.remove_endpoint(CALLER, params).await.unwrap();
}

async fn resume(thread: &ThreadHandle) -> Run {
    recover(thread, Recovery::Resume, None).await.unwrap()
}

async fn refused(thread: &ThreadHandle, run: Option<&RunId>) -> ErrorDetail {
    recover(thread, Recovery::Resume, run).await.unwrap_err().data.detail
}

/// The codes and texts of a thread's notices.
async fn notices(thread: &ThreadHandle) -> Vec<(String, String)> {
    let items = completed(thread).await.into_iter();
    let notices = items.filter_map(|item| match item.body {
        ItemBody::Notice { code, text } => Some((code, text)),
        _ => None,
    });
    notices.collect()
}

async fn first_with(tools: &[&str], settings: Value) -> (Life, Person, ThreadHandle, RunId) {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    set(&life, settings).await;
    let thread = life.start(&person, plain(tools)).await;
    let run = begin(&thread, "go").await;
    (life, person, thread, run)
}

#[tokio::test]
async fn a_run_is_parked_before_the_call_that_is_over_its_budget_and_loses_nothing() {
    let (mut life, mut person, thread, run) = first_with(&["look"], json!({"runMaxToolCalls": 2})).await;
    life.asked().await.calls(&[("look", "{\"n\":1}"), ("look", "{\"n\":2}"), ("look", "{\"n\":3}")]);
    for _ in 0..2 {
        let offered = person.offered("tool/call").await;
        person.returns(&offered, "seen").await;
    }
    let parked = life.paused(&thread, &run).await;
    assert_eq!((parked.reason.as_deref(), parked.tool_calls), (Some("budget"), 3));
    let (code, text) = notices(&thread).await.remove(0);
    assert_eq!(code, "budget");
    for part in ["has made: 2", "runMaxToolCalls", "run/resume"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(life.said(&thread).await, ["User: go"], "the message joins with its last result");
    idle().await;
    assert!(!life.is_asked());

    assert_eq!(resume(&thread).await.state, RunStatus::Running);
    let offered = person.offered("tool/call").await;
    assert_eq!(offered.params()["arguments"], json!({"n": 3}));
    person.returns(&offered, "seen").await;
    life.asked().await.calls(&[("look", "{\"n\":4}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "seen").await;
    life.asked().await.ends("As many as it may: it can still answer.");
    assert_eq!(life.ended(&thread, &run).await.state, RunStatus::Completed);
    assert_eq!(life.said(&thread).await.len(), 8);
}

#[tokio::test]
async fn the_first_call_of_an_answer_over_the_budget_leaves_the_answer_stored() {
    let (mut life, mut person, thread, run) = first_with(&["look"], json!({"runMaxToolCalls": 1})).await;
    life.asked().await.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "seen").await;
    life.asked().await.calls(&[("look", "{\"again\":true}")]);
    life.paused(&thread, &run).await;
    let mut life = life.crash(Duration::from_secs(1)).await;
    let thread = life.thread(thread.id());
    idle().await;
    assert_eq!(
        (life.run(&thread, &run).await.state, life.is_asked()),
        (RunStatus::Paused, false),
        "a start changes nothing"
    );
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    resume(&thread).await;
    let offered = person.offered("tool/call").await;
    assert_eq!(offered.params()["arguments"], json!({"again": true}));
    person.returns(&offered, "seen").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn time_is_that_of_work_and_a_run_over_it_is_parked_at_its_next_step() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    set(&life, json!({"runMaxMs": 60_000, "approvalMs": 600_000})).await;
    let thread = life.start(&person, asking("act")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("act", "{}")]);
    let approval = person.offered("approval/request").await;
    life.passes(Duration::from_secs(300)).await;
    person.answers(&approval, json!({"decision": "accept"})).await;
    let call = person.offered("tool/call").await;
    life.passes(Duration::from_secs(30)).await;
    person.returns(&call, "done").await;
    let asked = life.asked().await;
    life.passes(Duration::from_secs(31)).await;
    asked.calls(&[("act", "{}")]);
    assert_eq!(
        life.paused(&thread, &run).await.reason.as_deref(),
        Some("budget"),
        "30 s of a tool and 31 s of the model"
    );
    assert!(notices(&thread).await[0].1.contains("61000 ms"), "{:?}", notices(&thread).await);
    life.passes(Duration::from_secs(600)).await;
    resume(&thread).await;
    let approval = person.offered("approval/request").await;
    person.answers(&approval, json!({"decision": "decline"})).await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn a_paused_run_can_be_stopped_and_its_branch_goes_on() {
    let (mut life, mut person, thread, run) = first_with(&["look"], json!({"runMaxToolCalls": 1})).await;
    life.asked().await.calls(&[("look", "{}"), ("look", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "seen").await;
    life.paused(&thread, &run).await;
    let by = ClientRef { client_name: "bot".into(), instance_id: "in-A".into() };
    soon(thread.stop(StopTarget::Run(run.clone()), by, None)).await.unwrap();
    let ended = life.ended(&thread, &run).await;
    assert_eq!((ended.state, ended.outcome.unwrap().by.unwrap().kind), (RunStatus::Stopped, ByKind::Stop));
    assert_eq!(life.said(&thread).await.len(), 4, "the call that was never made has a result too");
    submit(&thread, "more").await;
    life.asked().await.ends("Done.");
}

#[tokio::test]
async fn a_shutdown_leaves_a_run_paused_for_its_budget() {
    let (mut life, mut person, thread, run) = first_with(&["look"], json!({"runMaxToolCalls": 1})).await;
    life.asked().await.calls(&[("look", "{}"), ("look", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "seen").await;
    life.paused(&thread, &run).await;
    life.engine().park().await;
    let life = life.crash(Duration::from_secs(1)).await;
    let thread = life.thread(thread.id());
    idle().await;
    let shown = life.run(&thread, &run).await;
    assert_eq!((shown.state, shown.reason.as_deref()), (RunStatus::Paused, Some("budget")));
}

#[tokio::test]
async fn a_thread_whose_run_is_paused_sleeps_and_wakes_with_the_resume() {
    let (mut life, mut person, thread, run) = first_with(&["look"], json!({"runMaxToolCalls": 1})).await;
    life.asked().await.calls(&[("look", "{}"), ("look", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "seen").await;
    life.paused(&thread, &run).await;
    let id = thread.id().clone();
    person.breaks(&thread).await;
    drop((thread, offered));
    life.passes(Duration::from_secs(60)).await;
    assert_eq!(life.engine().awake().len(), 0);
    let thread = life.thread(&id);
    person.resume(&thread).await;
    resume(&thread).await;
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "seen").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn ruling_15_a_run_whose_endpoint_goes_is_parked_at_its_next_step() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let (endpoint, other) = (add_endpoint(&life, "first").await, add_endpoint(&life, "second").await);
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    remove_endpoint(&life, &endpoint).await;
    person.returns(&offered, "seen").await;
    assert_eq!(life.paused(&thread, &run).await.reason.as_deref(), Some("endpoint"));
    assert_eq!(notices(&thread).await[0].0, "endpoint");
    let ErrorDetail::Unavailable { reason, .. } = refused(&thread, None).await else { panic!("there is no endpoint") };
    assert_eq!((reason.as_str(), life.run(&thread, &run).await.state), ("no_endpoint", RunStatus::Paused));

    set(&life, json!({"defaultEndpointId": other.endpoint_id})).await;
    let going = resume(&thread).await;
    assert_eq!((&going.endpoint_id, going.model.as_str()), (&other.endpoint_id, "second"));
    life.asked().await.ends("Done.");
    assert_eq!(life.ended(&thread, &run).await.run_id, run);
}

#[tokio::test]
async fn a_daemon_whose_runs_are_paused_goes_away_when_it_is_idle() {
    let (mut life, mut person, thread, run) = first_with(&["look"], json!({"runMaxToolCalls": 1})).await;
    let leaving = tokio::spawn(stop_when_idle(life.daemon.clone(), Some(60_000)));
    life.asked().await.calls(&[("look", "{}"), ("look", "{}")]);
    let offered = person.offered("tool/call").await;
    life.passes(Duration::from_secs(90)).await;
    assert!(!leaving.is_finished(), "a run is at work");
    person.returns(&offered, "seen").await;
    life.paused(&thread, &run).await;
    life.passes(Duration::from_secs(60)).await;
    soon(leaving).await.unwrap();
}

#[tokio::test]
async fn ruling_29_a_run_without_an_endpoint_at_its_start_fails() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let endpoint = add_endpoint(&life, "first").await;
    add_endpoint(&life, "second").await;
    remove_endpoint(&life, &endpoint).await;
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let ended = life.ended(&thread, &run).await;
    assert_eq!(serde_json::to_value(ended.outcome.unwrap().error.unwrap().kind).unwrap(), "noEndpoint");
    assert!(!types(&thread).await.contains(&"runState".to_owned()));
}
