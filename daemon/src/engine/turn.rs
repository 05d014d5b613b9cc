//! What a job on a thread works with: the change it makes, and what is alive beside it.

use std::sync::Arc;

use ropewalk_protocol::{
    Event, InteractionAnswered, InteractionId, InteractionKind, ItemId, Outcome, RpcError, RunId, RunOutcome, Timestamp,
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{
    AttachedClient, Shared, ThreadHandle,
    live::{Claim, Live, Streamed},
};
use crate::{
    catalogue::Operation,
    domain::{Change, Fact, Settlement, ThreadState},
    store::{OperationRecord, Pin},
    tools::digest::digest,
};

/// How long text may stream without being written down.
const CHECKPOINT_MS: u64 = 1_000;

/// What one job on a thread works with.
pub struct Turn<'a> {
    /// The change it makes: one record.
    pub change: Change<'a>,
    /// What is alive beside the state.
    pub live: &'a mut Live,
    /// What all threads share.
    pub shared: &'a Arc<Shared>,
    /// The thread itself, for what the job leaves behind.
    pub thread: &'a ThreadHandle,
    /// Ephemeral events, to be published with the record.
    pub(super) ephemeral: Vec<Ephemeral>,
    /// Interactions to be offered to one client once the record is durable.
    pub(super) offers: Vec<(InteractionId, Arc<dyn AttachedClient>)>,
    /// The operations the record answers. The first stands in it, others in records of their own right behind it, durable
    /// in the same commit.
    pub(super) operations: Vec<OperationRecord>,
    /// The blobs the record names; held until it is durable or given up.
    pub(super) pins: Vec<Pin>,
}

/// An event that is never stored.
#[derive(Debug)]
pub enum Ephemeral {
    /// Text of an open item.
    Delta {
        /// The item.
        item_id: ItemId,
        /// The text.
        text: String,
    },
    /// A tool shows life.
    Progress(Box<Event>),
}

