//! Branches and the past: forks, replacements, deleting a branch, going on after a bad end, and what was read.

use serde_json::{Value, json};

use super::{scripts::input, send, thread};
use crate::{log::text, world::World};

/// Some message of a thread, as far as its events are known.
fn message(world: &mut World, thread: &str) -> Option<String> {
    let messages: Vec<String> = world.book.log(thread).messages.iter().cloned().collect();
    world.choose(&messages)
}

/// Some branch of a thread, or none: then the original one is meant.
pub(super) fn branch(world: &mut World, thread: &str) -> Option<String> {
    let branches: Vec<String> = world.book.log(thread).branches.iter().cloned().collect();
    if world.chance(0.5) { world.choose(&branches) } else { None }
}

/// The parameters of something on a thread, mostly on its original branch.
pub(super) fn on_a_branch(world: &mut World, thread: &str) -> Value {
    match branch(world, thread) {
        Some(branch) => json!({"threadId": thread, "branchId": branch}),
        None => json!({"threadId": thread}),
    }
}

pub(super) fn fork(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let mut params = on_a_branch(world, &thread);
    (params["input"], params["mode"]) = (input(world), json!("fork"));
    if let Some(message) = message(world, &thread).filter(|_| world.chance(0.7)) {
        params["fromMessageId"] = json!(message);
    }
    send(world, "run/submit", params);
}

/// Takes the place of a message, which may be in no chain, wait, or be no user's.
pub(super) fn replace(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let mut params = on_a_branch(world, &thread);
    let Some(message) = message(world, &thread) else { return };
    (params["input"], params["mode"], params["fromMessageId"]) = (input(world), json!("replace"), json!(message));
    send(world, "run/submit", params);
}

pub(super) fn delete(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let branches: Vec<String> = world.book.log(&thread).branches.iter().cloned().collect();
    let Some(branch) = world.choose(&branches) else { return };
    let mut params = json!({"threadId": thread, "branchId": branch});
    match world.below(5) {
        0 => params["dryRun"] = json!(true),
        1 => params["expectedRevision"] = json!(1 + world.below(3)),
        _ => {}
    }
    send(world, "branch/delete", params);
}

pub(super) fn name(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let Some(branch) = branch(world, &thread) else { return };
    let title = if world.chance(0.8) { json!(world.word("branch")) } else { Value::Null };
    send(world, "branch/update", json!({"threadId": thread, "branchId": branch, "title": title}));
}

/// Goes on after a bad end: as what is listed of it says, or not.
pub(super) fn recover(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let Some(Ok(runs)) = world.query("run/list", json!({"threadId": thread, "limit": 10})) else { return };
    let runs = runs["items"].as_array().unwrap().clone();
    let listed = |run: &&Value| !run["recovery"].as_array().is_none_or(Vec::is_empty);
    let better: Vec<Value> = runs.iter().filter(listed).cloned().collect();
    let from = if better.is_empty() || world.chance(0.2) { &runs } else { &better };
    let Some(run) = world.choose(from) else { return };
    let method = world.choose(&["run/retry", "run/retry", "run/resume", "run/rebase", "run/skip"]).unwrap();
    let mut params = json!({"threadId": thread, "branchId": run["branchId"]});
    if method != "run/skip" && world.chance(0.7) {
        params["runId"] = run["runId"].clone();
    }
    // Somebody else may be first.
    let turns = world.below(8);
    world.turns(u32::try_from(turns).unwrap());
    send(world, method, params);
}

pub(super) fn mark_read(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let end = world.book.log(&thread).last_shown();
    let mut params = on_a_branch(world, &thread);
    params["seq"] = json!(world.below(usize::try_from(end).unwrap() + 2));
    send(world, "thread/markRead", params);
}

/// A few items of a branch or a run, from somewhere on.
pub(super) fn items(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let mut params = on_a_branch(world, &thread);
    params["limit"] = json!(1 + world.below(5));
    let end = world.book.log(&thread).last_shown();
    params["before"] = json!(1 + world.below(usize::try_from(end).unwrap() + 2));
    let Some(Ok(page)) = world.query("item/list", params.clone()) else { return };
    let listed = page["items"].as_array().unwrap();
    assert!(listed.len() as u64 <= params["limit"].as_u64().unwrap(), "a page is no longer than asked for: {page}");
    for item in listed {
        assert!(item["seq"].as_u64() < params["before"].as_u64(), "only what comes before: {params} {item}");
        if let Some(branch) = params["branchId"].as_str() {
            assert_eq!(text(&item["branchId"]), branch);
        }
    }
}
