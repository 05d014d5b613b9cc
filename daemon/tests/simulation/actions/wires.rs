//! Connections: made, broken, slow, and full of junk.

use serde_json::{Value, json};

use super::{connection, scripts::declarations, thread};
use crate::{client::Client, world::World};

/// How many connections there are at most, the inspector's included.
const CONNECTIONS: usize = 7;

pub(super) fn connect(world: &mut World) {
    if world.connections.len() < CONNECTIONS {
        let client = 1 + world.below(world.clients.len() - 1);
        world.connect(client);
    }
}

/// A client connects and takes its threads up where it has seen them last, as an SDK does.
pub(super) fn come_back(world: &mut World) {
    if world.connections.len() >= CONNECTIONS {
        return;
    }
    let client = 1 + world.below(world.clients.len() - 1);
    let at = world.connect(client);
    for _ in 0..=world.below(3) {
        let Some(thread) = thread(world) else { return };
        let mut params = json!({"threadId": thread, "takeover": true});
        if world.chance(0.7) {
            params["after"] = json!(world.book.log(&thread).end());
        }
        if world.chance(0.5) {
            params["tools"] = declarations(world);
        }
        world.request(at, "thread/resume", params);
    }
}

pub(super) fn disconnect(world: &mut World) {
    if let Some(at) = connection(world) {
        let gone = world.connections.remove(at);
        world.trace.note(&format!("{} is cut", gone.key));
    }
}

/// The connection breaks in the middle of a line.
pub(super) fn cut_a_line(world: &mut World) {
    let (Some(at), Some(thread)) = (connection(world), thread(world)) else { return };
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "run/stop", "params": {"threadId": thread}}).to_string();
    let mut gone = world.connections.remove(at);
    gone.wire.send(&line.as_bytes()[..line.len() - 3]);
    world.trace.note(&format!("{} is cut within a line", gone.key));
}

pub(super) fn junk(world: &mut World) {
    let Some(at) = connection(world) else { return };
    let (line, answers) = world
        .choose(&[
            ("{", 1),
            ("", 0),
            ("[]", 1),
            ("17", 1),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"nothing\"}", 1),
            ("{\"jsonrpc\":\"2.0\",\"id\":987654,\"result\":{}}", 0),
            ("{\"jsonrpc\":\"2.0\",\"method\":\"nothing\"}", 0),
            ("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":1}}", 0),
        ])
        .unwrap();
    let connection = &mut world.connections[at];
    connection.nulls += answers;
    connection.wire.send(format!("{line}\n").as_bytes());
    world.trace.note(&format!("{} > {line}", world.connections[at].key));
}

/// Two reads and something unknown, together.
pub(super) fn batch(world: &mut World) {
    let Some(at) = connection(world) else { return };
    let connection = &mut world.connections[at];
    let mut members = Vec::new();
    for method in ["thread/list", "interaction/list", "nobody/knows"] {
        let id = connection.next_id;
        connection.next_id += 1;
        members.push(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}));
        let (method, params) = (method.to_owned(), json!({}));
        let pending = crate::client::Pending { method, params, waits: false, is_query: false, was_done: false };
        connection.pending.insert(id, pending);
    }
    connection.send(&Value::Array(members));
}

pub(super) fn cancel(world: &mut World) {
    let Some(at) = connection(world) else { return };
    let pending: Vec<i64> = world.connections[at].pending.keys().copied().collect();
    let Some(id) = world.choose(&pending) else { return };
    let note = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}});
    world.trace.note(&format!("{} > {note}", world.connections[at].key));
    world.connections[at].send(&note);
}

/// Nothing is read any more, or again.
pub(super) fn go_slow(world: &mut World) {
    let Some(at) = connection(world) else { return };
    let wire = &mut world.connections[at].wire;
    wire.is_slow = !wire.is_slow;
    wire.was_slow = true;
}

/// A process ends with its connections, and another one of its name begins.
pub(super) fn new_process(world: &mut World) {
    let client = 1 + world.below(world.clients.len() - 1);
    world.connections.retain(|connection| connection.client != client);
    let instance = world.word("in");
    let name = world.clients[client].name.clone();
    world.trace.note(&format!("{name} ends, and begins as {instance}"));
    world.clients[client] = Client::new(&name, &instance, true);
}
