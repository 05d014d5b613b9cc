//! Runs: submitting, remarks, repeats, stopping and going on.

use serde_json::{Value, json};

use super::{branches::on_a_branch, connection, scripts::input, send, send_on, thread};
use crate::{book::Operation, world::World};

pub(super) fn submit(world: &mut World) {
    let (Some(at), Some(thread)) = (connection(world), thread(world)) else { return };
    let mut params = on_a_branch(world, &thread);
    params["input"] = input(world);
    if world.chance(0.5) {
        params["unattended"] = json!("wait");
    }
    if world.chance(0.1) {
        params["wait"] = json!(true);
    }
    send_on(world, at, "run/submit", params);
}

/// An aside, or a steer of a run that may be over.
pub(super) fn remark(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let mut params = json!({"threadId": thread, "input": input(world), "mode": "aside"});
    let run = run(world, &thread);
    if let Some(run) = run.filter(|_| world.chance(0.5)) {
        params["mode"] = json!("steer");
        params["expectedRunId"] = json!(run);
    }
    send(world, "run/submit", params);
}

/// A run of the thread that was under way when somebody last looked.
fn run(world: &mut World, thread: &str) -> Option<String> {
    let open: Vec<String> = world.book.log(thread).open_runs().iter().cloned().collect();
    world.choose(&open)
}

/// The same operation again, from anywhere.
pub(super) fn repeat(world: &mut World) {
    let operations = world.book.operations.clone();
    let recent = operations.len().saturating_sub(12);
    let from = if world.chance(0.6) { &operations[recent..] } else { &operations[..] };
    let (Some(at), Some(operation)) = (connection(world), world.choose(from)) else { return };
    world.request(at, &operation.method, operation.params);
}

/// The id of an operation that was done, for another request: always refused.
pub(super) fn conflict(world: &mut World) {
    let book = &world.book;
    let is_done = |operation: &&Operation| operation.result.is_some() && !book.is_forgotten(operation);
    let done: Vec<String> = book.operations.iter().filter(is_done).map(|operation| operation.id.clone()).collect();
    let (Some(id), Some(thread)) = (world.choose(&done), thread(world)) else { return };
    if world.book.is_doomed(&thread) {
        return;
    }
    let params = json!({"threadId": thread, "input": input(world), "operationId": id});
    let Some(answer) = world.query("run/submit", params) else { return };
    let error = answer.expect_err("an id belongs to one request");
    assert!(["idempotencyConflict", "unavailable"].iter().any(|kind| error["data"]["kind"] == *kind), "{error}");
}

pub(super) fn stop(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let mut params = on_a_branch(world, &thread);
    if let Some(run) = run(world, &thread).filter(|_| world.chance(0.4)) {
        params["runId"] = json!(run);
    }
    send(world, "run/stop", params);
}

pub(super) fn skip(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let params = on_a_branch(world, &thread);
    send(world, "run/skip", params);
}

pub(super) fn resume(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let params = on_a_branch(world, &thread);
    send(world, "run/resume", params);
}

pub(super) fn wait(world: &mut World) {
    let (Some(at), Some(thread)) = (connection(world), thread(world)) else { return };
    let (method, params) = match run(world, &thread) {
        Some(run) if world.chance(0.7) => {
            let until = if world.chance(0.5) { "terminal" } else { "blocked" };
            ("run/wait", json!({"runId": run, "until": until, "timeoutMs": 5_000}))
        }
        _ => {
            let after: Value = world.book.log(&thread).last_shown().into();
            ("thread/events", json!({"threadId": thread, "after": after, "waitMs": 30_000}))
        }
    };
    world.request(at, method, params);
}
