//! Deleting threads and projects, and a crash at each place of a deletion.

use serde_json::{Value, json};

use super::{
    faults::open_approval,
    scripts::{self, declaration},
    send, thread,
};
use crate::{
    log::text,
    store::{Crash, lock},
    world::World,
};

/// How many projects a seed makes at most.
const PROJECTS: usize = 2;

pub(super) fn project(world: &mut World) {
    if world.book.projects.len() < PROJECTS {
        let params = json!({"name": world.word("project")});
        send(world, "project/create", params);
    }
}

pub(super) fn delete(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let mut params = json!({"threadId": thread});
    match world.below(4) {
        0 => params["dryRun"] = json!(true),
        1 => params["expectedRevision"] = json!(world.book.threads.get(&thread).copied().unwrap_or(1)),
        _ => {}
    }
    send(world, "thread/delete", params);
}

pub(super) fn delete_project(world: &mut World) {
    let projects: Vec<String> = world.book.projects.iter().cloned().collect();
    let Some(project) = world.choose(&projects) else { return };
    let mut params = json!({"projectId": project});
    match world.below(4) {
        0 => params["dryRun"] = json!(true),
        1 => params["expectedRevision"] = json!(1 + world.below(3)),
        _ => {}
    }
    send(world, "project/delete", params);
}

/// A project with two threads that each wait for an approval. `None`, when the daemon dies before.
fn inhabited(world: &mut World) -> Option<(usize, String, Vec<String>)> {
    let (at, _, _) = open_approval(world)?;
    let params = json!({"name": world.word("project")});
    let made = world.query("project/create", params)?.ok()?;
    let project = text(&made["project"]["projectId"]);
    for _ in 0..2 {
        world.request(at, "thread/start", json!({"projectId": project, "tools": [declaration("drill")]}));
        world.settle();
    }
    let threads = world.all("thread/list", json!({"projectId": project}))?;
    let threads: Vec<String> = threads.iter().map(|thread| text(&thread["threadId"])).collect();
    for thread in &threads {
        let input = scripts::text("call drill");
        world.request(at, "run/submit", json!({"threadId": thread, "input": input, "unattended": "wait"}));
        world.settle();
    }
    Some((at, project, threads))
}

/// The daemon dies with one of a project's threads stopped and the other not, with both, with all their tombstones durable, or
/// with their logs gone: the project is there with all its threads, or nothing of it is.
pub(super) fn delete_project_between_logs(world: &mut World) {
    let Some((at, project, threads)) = inhabited(world) else { return };
    assert_eq!(threads.len(), 2, "both threads were started");
    let crash = world.choose(&[Crash::AfterSync, Crash::BeforeTombstone, Crash::Tombstone, Crash::BeforeGone]).unwrap();
    lock(&world.plan).crash = Some((crash, 0));
    let params = json!({"projectId": project, "operationId": world.word("op")});
    world.request(at, "project/delete", params.clone());
    world.settle();
    assert!(lock(&world.plan).is_dead, "the daemon died on the way: {crash:?}");
    lock(&world.plan).was_between = true;
    let keeps_index = world.chance(0.5);
    world.crash(keeps_index);
    world.settle();
    let is_there = matches!(crash, Crash::AfterSync | Crash::BeforeTombstone);
    let read = world.query("project/read", json!({"projectId": project})).expect("the daemon lives");
    assert_eq!(read.is_ok(), is_there, "one record decides: {crash:?} {read:?}");
    for thread in &threads {
        let read = world.query("thread/read", json!({"threadId": thread})).expect("the daemon lives");
        assert_eq!(read.is_ok(), is_there, "a project goes with all its threads or with none: {crash:?} {read:?}");
    }
    let removed = world.query("project/delete", params).expect("the daemon lives").expect("it is deleted");
    assert_eq!(removed["applied"], true, "{removed}");
    world.audit(true);
    assert!(threads.iter().chain([&project]).all(|id| world.book.gone.contains(id)));
}

/// The daemon dies with the runs of a thread stopped, with its tombstone durable, or with its log gone: it is there as it was,
/// or nothing of it is, and the same request again is answered as if nothing had happened.
pub(super) fn delete_between_logs(world: &mut World) {
    let Some((at, _, asked)) = open_approval(world) else { return };
    let crash = world.choose(&[Crash::BeforeTombstone, Crash::Tombstone, Crash::BeforeGone]).unwrap();
    lock(&world.plan).crash = Some((crash, 0));
    let params = json!({"threadId": asked.thread, "operationId": world.word("op")});
    world.request(at, "thread/delete", params.clone());
    world.settle();
    assert!(lock(&world.plan).was_between, "the daemon died on the way: {crash:?}");
    let keeps_index = world.chance(0.5);
    world.crash(keeps_index);
    world.settle();
    let read = world.query("thread/read", json!({"threadId": asked.thread})).expect("the daemon lives");
    assert_eq!(read.is_ok(), crash == Crash::BeforeTombstone, "its tombstone decides: {crash:?} {read:?}");
    let open = world.all("interaction/list", json!({})).expect("the daemon lives");
    let is_open = open.iter().any(|open: &Value| open["threadId"] == asked.thread.as_str());
    assert!(!is_open, "its runs were stopped first");
    let removed = world.query("thread/delete", params).expect("the daemon lives").expect("it is deleted");
    assert_eq!(removed["applied"], true, "{removed}");
    world.audit(true);
    assert!(world.book.gone.contains(&asked.thread));
}
