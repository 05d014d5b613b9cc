//! The daemon's log when most of it is dead: it is written anew, and nothing that counts is another thing after it.

use std::{path::Path, sync::Arc, time::Duration};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use ropewalk_protocol::{PolicyOrigin, ProjectCreateParams, limits::OPERATION_RETENTION_MS};
use serde_json::json;

use super::{
    client::Person,
    deleting::{began, deletion, operation},
    life::{Life, soon},
    spy::Spy,
};
use crate::{
    catalogue::Caller,
    clock::{Clock as _, Ids},
    daemon::Parts,
    engine::{Deletion, ThreadProjector},
    secrets::MemorySecrets,
    store::{DiskStore, FailPoint, Key, Rows as _, Scan, Store as _},
};

async fn rename(life: &Life, times: usize) {
    let project = life.daemon.catalogue.snapshot().default_project().project_id.clone();
    for count in 0..times {
        let text = format!("{count} ").repeat(200);
        let params = json!({"projectId": project, "description": text});
        let caller = Caller::default();
        life.daemon.catalogue.update_project(caller, serde_json::from_value(params).unwrap()).await.unwrap();
    }
}

#[tokio::test]
async fn a_log_that_is_mostly_dead_is_written_anew_by_the_daemon_itself() {
    let life = Life::first().await;
    assert_eq!(life.daemon.catalogue.dead_bytes().await, 0);
    rename(&life, 300).await;
    let dead = life.daemon.catalogue.dead_bytes().await;
    let bytes = life.store.sizes().log_bytes;
    assert!(dead > bytes * 9 / 10, "{dead} of {bytes}");
    life.passes(Duration::from_secs(600)).await;
    assert_eq!(life.store.sizes().log_bytes, bytes - dead, "exactly what was dead is free");
    assert_eq!(life.daemon.catalogue.dead_bytes().await, 0);
    rename(&life, 3).await;
    assert!(life.daemon.catalogue.dead_bytes().await > 0, "the figure follows what is written");
    assert!(!life.daemon.catalogue.tidy().await.unwrap(), "that little is not worth it");
    life.crash(Duration::ZERO).await;
}

#[tokio::test]
async fn k39_threads_that_came_and_went_leave_next_to_nothing() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let before = life.store.sizes().log_bytes;
    for _ in 0..1_000 {
        let thread = life.start(&person, Vec::new()).await;
        soon(life.engine().delete_thread(thread.id(), deletion(&person))).await.unwrap();
    }
    assert!(life.daemon.catalogue.dead_bytes().await > 100_000);
    life.daemon.tend_store().await;
    assert_eq!(life.daemon.catalogue.dead_bytes().await, 0);
    let after = life.store.sizes().log_bytes;
    assert!(after < before + 1_000, "{before} bytes before, {after} after");
    life.crash(Duration::ZERO).await;
}

/// One random change of what the daemon's log holds.
async fn change(life: &Life, person: &Person, random: &mut StdRng, step: usize) {
    let catalogue = &life.daemon.catalogue;
    let operation = random.random_bool(0.5).then(|| operation(&format!("op-{step}"))).flatten();
    let caller = Caller { client: None, operation: operation.clone() };
    let snapshot = catalogue.snapshot();
    let project = snapshot.projects.keys().nth(random.random_range(0..snapshot.projects.len())).unwrap().clone();
    match random.random_range(0..10) {
        0 => {
            let params = ProjectCreateParams { name: format!("project {step}"), ..Default::default() };
            catalogue.create_project(caller, params).await.unwrap();
        }
        1..4 => {
            let params = json!({"projectId": project, "name": format!("renamed {step}")});
            catalogue.update_project(caller, serde_json::from_value(params).unwrap()).await.unwrap();
        }
        4 => {
            let deletion = Deletion { operation, ..deletion(person) };
            // The default one stays, which is for others to test.
            let _ = soon(life.engine().delete_project(&project, deletion)).await;
        }
        5 => {
            let rule = json!({"level": "project", "projectId": project, "source": format!("s{}", step % 3), "decision": "ask"});
            catalogue.set_policy(caller, PolicyOrigin::Owner, serde_json::from_value(rule).unwrap()).await.unwrap();
        }
        6 => {
            if let Some(policy) = snapshot.policies.keys().next() {
                let params = json!({"policyId": policy});
                catalogue.remove_policy(caller, serde_json::from_value(params).unwrap()).await.unwrap();
            }
        }
        7 => {
            let params = json!({"approvalMs": 1_000 + step});
            catalogue.update_settings(caller, serde_json::from_value(params).unwrap()).await.unwrap();
        }
        8 => {
            let mut request = life.request(person, Vec::new());
            request.start.project_id = project;
            request.operation = operation.map(began);
            let thread = soon(life.engine().start(request)).await.unwrap().thread;
            if random.random_bool(0.7) {
                if random.random_bool(0.3) {
                    life.store.store.fail_next(FailPoint::Unlink);
                }
                soon(life.engine().delete_thread(thread.id(), deletion(person))).await.unwrap();
            }
        }
        _ => {
            life.clock.advance(Duration::from_millis(OPERATION_RETENTION_MS / 6));
            catalogue.expire_operations().await.unwrap();
        }
    }
}

