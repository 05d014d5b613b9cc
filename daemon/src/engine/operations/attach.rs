//! Attaching to a thread and leaving it: who is there, who holds which tools, what a newcomer is told.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use ropewalk_protocol::{
    Capabilities, ClientRef, DataKind, ErrorDetail, Policy, QueueView, RpcError, Seq, Snapshot, ThreadResumed,
    ToolsCause, ToolsChanged, limits::PAGE_CHARACTERS,
};

use super::{
    offer::{offer_again, open_interaction_ids},
    read::{effective_tools, shown_run},
    refusal,
};
use crate::{
    catalogue::Operation,
    domain::{ClientTool, Declaring},
    engine::{AttachedClient, ConnectionId, ThreadHandle, Turn, live::Attached, run::toolbox},
};

/// How many waiting inputs a snapshot shows of a branch.
const SNAPSHOT_QUEUE: usize = 100;

/// A client that attaches, checked.
pub struct Resume {
    /// Who.
    pub client: Arc<dyn AttachedClient>,
    /// A new tool set; `None` keeps the old one.
    pub tools: Option<Vec<Arc<ClientTool>>>,
    /// The last event it has seen; `None` asks for a snapshot.
    pub after: Option<Seq>,
    /// Whether names held by others are taken over.
    pub takeover: bool,
    /// Whether it follows the thread's events.
    pub subscribe: bool,
    /// The operation.
    pub operation: Option<Operation>,
}

/// A client that is attached now.
pub struct Resumed {
    /// What it is told.
    pub answer: ThreadResumed,
    /// The event its events come after.
    pub after: Seq,
}

impl ThreadHandle {
    /// Attaches a client and binds its tools.
    ///
    /// # Errors
    /// `invalidParams {reason: after_the_end}`, `conflict` for a name somebody else holds, `unavailable`.
    pub async fn resume(&self, resume: Resume) -> Result<Resumed, RpcError> {
        self.turn(move |turn| {
            check_after(turn, resume.after)?;
            let header = turn.state().thread.clone();
            let declaring = Declaring {
                client: resume.client.client_ref().clone(),
                lasting: resume.client.is_lasting(),
                tools: resume.tools,
                takeover: resume.takeover,
                absent: absent_owners(turn),
            };
            forget_strangers(turn, &declaring.client);
            turn.change.declare_tools(&declaring).map_err(|error| refusal(error, &header))?;
            attach(turn, &resume.client, resume.subscribe);
            let answer = ThreadResumed {
                thread: turn.state().thread.clone(),
                seq: turn.change.seq(),
                snapshot: resume.after.is_none().then(|| snapshot(turn)),
                tools: effective_tools(turn, false),
                replayed: false,
            };
            turn.answers(resume.operation, &answer)?;
            let after = resume.after.unwrap_or(answer.seq);
            Ok(Resumed { answer, after })
        })
        .await
    }

    /// Lets a client follow a thread's events without binding tools. Returns the thread's last event.
    ///
    /// # Errors
    /// `invalidParams {reason: after_the_end}`, `unavailable`.
    pub async fn follow(&self, client: Arc<dyn AttachedClient>, after: Option<Seq>) -> Result<Seq, RpcError> {
        self.turn(move |turn| {
            check_after(turn, after)?;
            let id = client.connection();
            let holds_tools = turn.live.attached.get(&id).is_some_and(|attached| attached.holds_tools);
            turn.live.attached.insert(id, Attached { client, subscribed: true, holds_tools });
            turn.live.is_to_be_asked(id);
            turn.live.look_again();
            Ok(turn.change.seq())
        })
        .await
    }

    /// Offers a client that has attached every open interaction it can settle, but for those it was asked since: after a
    /// start the runs are taken up meanwhile, and ask whoever is there.
    pub async fn offer_open(&self, client: Arc<dyn AttachedClient>) {
        self.post(move |turn| {
            for interaction_id in open_interaction_ids(turn.state()) {
                if !turn.live.is_asked(&interaction_id, client.connection()) {
                    offer_again(turn, &interaction_id, &client);
                }
            }
        })
        .await;
    }

