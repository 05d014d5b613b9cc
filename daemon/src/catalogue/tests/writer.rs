//! The one writer: what it writes, when it shows it, and what is left of it after a restart.

use std::sync::atomic::Ordering;

use ropewalk_protocol::{DataKind, Effect, PolicyOrigin, ProjectEnsureParams, SecretSetParams, SettingsUpdateParams};
use serde_json::{Value, json};

use super::*;
use crate::{
    catalogue::{Changed, rows_of},
    store::{OperationRow, Record, Rows, keys},
};

/// A home in which every kind of document has been made and changed.
async fn lived_in() -> (World, tempfile::TempDir) {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap().to_owned();
    let ensure = ProjectEnsureParams { path, name: None, operation_id: None };
    let project = world.catalogue.ensure_project(client(), ensure).await.unwrap().project.project_id;
    let rule = json!({ "level": "project", "projectId": project, "decision": "allow",
        "tool": { "source": "client:bot", "name": "get_issue" } });
    let rule = serde_json::from_value(rule).unwrap();
    world.catalogue.set_policy(client(), PolicyOrigin::Approval, rule).await.unwrap();
    let params = EndpointSetParams { is_default: Some(true), ..endpoint_params("a") };
    let id = world.set(params).await.unwrap().endpoint.endpoint_id;
    let secret =
        SecretSetParams { endpoint_id: id, value: "sk-1".to_owned(), operation_id: None, expected_revision: None };
    world.catalogue.set_secret(client(), secret).await.unwrap();
    let settings = SettingsUpdateParams { subtask_runs: Some(3), ..Default::default() };
    world.catalogue.update_settings(client(), settings).await.unwrap();
    world.endpoint("b").await;
    (world, directory)
}

/// Snapshots that differ only in how many changes led to them.
fn same(a: &World, b: &World) -> bool {
    let (a, mut b) = (a.catalogue.snapshot(), (*b.catalogue.snapshot()).clone());
    b.generation = a.generation;
    *a == b
}

#[tokio::test]
async fn a_restart_reads_the_same_documents_from_the_rows() {
    let (world, _directory) = lived_in().await;
    assert!(same(&world, &world.restarted().await));
}

#[tokio::test]
async fn the_rows_can_be_made_again_from_the_records_alone() {
    let (world, _directory) = lived_in().await;
    let rebuilt = Arc::new(FakeStore::default());
    for record in world.store.records.lock().unwrap().iter() {
        let line = serde_json::to_string(record).unwrap();
        let read: Record = serde_json::from_str(&line).unwrap();
        rebuilt.apply(rows_of(&read, &*rebuilt).unwrap());
    }
    assert_eq!(*rebuilt.rows.lock().unwrap(), *world.store.rows.lock().unwrap());
    assert!(same(&world, &World::with(rebuilt, world.secrets.clone()).await));
}

#[tokio::test]
async fn r37_records_without_events_take_no_sequence_number() {
    let (world, _directory) = lived_in().await;
    let records = world.store.records.lock().unwrap();
    assert!(records.iter().all(|record| record.n == 1 && record.next_seq() == 1 && record.events.is_empty()));
}

#[tokio::test]
async fn r51_an_operation_and_its_answer_are_in_the_record_and_in_the_journal() {
    let world = World::new().await;
    let params = ProjectCreateParams { name: "p".to_owned(), ..Default::default() };
    let answer = world.catalogue.create_project(operation("op-1", "project/create"), params).await.unwrap();
    let answer = serde_json::to_value(answer).unwrap();
    let records = world.store.records.lock().unwrap();
    let op = records.last().unwrap().op.clone().unwrap();
    assert_eq!((op.id.as_str(), op.method.as_str(), op.digest.as_str()), ("op-1", "project/create", "d"));
    let row = world.store.get(&keys::operation("op-1")).unwrap().unwrap();
    let row: OperationRow = serde_json::from_slice(&row).unwrap();
    assert_eq!((row.at, row.digest.as_str(), row.method.as_str()), (NOW, "d", "project/create"));
    assert_eq!(serde_json::from_str::<Value>(row.answer.get()).unwrap(), answer);
    assert_eq!(answer["replayed"], false);
}