impl Turn<'_> {
    /// The thread as it is.
    #[must_use]
    pub fn state(&self) -> &ThreadState {
        self.change.state
    }

    /// The time of this turn.
    #[must_use]
    pub const fn at(&self) -> Timestamp {
        self.change.at
    }

    /// Publishes text of an open item. It is stored about once a second, so that no more of it than that is in memory
    /// alone (ruling 33).
    pub fn delta(&mut self, item_id: &ItemId, text: String) {
        let at = self.at();
        let fresh = || Streamed { text: String::new(), kept: 0, kept_at: at };
        let streamed = self.live.texts.entry(item_id.clone()).or_insert_with(fresh);
        streamed.text.push_str(&text);
        if at.millis_since(streamed.kept_at) >= CHECKPOINT_MS {
            self.checkpoint(item_id);
        }
        self.ephemeral.push(Ephemeral::Delta { item_id: item_id.clone(), text });
    }

    /// Writes down what has streamed of an open item since that was last done.
    pub fn checkpoint(&mut self, item_id: &ItemId) {
        let at = self.at();
        let Some(streamed) = self.live.texts.get_mut(item_id) else { return };
        let text = streamed.text[streamed.kept..].to_owned();
        if !text.is_empty() {
            streamed.kept = streamed.text.len();
            streamed.kept_at = at;
            self.change.fact(Fact::Checkpoint { item_id: item_id.clone(), text });
        }
    }

    /// A step of a run is to be asked again: what was said of it so far is completed in this record as incomplete.
    pub fn attempt_failed(&mut self, run_id: &RunId) {
        let texts = &self.live.texts;
        self.change.attempt_failed(run_id, &|id| texts.get(id).map(|streamed| streamed.text.clone()));
    }

    /// Ends a run in this record, with everything of it that is open.
    pub fn finish_run(&mut self, run_id: &RunId, outcome: RunOutcome) {
        self.settle_all_claimed(run_id);
        let texts = &self.live.texts;
        self.change.finish_run(run_id, outcome, &|id| texts.get(id).map(|streamed| streamed.text.clone()));
    }

    /// Publishes a tool's sign of life, without storing it.
    pub fn progress(&mut self, event: Event) {
        self.ephemeral.push(Ephemeral::Progress(Box::new(event)));
    }

    /// Keeps the answer of an operation in its record, so that a repeat gets the same.
    ///
    /// # Errors
    /// `internal`, when the answer cannot be written as JSON.
    pub fn answers(&mut self, operation: Option<Operation>, answer: &impl Serialize) -> Result<(), RpcError> {
        if let Some(operation) = operation {
            self.operations.push(answered(operation, answer)?);
        }
        Ok(())
    }

    /// Says that an event of this record names a blob, so that the blob stays as long as the record does.
    pub fn names_blob(&mut self, pin: Pin) {
        self.pins.push(pin);
    }

    /// Decides how an interaction ends, unless that is decided already. Returns what counts.
    pub fn claim(&mut self, interaction_id: &InteractionId, claim: Claim) -> Option<Claim> {
        let wait = self.live.waits.get_mut(interaction_id)?;
        let claim = wait.claim.get_or_insert(claim).clone();
        if let Some(settled) = wait.settled.take() {
            // The driver that waited may be gone, and then nobody needs to know.
            let _ = settled.send(claim.clone());
        }
        Some(claim)
    }

    /// Writes down how an interaction ends that has been decided.
    pub fn settle_claimed(&mut self, interaction_id: &InteractionId) {
        let Some(wait) = self.live.waits.get(interaction_id) else { return };
        let Some(claim) = wait.claim.clone() else { return };
        // A tool's result stands in the item of its call, and only there.
        let (answer, given) = match wait.body.kind() {
            InteractionKind::ToolCall => (None, claim.answer),
            InteractionKind::Approval | InteractionKind::Input => (claim.answer, None),
        };
        let is_open = self.change.state.interactions.contains_key(interaction_id);
        if let Some(given) = given.filter(|_| is_open) {
            let digest = digest(&given);
            self.change.fact(Fact::Given { interaction_id: interaction_id.clone(), digest });
        }
        if is_open {
            self.answers_first(interaction_id, claim.outcome);
        }
        self.change.settle(Settlement {
            interaction_id: interaction_id.clone(),
            outcome: claim.outcome,
            by: claim.by,
            at: self.change.at,
            answer,
        });
    }

    /// Whoever settled an interaction did so by an operation: it stands in the record of the settlement, before whatever else
    /// that record answers, so that neither is ever without the other.
    fn answers_first(&mut self, interaction_id: &InteractionId, outcome: Outcome) {
        let Some(wait) = self.live.waits.get_mut(interaction_id) else { return };
        let Some(first) = wait.acknowledge.iter_mut().find(|waiting| waiting.is_first) else { return };
        let Some(operation) = first.operation.take() else { return };
        let answer = InteractionAnswered { interaction_id: interaction_id.clone(), outcome, replayed: false };
        match answered(operation, &answer) {
            Ok(operation) => self.operations.insert(0, operation),
            Err(error) => tracing::error!(%error, "the operation of a settlement could not be written"),
        }
    }

    /// Writes down every ending of a run's interactions that has been decided.
    pub fn settle_all_claimed(&mut self, run_id: &RunId) {
        let claimed: Vec<InteractionId> = self
            .live
            .waits
            .iter()
            .filter(|(_, wait)| wait.run_id == *run_id && wait.claim.is_some())
            .map(|(id, _)| id.clone())
            .collect();
        for id in claimed {
            self.settle_claimed(&id);
        }
    }
}

fn answered(operation: Operation, answer: &impl Serialize) -> Result<OperationRecord, RpcError> {
    let Operation { id, digest, method } = operation;
    Ok(OperationRecord { id, digest, method, answer: raw(answer)? })
}

/// JSON text of something of ours.
///
/// # Errors
/// `internal`; our own types can always be written, so this is a fault of ours.
pub fn raw(value: &impl Serialize) -> Result<Box<RawValue>, RpcError> {
    to_raw_value(value).map_err(|error| {
        RpcError::new(
            ropewalk_protocol::ErrorDetail::Internal { reference: "answer".to_owned() },
            format!("An answer of ours could not be written as JSON: {error}."),
        )
    })
}