    /// A rule has been set or removed: drivers that wait look again, and readers are told as ruling 11 says.
    pub async fn rule_changed(&self, policy: Policy, client_name: Option<String>) {
        self.post(move |turn| {
            let thread = &turn.state().thread;
            let elsewhere = policy.project_id.as_ref().is_some_and(|project| *project != thread.project_id);
            if elsewhere {
                return;
            }
            let of_thread = policy.thread_id.is_some();
            let changed = toolbox::of_turn(turn).covered_by(&policy);
            if !changed.is_empty() && (of_thread || !turn.state().runs.is_empty()) {
                turn.change.tools_changed(ToolsChanged {
                    revision: 0,
                    added: Vec::new(),
                    removed: Vec::new(),
                    changed,
                    cause: ToolsCause::Policy,
                    client_name,
                });
            }
            turn.live.look_again();
        })
        .await;
    }

    /// A connection is gone, or follows no more. `on_purpose` is `thread/unsubscribe`: then it does not count as
    /// attached a moment longer.
    pub async fn leave(&self, connection: ConnectionId, on_purpose: bool) {
        self.post(move |turn| {
            // Everybody leaves a daemon that ends. Its last word on this thread is written, and whoever opens the store next
            // must not meet another one.
            if turn.live.is_parked {
                return;
            }
            let Some(attached) = turn.live.attached.get_mut(&connection) else { return };
            let client = attached.client.clone();
            let was_subscribed = std::mem::replace(&mut attached.subscribed, false);
            if on_purpose {
                turn.live.look_again();
                return;
            }
            let held_tools = attached.holds_tools;
            turn.live.attached.remove(&connection);
            // Who had left on purpose before does not count as somebody who could still answer.
            let capabilities = if was_subscribed { client.capabilities() } else { Capabilities::default() };
            let at = turn.at();
            turn.live.leave(client.client_ref().clone(), capabilities, at);
            if held_tools {
                owner_left(turn, &client);
            }
            turn.live.look_again();
            turn.shared.quieter.notify_waiters();
        })
        .await;
    }
}

/// Tools of processes that had not named themselves and are not here any more: the daemon died before they left. Nobody can
/// come back to them, and their names are free.
fn forget_strangers(turn: &mut Turn<'_>, newcomer: &ClientRef) {
    let sets = turn.state().tool_sets.iter();
    let gone = sets.filter(|(owner, set)| !set.lasting && *owner != newcomer && turn.live.holder(owner).is_none());
    let gone: Vec<ClientRef> = gone.map(|(owner, _)| owner.clone()).collect();
    for owner in gone {
        withdraw(turn, owner);
    }
}

fn withdraw(turn: &mut Turn<'_>, owner: ClientRef) {
    let withdrawn =
        Declaring { client: owner, lasting: false, tools: Some(Vec::new()), takeover: false, absent: BTreeSet::new() };
    if let Err(error) = turn.change.declare_tools(&withdrawn) {
        tracing::error!(%error, "tools of a client that left could not be withdrawn");
    }
}

/// Owners of tools that are not connected.
fn absent_owners(turn: &Turn<'_>) -> BTreeSet<ClientRef> {
    turn.state().tool_sets.keys().filter(|owner| turn.live.holder(owner).is_none()).cloned().collect()
}

/// A client process that named itself may come back to its tools; one that did not takes them with it.
fn owner_left(turn: &mut Turn<'_>, client: &Arc<dyn AttachedClient>) {
    let owner = client.client_ref().clone();
    let Some(set) = turn.state().tool_sets.get(&owner) else { return };
    if !client.is_lasting() {
        withdraw(turn, owner);
        return;
    }
    let changed = set.tools.iter().map(|tool| tool.flat_name.clone()).collect();
    presence(turn, changed, ToolsCause::OwnerAway, &owner.client_name);
}

