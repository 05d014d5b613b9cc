//! Deleting threads and projects: nothing is left, nothing comes back, and everybody is told precisely.

use std::time::Duration;

use ropewalk_protocol::{
    ErrorDetail, Outcome, ProjectCreateParams, ProjectId, RpcError, RunStatus, ThreadId, limits::OPERATION_RETENTION_MS,
};
use serde_json::json;

use super::{
    client::{Person, Told},
    life::{Life, asking, begin, idle, plain, soon, submit, types},
    spy::Spy,
};
use crate::{
    catalogue::{Caller, Operation},
    engine::{Deletion, HeaderPatch, ThreadHandle},
    store::{FailPoint, LogName, Store as _},
};

const SECOND: Duration = Duration::from_secs(1);

pub(super) fn deletion(person: &Person) -> Deletion {
    Deletion { dry_run: false, expected_revision: None, by: person.end.client_ref().clone(), operation: None }
}

pub(super) fn operation(id: &str) -> Option<Operation> {
    Some(Operation { id: id.into(), digest: format!("digest of {id}"), method: "thread/delete".to_owned() })
}

/// The operation that begins a thread.
pub(super) fn began(operation: Operation) -> Operation {
    Operation { method: "thread/start".to_owned(), ..operation }
}

pub(super) fn is_not_found(error: &RpcError) -> bool {
    matches!(error.data.detail, ErrorDetail::NotFound { .. })
}

/// The rows that name an id, but for the answer that says it went.
pub(super) fn rows_with(life: &Life, id: &str) -> Vec<String> {
    let rows = Spy::rows(&life.store.store).into_iter().filter(|(key, _)| key != "operation/op-delete/");
    rows.filter(|(key, value)| key.contains(id) || value.contains(id)).map(|(key, _)| key).collect()
}

async fn lived_in(life: &mut Life, person: &mut Person) -> ThreadHandle {
    let mut request = life.request(person, asking("write"));
    request.operation = operation("op-start");
    let thread = soon(life.engine().start(request)).await.unwrap().thread;
    begin(&thread, "one").await;
    life.asked().await.ends("Done.");
    let run = begin(&thread, "two").await;
    life.asked().await.calls(&[("write", "{}")]);
    let offered = person.offered("approval/request").await;
    submit(&thread, "three").await;
    assert_eq!(life.waiting(&thread, &run).await.state, RunStatus::Waiting);
    assert_eq!(offered.thread.id(), thread.id());
    thread
}

#[tokio::test]
async fn k39_no_row_of_a_deleted_thread_is_left_and_none_comes_back() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = lived_in(&mut life, &mut person).await;
    let other = life.start(&person, plain(&["look"])).await;
    let id = thread.id().clone();
    let deleted = Deletion { operation: operation("op-delete"), ..deletion(&person) };
    let removed = soon(life.engine().delete_thread(&id, deleted)).await.unwrap();
    assert!(removed.applied && !removed.dry_run);
    assert_eq!(
        removed.effect,
        "Deletes the thread \u{201c}one\u{201d} for good with 1 input that waits. Its run is stopped."
    );
    assert_eq!(rows_with(&life, &id), Vec::<String>::new());
    assert!(is_not_found(&life.engine().thread(&id).err().unwrap()));
    assert!(soon(life.store.read(&LogName::Thread(id.clone()), 1, 1)).await.unwrap().is_empty());
    assert_eq!(life.engine().thread_count(), 1);

    for _ in 0..2 {
        life = life.crash(SECOND).await;
        assert_eq!(rows_with(&life, &id), Vec::<String>::new());
        assert!(is_not_found(&life.engine().thread(&id).err().unwrap()));
        assert!(life.thread(other.id()).read().await.is_ok());
        let found = |operation: &str| life.daemon.journal.find(&operation.into()).unwrap();
        assert!(found("op-start").is_none(), "operations of the thread go with it");
        assert!(found("op-delete").unwrap().answer.get().contains("\"applied\":true"), "that of the deletion stays");
    }
}

#[tokio::test]
async fn what_began_a_deleted_thread_is_known_for_as_long_as_any_operation() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let mut request = life.request(&person, Vec::new());
    request.operation = operation("op-start").map(began);
    let thread = soon(life.engine().start(request)).await.unwrap().thread;
    let id = thread.id().clone();
    soon(life.engine().delete_thread(&id, deletion(&person))).await.unwrap();
    for _ in 0..3 {
        let stored = life.daemon.journal.find(&"op-start".into()).unwrap().expect("a repeat is recognised");
        assert_eq!((stored.digest.as_str(), stored.method.as_str()), ("digest of op-start", "thread/start"));
        assert_eq!(stored.answer.get(), format!("\"{id}\""), "nothing of the thread but its id");
        life.daemon.catalogue.rewrite().await.unwrap();
        life = life.crash(SECOND).await;
    }
    life.clock.advance(Duration::from_millis(OPERATION_RETENTION_MS + 1_000));
    life.daemon.catalogue.expire_operations().await.unwrap();
    assert!(life.daemon.journal.find(&"op-start".into()).unwrap().is_none());
    assert_eq!(rows_with(&life, &id), Vec::<String>::new());
    life.daemon.catalogue.rewrite().await.unwrap();
    let life = life.crash(SECOND).await;
    assert!(life.daemon.journal.find(&"op-start".into()).unwrap().is_none());
}

