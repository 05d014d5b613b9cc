//! Changing what waits on a branch.

use ropewalk_protocol::{
    BranchId, ErrorDetail, MessageId, Part, Queue, QueueEdited, RpcError, limits::MAX_MESSAGE_BYTES,
};

use super::refusal;
use crate::{
    catalogue::Operation,
    domain::{Change, DomainError, QueuedInput},
    engine::{ThreadHandle, Turn},
    tools::json::bytes_of,
};

/// Bytes of all that waits on one branch, as JSON: `queue/list` shows it in one line, and it is held in memory.
const QUEUE_BYTES: u64 = MAX_MESSAGE_BYTES - 32_768;

/// Bytes an entry of a queue has beside its input, with some to spare.
const ENTRY_BYTES: u64 = 1_024;

/// A change of what waits.
#[derive(Clone, Debug)]
pub enum QueueEdit {
    /// Other words for an input.
    Update(MessageId, Vec<Part>),
    /// An input is taken back.
    Remove(MessageId),
    /// All of them are.
    Clear,
    /// Another order of all of them.
    Reorder(Vec<MessageId>),
}

impl ThreadHandle {
    /// What waits on a branch.
    ///
    /// # Errors
    /// `notFound` for an unknown branch.
    pub async fn queue(&self, branch_id: BranchId) -> Result<Queue, RpcError> {
        self.look(move |turn| shown(turn, &branch_id)).await
    }

    /// Changes what waits on a branch.
    ///
    /// # Errors
    /// `notFound` for an unknown branch or an input that does not wait there (any more), `invalidState` for one that may
    /// not be changed, `overloaded` for too many bytes, `conflict` for an order of other inputs, `unavailable`.
    pub async fn edit_queue(
        &self,
        branch_id: BranchId,
        edit: QueueEdit,
        operation: Option<Operation>,
    ) -> Result<QueueEdited, RpcError> {
        self.turn(move |turn| {
            let header = turn.state().thread.clone();
            let size = match &edit {
                QueueEdit::Update(message_id, input) => bytes_with(turn, &branch_id, Some(message_id), input),
                QueueEdit::Remove(_) | QueueEdit::Clear | QueueEdit::Reorder(_) => 0,
            };
            check_bytes(size)?;
            perform(&mut turn.change, &branch_id, edit).map_err(|error| refusal(error, &header))?;
            let Queue { entries, held } = shown(turn, &branch_id)?;
            let answer = QueueEdited { entries, held, replayed: false };
            turn.answers(operation, &answer)?;
            Ok(answer)
        })
        .await
    }
}

/// An input that has to wait must fit behind what waits already. One alone always does.
///
/// # Errors
/// `overloaded`.
pub fn check_room(turn: &Turn<'_>, branch_id: &BranchId, input: &[Part]) -> Result<(), RpcError> {
    check_bytes(bytes_with(turn, branch_id, None, input))
}

fn perform(change: &mut Change<'_>, branch_id: &BranchId, edit: QueueEdit) -> Result<(), DomainError> {
    match edit {
        QueueEdit::Update(message_id, input) => change.update_queued(branch_id, &message_id, input),
        QueueEdit::Remove(message_id) => change.remove_queued(branch_id, &message_id),
        QueueEdit::Clear => change.clear_queue(branch_id),
        QueueEdit::Reorder(order) => change.reorder_queue(branch_id, order),
    }
}

fn shown(turn: &Turn<'_>, branch_id: &BranchId) -> Result<Queue, RpcError> {
    let branch = turn.state().branches.get(branch_id).ok_or_else(|| RpcError::not_found("branch", branch_id))?;
    let entries = branch.queue.iter().map(|input| input.entry.clone()).collect();
    Ok(Queue { entries, held: branch.branch.queue.held })
}

/// The bytes that wait on a branch with one more input, or with one in the place of another. Nothing where it would wait
/// alone, or where there is nothing it could take the place of.
fn bytes_with(turn: &Turn<'_>, branch_id: &BranchId, replaced: Option<&MessageId>, input: &[Part]) -> u64 {
    let Some(branch) = turn.state().branches.get(branch_id) else { return 0 };
    let found = branch.queue.iter().filter(|waiting| Some(&waiting.entry.message_id) == replaced).count();
    if replaced.is_some() && found == 0 {
        return 0;
    }
    let is_other = |waiting: &&QueuedInput| Some(&waiting.entry.message_id) != replaced;
    let others = branch.queue.iter().filter(is_other).map(|waiting| bytes_of(&waiting.entry.input) + ENTRY_BYTES);
    match others.sum() {
        0 => 0,
        taken => taken + bytes_of(&input) + ENTRY_BYTES,
    }
}

fn check_bytes(wanted: u64) -> Result<(), RpcError> {
    if wanted <= QUEUE_BYTES {
        return Ok(());
    }
    let detail = ErrorDetail::Overloaded { limit: QUEUE_BYTES, what: "queueBytes".to_owned() };
    let message = format!(
        "With this input {wanted} bytes would wait on this branch; at most {QUEUE_BYTES} are allowed. Wait until some of \
         it has begun."
    );
    Err(RpcError::retryable(detail, message, Some(1_000)))
}
