//! Faults: time that steps forward, commits that fail, a daemon that dies, and crashes between two logs on purpose.

use std::time::Duration;

use ropewalk_daemon::store::FailPoint;
use serde_json::{Value, json};

use super::scripts::{declaration, text};
use crate::{
    client::Client,
    store::{Crash, lock},
    world::World,
};

/// An approval that is open.
pub(super) struct Asked {
    id: Value,
    interaction: String,
    pub(super) thread: String,
}

pub(super) fn time(world: &mut World) {
    let steps = [10, 300, 2_000, 6_000, 31_000, 125_000, 960_000, 1_900_000];
    let ms = world.choose(&steps).unwrap();
    world.trace.note(&format!("** {ms} ms pass"));
    world.clock.advance(Duration::from_millis(ms));
}

pub(super) fn commit(world: &mut World) {
    let points = [FailPoint::Append, FailPoint::Sync, FailPoint::Full, FailPoint::Cut, FailPoint::Index];
    let point = world.choose(&points).unwrap();
    world.trace.note(&format!("** the next commit fails: {point:?}"));
    lock(&world.plan).fault = Some(point);
}

pub(super) fn crash(world: &mut World) {
    if world.chance(0.3) {
        // In the middle of whatever is going on.
        return world.crash(true);
    }
    let crash = world.choose(&[Crash::BeforeSync, Crash::AfterSync, Crash::AfterRows]).unwrap();
    let after = u32::try_from(world.below(6)).unwrap();
    world.trace.note(&format!("** the daemon will die: {crash:?} of commit {after} from now"));
    lock(&world.plan).crash = Some((crash, after));
}

pub(super) fn restart(world: &mut World) {
    if !world.bury() {
        world.restart();
    }
}

/// A client nobody has rules for, on a thread of its own, with an approval that is open: the place of its connection, the
/// thread and the interaction. `None`, when the daemon dies before.
pub(super) fn open_approval(world: &mut World) -> Option<(usize, String, Asked)> {
    world.bury();
    lock(&world.plan).restart();
    let (name, instance) = (world.word("drill"), world.word("in"));
    world.clients.push(Client::new(&name, &instance, true));
    let at = world.connect(world.clients.len() - 1);
    world.request(at, "thread/start", json!({"tools": [declaration("drill")]}));
    world.settle();
    let thread = world.connections[at].followed.keys().next().cloned()?;
    world.request(at, "run/submit", json!({"threadId": thread, "input": text("call drill"), "unattended": "wait"}));
    world.settle();
    let ask = world.connections[at].asks.iter().find(|ask| ask.method == "approval/request").cloned()?;
    Some((at, name, Asked { id: ask.id, interaction: ask.interaction, thread }))
}

/// The rule is durable and the daemon dead: in its next life the approval is settled by the rule, and nobody is asked.
fn dies_between_logs(world: &mut World, asked: &Asked) {
    world.settle();
    assert!(lock(&world.plan).was_between, "the daemon died between the rule and what follows from it");
    let keeps_index = world.chance(0.5);
    world.crash(keeps_index);
    world.settle();
    let open = world.all("interaction/list", json!({"threadId": asked.thread})).expect("the daemon lives");
    let is_open = open.iter().any(|open| open["interactionId"] == asked.interaction.as_str());
    assert!(!is_open, "the rule that was set settles {}", asked.interaction);
    world.audit(true);
    assert!(world.book.log(&asked.thread).settled.contains(&asked.interaction));
}

pub(super) fn accept_between_logs(world: &mut World) {
    let Some((at, _, asked)) = open_approval(world) else { return };
    lock(&world.plan).crash = Some((Crash::BetweenLogs, 0));
    let decision = world.choose(&["acceptAlways", "acceptForSession"]).unwrap();
    let answer = json!({"decision": decision});
    if world.chance(0.5) {
        world.connections[at].send(&json!({"jsonrpc": "2.0", "id": asked.id, "result": answer}));
    } else {
        world.request(at, "interaction/settle", json!({"interactionId": asked.interaction, "answer": answer}));
    }
    dies_between_logs(world, &asked);
}

pub(super) fn rule_between_logs(world: &mut World) {
    let Some((at, name, asked)) = open_approval(world) else { return };
    lock(&world.plan).crash = Some((Crash::BetweenLogs, 0));
    let decision = world.choose(&["allow", "deny"]).unwrap();
    let mut params = json!({"decision": decision, "tool": {"source": format!("client:{name}"), "name": "drill"}});
    if world.chance(0.5) {
        params["level"] = json!("global");
    } else {
        params["level"] = json!("thread");
        params["threadId"] = json!(asked.thread);
    }
    world.request(at, "policy/set", params);
    dies_between_logs(world, &asked);
}

/// A thread's first record is durable, and no row of it: the thread is there, once, whoever asks again.
pub(super) fn start_between_logs(world: &mut World) {
    world.bury();
    lock(&world.plan).restart();
    let at = world.connect(1);
    let before = world.all("thread/list", json!({})).expect("the daemon lives").len();
    lock(&world.plan).crash = Some((Crash::FirstRecord, 0));
    let title = world.word("first");
    let params = json!({"title": title, "operationId": world.word("op")});
    world.request(at, "thread/start", params.clone());
    world.settle();
    assert!(lock(&world.plan).is_dead, "the daemon died with the first record of a thread");
    lock(&world.plan).was_between = true;
    let keeps_index = world.chance(0.5);
    world.crash(keeps_index);
    let at = world.connect(1);
    world.request(at, "thread/start", params);
    world.settle();
    let threads = world.all("thread/list", json!({})).expect("the daemon lives");
    assert_eq!(threads.len(), before + 1, "the thread is there once");
    assert_eq!(threads.iter().filter(|thread| thread["title"] == title.as_str()).count(), 1);
}