#[tokio::test]
async fn d33_a_running_thread_is_stopped_as_a_tree_and_everybody_is_told() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = lived_in(&mut life, &mut person).await;
    let (waiting, seq) = (thread.clone(), types(&thread).await.len() as u64);
    let wait = tokio::spawn(async move {
        // As `run/wait` and `thread/events` do: for the next event, and then for the thread again.
        waiting.after(seq + 100).await?;
        waiting.read().await
    });
    idle().await;
    soon(life.engine().delete_thread(thread.id(), deletion(&person))).await.unwrap();
    assert_eq!(person.settled().await.outcome, Outcome::Cancelled);
    let gone = loop {
        if let Told::Gone(id) = person.told().await {
            break id;
        }
    };
    assert_eq!(gone, *thread.id());
    assert!(is_not_found(&soon(wait).await.unwrap().unwrap_err()), "who waits is answered");
    for _ in 0..2 {
        assert!(is_not_found(&thread.read().await.unwrap_err()), "also by a handle that somebody has kept");
        let refused = thread.submit(super::life::request(&thread, "late", Default::default())).await;
        assert!(is_not_found(&refused.unwrap_err()));
    }
    idle().await;
    assert!(!life.is_asked());
    assert_eq!(life.engine().counts().unwrap(), (Default::default(), 0));
}

#[tokio::test]
async fn the_stream_of_an_endpoint_ends_with_the_thread() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    begin(&thread, "go").await;
    let asked = life.asked().await;
    asked.says("Half an ");
    idle().await;
    soon(life.engine().delete_thread(thread.id(), deletion(&person))).await.unwrap();
    idle().await;
    assert!(asked.is_dropped(), "nobody listens any more");
}

#[tokio::test]
async fn app_149_a_rehearsal_says_what_would_go_and_writes_nothing() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = lived_in(&mut life, &mut person).await;
    let before = (Spy::rows(&life.store.store), life.store.sizes());
    let rehearsal = Deletion { dry_run: true, operation: operation("op-rehearsal"), ..deletion(&person) };
    let removed = soon(life.engine().delete_thread(thread.id(), rehearsal)).await.unwrap();
    assert!(!removed.applied && removed.dry_run);
    assert!(removed.effect.contains("1 input that waits"), "{}", removed.effect);
    let project = project(&life).await;
    let before_project = (Spy::rows(&life.store.store), life.store.sizes());
    let rehearsal = Deletion { dry_run: true, ..deletion(&person) };
    let removed = soon(life.engine().delete_project(&project, rehearsal)).await.unwrap();
    assert_eq!(
        removed.effect,
        "Deletes the project doomed for good, with 0 threads, 0 grants and 0 rules. Files in its directories stay."
    );
    assert_eq!((Spy::rows(&life.store.store), life.store.sizes()), before_project);
    assert!(before.1 != before_project.1, "making the project was written");
    assert!(life.daemon.journal.find(&"op-rehearsal".into()).unwrap().is_none());
}

#[tokio::test]
async fn k40_a_deletion_that_is_based_on_another_revision_is_a_conflict() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    for dry_run in [true, false] {
        let outdated = Deletion { expected_revision: Some(99), dry_run, ..deletion(&person) };
        let refused = soon(life.engine().delete_thread(thread.id(), outdated)).await.unwrap_err();
        assert!(
            matches!(refused.data.detail, ErrorDetail::Conflict { current_revision: Some(1), current: Some(_) }),
            "{refused:?}"
        );
    }
    assert_eq!(life.run(&thread, &run).await.state, RunStatus::Running, "it was not touched");
    let project = project(&life).await;
    let outdated = Deletion { expected_revision: Some(99), ..deletion(&person) };
    let refused = soon(life.engine().delete_project(&project, outdated)).await.unwrap_err();
    assert!(matches!(refused.data.detail, ErrorDetail::Conflict { current_revision: Some(1), .. }));
}

/// A project that is about to go.
pub(super) async fn project(life: &Life) -> ProjectId {
    let params = ProjectCreateParams { name: "doomed".to_owned(), ..Default::default() };
    life.daemon.catalogue.create_project(Caller::default(), params).await.unwrap().project.project_id
}

