//! What a thread knows only while it is awake: who is attached, who is waited for, what streams.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use ropewalk_protocol::{
    BranchId, By, Capabilities, ClientRef, InteractionBody, InteractionId, ItemId, Outcome, RpcError, RunId, Timestamp,
};
use serde_json::Value;
use tokio::{
    sync::{oneshot, watch},
    task::AbortHandle,
};

use super::{AttachedClient, ConnectionId, operations::ShownServerTools};
use crate::{
    catalogue::{Memory, Operation},
    domain::{ChainMessage, Link, Summary, ThreadState},
};

/// Messages of a chain that are kept in memory between steps.
const CHAIN_MESSAGES: usize = 4_096;

/// Clients that are remembered after they have left.
const LEFT: usize = 64;

/// What a thread knows only while it is awake. Losing it loses nothing that was acknowledged.
pub struct Live {
    /// The clients that are attached.
    pub attached: BTreeMap<ConnectionId, Attached>,
    /// Clients that left without saying so.
    pub left: Vec<Left>,
    /// When this life of the daemon began: clients that have not been seen in it count as gone since then.
    pub began_at: Timestamp,
    /// How long no daemon ran before this life, as far as this thread can tell: since its last event. Calls that were open
    /// over that time end so much later.
    pub down_ms: u64,
    /// Calls whose end was moved in this life.
    pub prolonged: BTreeSet<InteractionId>,
    /// Interactions somebody waits for.
    pub waits: BTreeMap<InteractionId, Wait>,
    /// Connections that were asked and are to be told the end, by what they were asked. They are told even when nobody
    /// waits for their answer any more.
    pub asked: BTreeMap<InteractionId, BTreeSet<ConnectionId>>,
    /// Texts that stream, by their open item.
    pub texts: BTreeMap<ItemId, Streamed>,
    /// Whether the daemon goes: nothing is driven any more.
    pub is_parked: bool,
    /// Whether the daemon is gone: the thread's owner ends.
    pub is_over: bool,
    /// Runs being driven.
    pub activations: BTreeMap<RunId, Activation>,
    /// Grows with every attach, leave and change of rules; drivers that wait watch it.
    pub attendance: watch::Sender<u64>,
    /// The last event that is durable; whoever waits for a run watches it.
    pub durable_seq: watch::Sender<u64>,
    /// The chains that were read last, so that the next step on a branch need not read its chain again.
    pub chains: Chains,
    /// What was remembered when each run under way began.
    pub memory: BTreeMap<RunId, Memory>,
    /// The tools of servers as the last step was shown them, while a run is under way.
    pub server_tools: Option<ShownServerTools>,
    /// Set when the thread is about to be deleted: nothing else is done before this says whether it was.
    pub verdict: Option<oneshot::Receiver<bool>>,
    /// Counts activations, so that a late report of a dead one is told from a report of the living.
    pub generation: u64,
}

/// One attached client.
pub struct Attached {
    /// The client.
    pub client: Arc<dyn AttachedClient>,
    /// Whether it follows the thread's events. One that only holds tools is not asked to approve.
    pub subscribed: bool,
    /// Whether it is the connection of its instance that last resumed the thread, and so holds its tools.
    pub holds_tools: bool,
}

/// A client that left without saying so.
pub struct Left {
    /// Which.
    pub client: ClientRef,
    /// What it could settle of this thread.
    pub capabilities: Capabilities,
    /// When it left.
    pub at: Timestamp,
}

/// A run being driven.
pub struct Activation {
    /// Which activation.
    pub generation: u64,
    /// Its task.
    pub task: Option<AbortHandle>,
}

/// An interaction that is open, as the living know it.
pub struct Wait {
    /// The run it belongs to.
    pub run_id: RunId,
    /// What is asked, with its arguments.
    pub body: InteractionBody,
    /// Tells the driver how it ended.
    pub settled: Option<oneshot::Sender<Claim>>,
    /// How it ended, once that is decided and not yet durable.
    pub claim: Option<Claim>,
    /// Who is waiting to hear that it is durable.
    pub acknowledge: Vec<Acknowledge>,
    /// Who was offered it, and what became of that.
    pub offered: BTreeMap<ConnectionId, Offered>,
    /// When its handler last showed life.
    pub life: watch::Sender<Timestamp>,
}

/// What became of an offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Answers of this connection that were refused.
    pub refused: u8,
    /// Whether this connection said that it will not answer.
    pub not_i: bool,
    /// The last attempt it was asked with since it attached; 0 before the first.
    pub attempt: u64,
}

/// A chain that has been read, up to its head.
#[derive(Clone)]
pub struct ChainCache {
    /// Its head.
    pub head: Link,
    /// What it begins with, where its oldest messages have been summarised.
    pub summary: Option<Summary>,
    /// Its messages, oldest first.
    pub messages: Arc<Vec<Arc<ChainMessage>>>,
}

/// The chains of branches that were read last, the one read last at the end. Together they have no more messages than are
/// kept in memory.
#[derive(Default)]
pub struct Chains(VecDeque<(BranchId, ChainCache)>);

impl Chains {
    /// What is kept of a branch's chain.
    #[must_use]
    pub fn of(&self, branch_id: &BranchId) -> Option<ChainCache> {
        self.0.iter().find(|(id, _)| id == branch_id).map(|(_, chain)| chain.clone())
    }

