//! Replacing a message: an input that takes the place of an earlier one, now or when its turn comes.

use ropewalk_protocol::{
    BranchId, Delivery, Event, Item, ItemBody, ItemState, Mode, OutcomeStatus, QueueEntry, RunError, RunErrorKind,
    RunOutcome,
};
use serde::{Deserialize, Serialize};

use super::{BranchError, Change, DomainError, Link, QueuedInput, Submission, Submitted, ThreadState};

/// The message an input takes the place of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replaced {
    /// The message: one in the user's place.
    pub message: Link,
    /// The one before it, which the input follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Link>,
    /// Whether it has left the chain while the input waited.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_gone: bool,
}

impl Change<'_> {
    /// Stores an input that takes the place of a message of its branch's chain. On a branch where something runs or waits
    /// it queues as any other input does, and what follows the message stays until its turn comes.
    ///
    /// `replaced` was read when the branch had `revision`: while that is the same, the message is still in the chain.
    ///
    /// # Errors
    /// [`BranchError::Revision`] when the chain has to be read again; [`BranchError::NotInChain`] when an input that waits
    /// takes the message out of the chain first; [`DomainError::NoBranch`], [`DomainError::QueueFull`].
    pub fn replace(
        &mut self,
        submission: Submission,
        replaced: Replaced,
        revision: u64,
    ) -> Result<Submitted, BranchError> {
        let Some(state) = self.state.branches.get(&submission.branch_id) else {
            return Err(DomainError::NoBranch(submission.branch_id).into());
        };
        if state.branch.revision != revision {
            return Err(BranchError::Revision(Box::new(state.branch.clone())));
        }
        let mut before = state.queue.iter().filter_map(|input| input.run.replaces.as_ref());
        if before.any(|other| !other.is_gone && other.message.depth <= replaced.message.depth) {
            return Err(BranchError::NotInChain(Box::new(state.branch.clone())));
        }
        Ok(self.enter(submission, Mode::Replace, Some(replaced))?)
    }

    /// The turn of an input has come whose message has left the chain: its run says so, and the input joins no chain.
    pub(super) fn fail_without_parent(&mut self, branch_id: &BranchId, entry: QueueEntry) {
        let QueueEntry { run_id, message_id, input: content, sender, .. } = entry;
        let item = Item {
            item_id: self.id(),
            run_id: Some(run_id.clone()),
            branch_id: branch_id.clone(),
            state: ItemState::Completed,
            started_at: self.at,
            ended_at: Some(self.at),
            summary: None,
            severity: None,
            body: ItemBody::UserMessage { message_id, content, sender, delivery: Delivery::Turn },
        };
        self.event(Event::ItemCompleted { item });
        self.finish_run(&run_id, parent_missing(), &|_| None);
    }
}

impl ThreadState {
    /// The chain of a branch ends at `head` now: inputs that wait to take the place of a message after it have lost it.
    pub(super) fn lose_replaced(&mut self, branch_id: &BranchId, head: Option<&Link>) {
        let Some(state) = self.branches.get_mut(branch_id) else { return };
        let is_cut = |message: &Link| head.is_none_or(|head| message.depth > head.depth);
        for QueuedInput { entry, run, .. } in &mut state.queue {
            if let Some(replaced) = run.replaces.as_mut().filter(|replaced| is_cut(&replaced.message)) {
                replaced.is_gone = true;
                self.touched.queued.insert((branch_id.clone(), entry.message_id.clone()));
            }
        }
    }
}

fn parent_missing() -> RunOutcome {
    RunOutcome {
        status: OutcomeStatus::Failed,
        text: None,
        structured: None,
        reason: None,
        by: None,
        error: Some(RunError {
            kind: RunErrorKind::ParentMissing,
            message: "The message this input was to take the place of has left the chain of its branch meanwhile. The \
                      input was not said to the model; submit it again where it belongs now."
                .to_owned(),
            retryable: false,
            retry_after_ms: None,
            provider: None,
        }),
    }
}
