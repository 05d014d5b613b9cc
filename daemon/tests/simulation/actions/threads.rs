//! Threads: starting, attaching, leaving, renaming, looking.

use serde_json::{Value, json};

use super::{connection, scripts::declarations, send, send_on, thread};
use crate::world::World;

/// How many threads a seed has at most.
const THREADS: usize = 6;

pub(super) fn start(world: &mut World) {
    if world.book.threads.len() >= THREADS {
        return;
    }
    let Some(at) = connection(world) else { return };
    let mut params = json!({"title": world.word("title")});
    if world.chance(0.8) {
        params["tools"] = declarations(world);
    }
    if world.chance(0.1) {
        params["subscribe"] = json!(false);
    }
    let projects: Vec<String> = world.book.projects.iter().cloned().collect();
    if let Some(project) = world.choose(&projects).filter(|_| world.chance(0.5)) {
        params["projectId"] = json!(project);
    }
    send_on(world, at, "thread/start", params);
}

pub(super) fn resume(world: &mut World) {
    let (Some(at), Some(thread)) = (connection(world), thread(world)) else { return };
    let mut params = json!({"threadId": thread});
    match world.below(4) {
        0 => {}
        1 => params["tools"] = json!([]),
        _ => params["tools"] = declarations(world),
    }
    if let Some(after) = after(world, &thread) {
        params["after"] = json!(after);
    }
    if world.chance(0.5) {
        params["takeover"] = json!(true);
    }
    if world.chance(0.1) {
        params["subscribe"] = json!(false);
    }
    send_on(world, at, "thread/resume", params);
}

pub(super) fn subscribe(world: &mut World) {
    let (Some(at), Some(thread)) = (connection(world), thread(world)) else { return };
    let mut params = json!({"threadId": thread});
    if let Some(after) = after(world, &thread) {
        params["after"] = json!(after);
    }
    world.request(at, "thread/subscribe", params);
}

/// From where on events are asked for: the newest that was seen, an older one, or one that is not there yet.
fn after(world: &mut World, thread: &str) -> Option<u64> {
    let shown = world.book.log(thread).last_shown();
    match world.below(5) {
        0 => None,
        1 => Some(0),
        2 => Some(world.below(usize::try_from(shown).unwrap() + 1) as u64),
        3 => Some(shown + world.below(3) as u64),
        _ => Some(shown),
    }
}

pub(super) fn unsubscribe(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let Some(at) = connection(world) else { return };
    world.request(at, "thread/unsubscribe", json!({"threadId": thread}));
}

pub(super) fn rename(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let mut params = json!({"threadId": thread});
    match world.below(3) {
        0 => params["title"] = Value::Null,
        1 => params["pinned"] = json!(world.chance(0.5)),
        _ => params["title"] = json!(world.word("title")),
    }
    if world.chance(0.3) {
        params["expectedRevision"] = json!(world.book.threads.get(&thread).copied().unwrap_or(1));
    }
    send(world, "thread/update", params);
}

pub(super) fn archive(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let archived = world.chance(0.5);
    send(world, "thread/archive", json!({"threadId": thread, "archived": archived}));
}

pub(super) fn look(world: &mut World) {
    let (Some(at), Some(thread)) = (connection(world), thread(world)) else { return };
    let of_thread = json!({"threadId": thread});
    let (method, params) = match world.below(9) {
        0 => ("thread/read", of_thread),
        1 => ("thread/messages", of_thread),
        2 => ("thread/tools", of_thread),
        3 => ("thread/list", json!({})),
        4 => ("run/list", of_thread),
        5 => ("interaction/list", of_thread),
        6 => ("queue/list", of_thread),
        7 => ("thread/events", json!({"threadId": thread, "after": 0, "limit": 5})),
        _ => ("daemon/status", json!({})),
    };
    world.request(at, method, params);
}
