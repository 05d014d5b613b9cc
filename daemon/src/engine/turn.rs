//! What a job on a thread works with: the change it makes, and what is alive beside it.

use std::sync::Arc;

use ropewalk_protocol::{Event, InteractionId, InteractionKind, ItemId, RpcError, RunId, Timestamp};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{
    Bus, Shared, ThreadHandle,
    live::{Claim, Live},
};
use crate::{
    catalogue::Operation,
    domain::{Change, Settlement, ThreadState},
    store::OperationRecord,
};

/// What one job on a thread works with.
pub struct Turn<'a> {
    /// The change it makes: one record.
    pub change: Change<'a>,
    /// What is alive beside the state.
    pub live: &'a mut Live,
    /// What all threads share.
    pub shared: &'a Arc<Shared>,
    /// The hot end of the thread's events.
    pub bus: &'a Bus,
    /// The thread itself, for what the job leaves behind.
    pub thread: &'a ThreadHandle,
    /// Ephemeral events, to be published with the record.
    pub(super) ephemeral: Vec<Ephemeral>,
    /// The operation the record answers.
    pub(super) operation: Option<OperationRecord>,
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

    /// Publishes text of an open item, without storing it.
    pub fn delta(&mut self, item_id: &ItemId, text: String) {
        self.ephemeral.push(Ephemeral::Delta { item_id: item_id.clone(), text });
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
            self.operation = Some(OperationRecord {
                id: operation.id,
                digest: operation.digest,
                method: operation.method,
                answer: raw(answer)?,
            });
        }
        Ok(())
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
        let answer = claim.answer.filter(|_| wait.body.kind() != InteractionKind::ToolCall);
        self.change.settle(Settlement {
            interaction_id: interaction_id.clone(),
            outcome: claim.outcome,
            by: claim.by,
            at: self.change.at,
            answer,
        });
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