async fn thread_in(life: &Life, person: &Person, project: &ProjectId) -> Result<ThreadId, RpcError> {
    let mut request = life.request(person, plain(&["look"]));
    request.start.project_id = project.clone();
    let started = soon(life.engine().start(request)).await?;
    Ok(started.thread.id().clone())
}

#[tokio::test]
async fn app_29_a_project_goes_with_its_threads_grants_and_rules_and_no_other() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let project = project(&life).await;
    let (one, two) =
        (thread_in(&life, &person, &project).await.unwrap(), thread_in(&life, &person, &project).await.unwrap());
    let other = life.start(&person, Vec::new()).await;
    begin(&life.thread(&one), "go").await;
    let _asked = life.asked().await;
    let caller = Caller::default;
    let catalogue = life.daemon.catalogue.clone();
    for rule in [
        json!({"level": "project", "projectId": project, "source": "client:bot", "decision": "ask"}),
        json!({"level": "thread", "threadId": one, "source": "client:bot", "decision": "ask"}),
        json!({"level": "thread", "threadId": other.id(), "source": "client:bot", "decision": "ask"}),
    ] {
        let params = serde_json::from_value(rule).unwrap();
        catalogue.set_policy(caller(), ropewalk_protocol::PolicyOrigin::Owner, params).await.unwrap();
    }
    let grant = json!({"projectId": project, "path": "/", "capabilities": ["read"]});
    catalogue.add_grant(caller(), serde_json::from_value(grant).unwrap()).await.unwrap();
    let deleted = soon(life.engine().delete_project(&project, deletion(&person))).await.unwrap();
    assert!(deleted.effect.contains("2 threads, 1 grant and 1 rule"), "{}", deleted.effect);
    let check = |life: &Life| {
        let snapshot = life.daemon.catalogue.snapshot();
        assert_eq!((snapshot.projects.len(), snapshot.grants.len(), snapshot.policies.len()), (1, 0, 1));
        for id in [project.as_str(), one.as_str(), two.as_str()] {
            assert_eq!(rows_with(life, id), Vec::<String>::new());
        }
    };
    check(&life);
    let life = life.crash(SECOND).await;
    check(&life);
    assert!(life.thread(other.id()).read().await.is_ok());
    assert!(is_not_found(&soon(life.engine().delete_project(&project, deletion(&person))).await.unwrap_err()));
}

#[tokio::test]
async fn the_default_project_stays() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let project = life.daemon.catalogue.snapshot().default_project().project_id.clone();
    for dry_run in [true, false] {
        let refused = soon(life.engine().delete_project(&project, Deletion { dry_run, ..deletion(&person) })).await;
        let detail = refused.unwrap_err().data.detail;
        assert!(matches!(&detail, ErrorDetail::InvalidParams { reason, .. } if reason == "is_default"), "{detail:?}");
    }
}

#[tokio::test]
async fn a_thread_that_begins_while_its_project_goes_is_not_left_without_one() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    for round in 0..100 {
        let project = project(&life).await;
        let starts = futures::future::join_all((0..3).map(|_| thread_in(&life, &person, &project)));
        let delayed = async {
            for _ in 0..round % 12 {
                tokio::task::yield_now().await;
            }
            life.engine().delete_project(&project, deletion(&person)).await
        };
        let (started, deleted) = soon(async { tokio::join!(starts, delayed) }).await;
        deleted.unwrap();
        for started in started {
            assert!(started.as_ref().err().is_none_or(is_not_found), "{started:?}");
        }
        assert_eq!(rows_with(&life, &project), Vec::<String>::new(), "round {round}");
    }
}

#[tokio::test]
async fn a_deletion_that_cannot_be_stored_leaves_the_thread_as_it_was() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    for point in [FailPoint::Append, FailPoint::Sync, FailPoint::Full] {
        life.store.store.fail_next(point);
        let refused = soon(life.engine().delete_thread(thread.id(), deletion(&person))).await.unwrap_err();
        assert!(matches!(refused.data.detail, ErrorDetail::Unavailable { .. }), "{refused:?}");
        begin(&thread, "go on").await;
        life.asked().await.ends("Gladly.");
        let patch = HeaderPatch { title: ropewalk_protocol::Patch::Set("mine".into()), ..HeaderPatch::default() };
        soon(thread.update(patch, None)).await.unwrap();
        idle().await;
    }
    soon(life.engine().delete_thread(thread.id(), deletion(&person))).await.unwrap();
}

#[tokio::test]
async fn a_thread_whose_log_takes_no_record_can_be_deleted_all_the_same() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = lived_in(&mut life, &mut person).await;
    life.store.store.fail_next(FailPoint::Full);
    soon(life.engine().delete_thread(thread.id(), deletion(&person))).await.unwrap();
    assert_eq!(rows_with(&life, thread.id()), Vec::<String>::new());
    assert!(is_not_found(&thread.read().await.unwrap_err()));
    life.crash(SECOND).await;
}