#[tokio::test]
async fn what_a_rewritten_log_says_is_what_it_said_before() {
    for seed in 0..25 {
        let mut random = StdRng::seed_from_u64(seed);
        let (mut life, person) = (Life::first().await, Person::new("in-A"));
        for step in 0..120 {
            change(&life, &person, &mut random, step).await;
            if random.random_range(0..15) == 0 {
                let (rows, documents) = (Spy::rows(&life.store.store), documents(&life));
                if random.random_bool(0.3) {
                    let point = [FailPoint::BeforeRename, FailPoint::AfterRename][random.random_range(0..2)];
                    life.store.store.fail_next(point);
                }
                // Not asking whether it is worth it, so that short logs are written anew too.
                let _ = life.daemon.catalogue.rewrite().await;
                assert_eq!(Spy::rows(&life.store.store), rows, "seed {seed}, step {step}");
                let rebuilt = life.store.store.crash_without_index();
                assert_eq!(Spy::rows(&rebuilt), rows, "seed {seed}, step {step}");
                life = life.crash(Duration::ZERO).await;
                assert_eq!(self::documents(&life), documents, "seed {seed}, step {step}");
            }
        }
    }
}

fn documents(life: &Life) -> String {
    let snapshot = life.daemon.catalogue.snapshot();
    format!("{:?} {:?} {:?} {:?}", snapshot.projects, snapshot.grants, snapshot.policies, snapshot.settings)
}

#[tokio::test]
async fn on_disk_the_index_is_the_same_whether_it_is_kept_or_built_anew_from_the_rewritten_log() {
    let home = tempfile::tempdir().unwrap();
    let clock = crate::clock::ManualClock::new("2026-11-30T10:00:00Z".parse().unwrap());
    let open = |home: &Path| DiskStore::open(home, Arc::new(ThreadProjector), clock.now()).unwrap();
    let rows = |store: &DiskStore| {
        let scan = Scan { prefix: Key(Vec::new()), after: None, reverse: false, limit: usize::MAX };
        store.scan(&scan).unwrap()
    };
    let kept = {
        let store = Arc::new(open(home.path()));
        let parts = Parts {
            store: store.clone(),
            secrets: Arc::new(MemorySecrets::new()),
            ids: Arc::new(Ids::new(clock.now())),
            models: super::model::Script::new().0,
            clock: Arc::new(clock.clone()),
        };
        let daemon = parts.assemble().await.unwrap();
        for count in 0..40 {
            let params = ProjectCreateParams { name: format!("project {count}"), ..Default::default() };
            let caller = Caller { client: None, operation: operation(&format!("op-{count}")) };
            let made = daemon.catalogue.create_project(caller, params).await.unwrap().project;
            if count % 2 == 0 {
                let by = Person::new("in-A").end.client_ref().clone();
                let deletion = Deletion { dry_run: false, expected_revision: None, by, operation: None };
                daemon.engine.delete_project(&made.project_id, deletion).await.unwrap();
            }
        }
        let before = rows(&store);
        daemon.catalogue.rewrite().await.unwrap();
        assert_eq!(rows(&store), before);
        soon(store.flush()).await.unwrap();
        before
    };
    for without_index in [false, true] {
        // What a killed process leaves.
        let image = tempfile::tempdir().unwrap();
        copy(home.path(), image.path());
        if without_index {
            std::fs::remove_dir_all(image.path().join("index")).unwrap();
        }
        let store = open(image.path());
        assert!(store.notices().is_empty(), "{:?}", store.notices());
        assert_eq!(rows(&store), kept);
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