#[tokio::test]
async fn a_refused_operation_is_not_journalled() {
    let world = World::new().await;
    let params = ProjectCreateParams::default();
    assert!(world.catalogue.create_project(operation("op-1", "project/create"), params).await.is_err());
    assert_eq!(world.store.get(&keys::operation("op-1")).unwrap(), None);
}

#[tokio::test]
async fn r39_a_change_that_could_not_be_written_has_not_happened() {
    let world = World::new().await;
    let before = world.catalogue.snapshot();
    let mut changes = world.catalogue.changes();
    world.store.fails.store(true, Ordering::SeqCst);
    let create = |name: &str| {
        let params = ProjectCreateParams { name: name.to_owned(), ..Default::default() };
        world.catalogue.create_project(client(), params)
    };
    let refusal = RpcError::from(create("p").await.unwrap_err());
    assert!(refusal.data.retryable);
    let ErrorDetail::Unavailable { reason, effect, .. } = refusal.data.detail else {
        panic!("unavailable was expected")
    };
    assert_eq!((reason.as_str(), effect), ("io_error", Some(Effect::None)));
    assert_eq!(world.catalogue.snapshot(), before);
    assert!(changes.try_recv().is_err());
    world.store.fails.store(false, Ordering::SeqCst);
    assert!(create("p").await.is_ok());
}

#[tokio::test]
async fn readers_are_woken_and_told_what_changed_by_whom_once_it_is_durable() {
    let world = World::new().await;
    let (mut snapshots, mut changes) = (world.catalogue.watch(), world.catalogue.changes());
    let params = EndpointSetParams { is_default: Some(true), ..endpoint_params("a") };
    let id = world.set(params).await.unwrap().endpoint.endpoint_id;
    assert!(snapshots.has_changed().unwrap());
    assert!(snapshots.borrow_and_update().endpoints.contains_key(&id));
    let expected = Changed {
        kinds: vec![DataKind::Endpoint, DataKind::Settings],
        ids: vec![id.to_string()],
        origin: Some("in-A".into()),
    };
    assert_eq!(changes.try_recv().unwrap(), expected);
    // A look wakes nobody.
    world.catalogue.read_project(&world.catalogue.snapshot().default_project().project_id).unwrap();
    assert!(!snapshots.has_changed().unwrap());
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_nothing_durable_and_unseen() {
    let world = World::new().await;
    let params = ProjectCreateParams { name: "p".to_owned(), ..Default::default() };
    let mut snapshots = world.catalogue.watch();
    {
        let change = world.catalogue.create_project(client(), params);
        // Polled once, then dropped: the work has begun.
        assert!(futures::FutureExt::now_or_never(change).is_none());
    }
    snapshots.changed().await.unwrap();
    assert_eq!(world.catalogue.snapshot().projects.len(), 2);
    assert!(same(&world, &world.restarted().await));
}

#[test]
fn facts_of_others_in_the_daemons_log_lead_to_no_rows() {
    let fact = |text: &str| serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
    let record = |facts| Record { n: 1, at: NOW, blobs: Vec::new(), op: None, facts, events: Vec::new() };
    let rows_of = |facts| rows_of(&record(facts), &FakeStore::default());
    assert_eq!(rows_of(vec![fact(r#"{"fact":"blobGone","blob":"th-1"}"#)]), Ok(Vec::new()));
    assert!(rows_of(vec![fact(r#"{"fact":"document","noun":"project","id":"p"}"#)]).is_err());
    assert!(rows_of(vec![fact(r#"{"fact":"document","noun":"unheard","id":"p"}"#)]).is_err());
    assert!(rows_of(vec![fact(r#"{"fact":"tombstone","thread":"th-1"}"#)]).is_err());
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_named_and_never_taken_for_nothing() {
    let world = World::new().await;
    world.store.rows.lock().unwrap().insert(keys::document("grant", "g-1"), b"{}".to_vec());
    let clock = Arc::new(FakeClock(NOW));
    let opened = Catalogue::open(world.store.clone(), clock, Arc::new(Ids::seeded(1)), world.secrets.clone()).await;
    let message = opened.err().unwrap().to_string();
    assert!(message.starts_with("the grant g-1 could not be read"), "{message}");
}