    /// Keeps a chain for the next step, in place of those that were read longest ago; unless it is so large that reading
    /// it again is the lesser evil.
    pub fn remember(&mut self, branch_id: BranchId, chain: ChainCache) {
        self.forget(&branch_id);
        self.0.push_back((branch_id, chain));
        while self.0.iter().map(|(_, chain)| chain.messages.len()).sum::<usize>() > CHAIN_MESSAGES {
            self.0.pop_front();
        }
    }

    /// Keeps nothing of a branch.
    pub fn forget(&mut self, branch_id: &BranchId) {
        self.0.retain(|(id, _)| id != branch_id);
    }
}

/// The text of an open item.
#[derive(Debug)]
pub struct Streamed {
    /// All of it.
    pub text: String,
    /// How much of it the log has, in bytes.
    pub kept: usize,
    /// Since when the log has that much.
    pub kept_at: Timestamp,
}

/// How an interaction ends: the first one counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// How.
    pub outcome: Outcome,
    /// By whom.
    pub by: By,
    /// When.
    pub at: Timestamp,
    /// The answer.
    pub answer: Option<Value>,
    /// The JSON-RPC error a tool call was answered with, in place of an answer.
    pub error: Option<Box<RpcError>>,
}

/// Somebody who answered while the outcome was decided but not yet durable.
pub struct Acknowledge {
    /// Whether theirs is the answer that counts.
    pub is_first: bool,
    /// Who.
    pub client: ClientRef,
    /// What they answered.
    pub answer: Value,
    /// The operation they answered by; taken by the record of the settlement, where theirs is the answer that counts.
    pub operation: Option<Operation>,
    /// Where to tell them.
    pub reply: oneshot::Sender<Result<Acknowledged, RpcError>>,
}

/// What somebody is told whose answer counts, or is the same as the one that counted.
pub struct Acknowledged {
    /// How the interaction ended.
    pub outcome: Outcome,
    /// Whether another answer was first.
    pub replayed: bool,
    /// Their operation, where no record has it yet.
    pub operation: Option<Operation>,
}

impl Live {
    /// A thread that was just woken, in a life of the daemon that began at `began_at`.
    #[must_use]
    pub fn new(began_at: Timestamp, state: &ThreadState) -> Self {
        Self {
            down_ms: began_at.millis_since(state.last_at),
            prolonged: BTreeSet::new(),
            attached: BTreeMap::new(),
            left: Vec::new(),
            began_at,
            waits: BTreeMap::new(),
            asked: BTreeMap::new(),
            texts: BTreeMap::new(),
            is_parked: false,
            is_over: false,
            activations: BTreeMap::new(),
            attendance: watch::Sender::new(0),
            durable_seq: watch::Sender::new(state.thread.seq),
            chains: Chains::default(),
            memory: BTreeMap::new(),
            server_tools: None,
            verdict: None,
            generation: 0,
        }
    }

    /// A client is gone without having said so.
    pub fn leave(&mut self, client: ClientRef, capabilities: Capabilities, at: Timestamp) {
        self.left.retain(|left| left.client != client);
        self.left.push(Left { client, capabilities, at });
        let surplus = self.left.len().saturating_sub(LEFT);
        self.left.drain(..surplus);
    }

    /// Since when a client that is not attached has been away.
    #[must_use]
    pub fn away_since(&self, client: &ClientRef) -> Timestamp {
        self.left.iter().find(|left| left.client == *client).map_or(self.began_at, |left| left.at)
    }

    /// Tells waiting drivers to look again who is there and what the rules are.
    pub fn look_again(&self) {
        self.attendance.send_modify(|count| *count += 1);
    }

    /// The attached clients that could answer, and have not said that they will not.
    #[must_use]
    pub fn can_answer(&self, interaction_id: &InteractionId, able: impl Fn(Capabilities) -> bool) -> Vec<ClientRef> {
        let offered = self.waits.get(interaction_id).map(|wait| &wait.offered);
        let declines = |id: &ConnectionId| offered.and_then(|offered| offered.get(id)).is_some_and(|o| o.not_i);
        let mut clients: Vec<ClientRef> = self
            .attached
            .iter()
            .filter(|(id, attached)| attached.subscribed && able(attached.client.capabilities()) && !declines(id))
            .map(|(_, attached)| attached.client.client_ref().clone())
            .collect();
        clients.sort();
        clients.dedup();
        clients
    }

    /// A connection attaches, perhaps not for the first time: what it was asked before, it is asked again.
    pub fn is_to_be_asked(&mut self, connection: ConnectionId) {
        for offered in self.waits.values_mut().filter_map(|wait| wait.offered.get_mut(&connection)) {
            offered.attempt = 0;
        }
    }

    /// Whether a connection was asked since it attached.
    #[must_use]
    pub fn is_asked(&self, interaction_id: &InteractionId, connection: ConnectionId) -> bool {
        let offered = self.waits.get(interaction_id).and_then(|wait| wait.offered.get(&connection));
        offered.is_some_and(|offered| offered.attempt > 0)
    }

    /// Whether any client follows the thread's events.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.attached.values().any(|attached| attached.subscribed)
    }

    /// The connection that holds the tools of a client instance.
    #[must_use]
    pub fn holder(&self, owner: &ClientRef) -> Option<&Arc<dyn AttachedClient>> {
        let mut attached = self.attached.values();
        attached.find(|attached| attached.holds_tools && attached.client.client_ref() == owner).map(|a| &a.client)
    }

    /// Whether this is the report of the activation that drives the run now.
    #[must_use]
    pub fn is_current(&self, run_id: &RunId, generation: u64) -> bool {
        self.activations.get(run_id).is_some_and(|activation| activation.generation == generation)
    }
}