/// Coming and going of an owner is an event only while a run is under way; who shows lists is told always
/// (ruling 11).
fn presence(turn: &mut Turn<'_>, changed: Vec<String>, cause: ToolsCause, client_name: &str) {
    if turn.state().runs.is_empty() {
        (turn.shared.changes)(DataKind::Tool, turn.thread.id(), None);
        return;
    }
    turn.change.tools_changed(ToolsChanged {
        revision: 0,
        added: Vec::new(),
        removed: Vec::new(),
        changed,
        cause,
        client_name: Some(client_name.to_owned()),
    });
}

fn attach(turn: &mut Turn<'_>, client: &Arc<dyn AttachedClient>, subscribe: bool) {
    let owner = client.client_ref().clone();
    let was_held = turn.live.holder(&owner).is_some();
    for attached in turn.live.attached.values_mut() {
        if *attached.client.client_ref() == owner {
            attached.holds_tools = false;
        }
    }
    let id = client.connection();
    let subscribed = subscribe || turn.live.attached.get(&id).is_some_and(|attached| attached.subscribed);
    turn.live.attached.insert(id, Attached { client: client.clone(), subscribed, holds_tools: true });
    turn.live.is_to_be_asked(id);
    turn.live.left.retain(|left| left.client != owner);
    // Its calls are offered to it again in a moment; it has not been silent while it was away.
    let calls = turn.change.state.interactions.values().filter(|open| open.offered_to.first() == Some(&owner));
    for wait in calls.filter_map(|open| turn.live.waits.get(&open.interaction_id)) {
        wait.life.send_replace(turn.change.at);
    }
    if !was_held && let Some(set) = turn.state().tool_sets.get(&owner) {
        let changed: Vec<String> = set.tools.iter().map(|tool: &Arc<ClientTool>| tool.flat_name.clone()).collect();
        if !changed.is_empty() && turn.change.is_empty() {
            presence(turn, changed, ToolsCause::OwnerBack, &owner.client_name);
        }
    }
    turn.live.look_again();
}

/// `after` is an event of the thread, or 0.
pub(super) fn check_after(turn: &Turn<'_>, after: Option<Seq>) -> Result<(), RpcError> {
    let last = turn.state().thread.seq;
    let Some(after) = after.filter(|after| *after > last) else { return Ok(()) };
    let detail = ErrorDetail::InvalidParams {
        path: "/after".to_owned(),
        reason: "after_the_end".to_owned(),
        problems: Vec::new(),
    };
    let message = format!(
        "after is {after}, but the last event of this thread is {last}. Resume without after and take the snapshot."
    );
    Err(RpcError::new(detail, message))
}

fn snapshot(turn: &Turn<'_>) -> Snapshot {
    let state = turn.state();
    // All branches share the room of one page, or the snapshot of a thread with many would be longer than a line.
    let mut room = PAGE_CHARACTERS;
    let queues: BTreeMap<_, _> = state
        .branches
        .iter()
        .map(|(id, branch)| {
            let entries =
                branch.queue.iter().take(SNAPSHOT_QUEUE).map(|input| input.entry.clone()).take_while(|entry| {
                    let length = serde_json::to_vec(entry).map_or(0, |json| json.len() as u64);
                    let fits = length <= room;
                    room -= if fits { length } else { 0 };
                    fits
                });
            let entries = entries.collect();
            (id.clone(), QueueView { entries, length: branch.queue.len() as u64 })
        })
        .collect();
    Snapshot {
        thread: state.thread.clone(),
        branches: state.branches.values().map(|branch| branch.branch.clone()).collect(),
        queues,
        runs: state.runs.values().map(|run| shown_run(turn.live, state, &run.run)).collect(),
        open_items: state.runs.values().flat_map(|run| run.open_items.values().map(|(_, item)| item.clone())).collect(),
        interactions: state.interactions.values().cloned().collect(),
        tools: effective_tools(turn, false),
    }
}
