//! Changing what waits on a branch: its words, whether it waits, and in which order.

use std::collections::BTreeSet;

use ropewalk_protocol::{BranchId, Event, MessageId, Part, QueueChange, QueueChanged, QueueEntry};

use super::{BranchState, Change, DomainError};

impl Change<'_> {
    /// Gives an input that waits other words. Writes nothing when they are the same.
    ///
    /// # Errors
    /// [`DomainError::NoBranch`], [`DomainError::NotQueued`], [`DomainError::NotEditable`].
    pub fn update_queued(
        &mut self,
        branch_id: &BranchId,
        message_id: &MessageId,
        input: Vec<Part>,
    ) -> Result<(), DomainError> {
        let (branch, entry) = self.editable(branch_id, message_id)?;
        if entry.input == input {
            return Ok(());
        }
        let entry = QueueEntry { input, ..entry.clone() };
        let edited = QueueChanged { entry: Some(entry), ..changed(branch, QueueChange::Edited) };
        self.event(Event::QueueChanged(edited));
        Ok(())
    }

    /// Takes an input back that waits.
    ///
    /// # Errors
    /// [`DomainError::NoBranch`], [`DomainError::NotQueued`], [`DomainError::NotEditable`].
    pub fn remove_queued(&mut self, branch_id: &BranchId, message_id: &MessageId) -> Result<(), DomainError> {
        self.editable(branch_id, message_id)?;
        self.take_out(branch_id, message_id);
        Ok(())
    }

    /// Takes back all that waits and may be changed, first in line first.
    ///
    /// # Errors
    /// [`DomainError::NoBranch`].
    pub fn clear_queue(&mut self, branch_id: &BranchId) -> Result<(), DomainError> {
        let entries = self.branch(branch_id)?.queue.iter().map(|input| &input.entry);
        let editable: Vec<_> = entries.filter(|entry| entry.editable).map(|entry| entry.message_id.clone()).collect();
        for message_id in editable {
            self.take_out(branch_id, &message_id);
        }
        Ok(())
    }

    /// Puts what waits into another order. Writes nothing when it is in this order already.
    ///
    /// # Errors
    /// [`DomainError::NoBranch`]; [`DomainError::OtherEntries`] when `order` does not name what waits, each once.
    pub fn reorder_queue(&mut self, branch_id: &BranchId, order: Vec<MessageId>) -> Result<(), DomainError> {
        let branch = self.branch(branch_id)?;
        let current: Vec<MessageId> = branch.queue.iter().map(|input| input.entry.message_id.clone()).collect();
        if current == order {
            return Ok(());
        }
        let named: BTreeSet<&MessageId> = order.iter().collect();
        if current.len() != order.len() || named != current.iter().collect() {
            return Err(DomainError::OtherEntries(current));
        }
        let moved = QueueChanged { order: Some(order), ..changed(branch, QueueChange::Moved) };
        self.event(Event::QueueChanged(moved));
        Ok(())
    }

    /// Takes an input out of the queue it waits in, whether it may be changed or not.
    pub(super) fn take_out(&mut self, branch_id: &BranchId, message_id: &MessageId) {
        let Some(branch) = self.state.branches.get(branch_id) else { return };
        let length = branch.branch.queue.length.saturating_sub(1);
        // A branch with nothing waiting is never held (ruling 1).
        let held = branch.branch.queue.held && length > 0;
        let message_id = Some(message_id.clone());
        let removed = QueueChanged { held, length, message_id, ..changed(branch, QueueChange::Removed) };
        self.event(Event::QueueChanged(removed));
    }

    fn branch(&self, branch_id: &BranchId) -> Result<&BranchState, DomainError> {
        self.state.branches.get(branch_id).ok_or_else(|| DomainError::NoBranch(branch_id.clone()))
    }

    fn editable(
        &self,
        branch_id: &BranchId,
        message_id: &MessageId,
    ) -> Result<(&BranchState, &QueueEntry), DomainError> {
        let branch = self.branch(branch_id)?;
        let mut entries = branch.queue.iter().map(|input| &input.entry);
        let entry = entries.find(|entry| entry.message_id == *message_id);
        let entry = entry.ok_or_else(|| DomainError::NotQueued(message_id.clone()))?;
        if !entry.editable {
            return Err(DomainError::NotEditable(message_id.clone()));
        }
        Ok((branch, entry))
    }
}

/// A change that leaves the queue as long, and as held, as it is.
fn changed(branch: &BranchState, change: QueueChange) -> QueueChanged {
    QueueChanged {
        branch_id: branch.branch.branch_id.clone(),
        held: branch.branch.queue.held,
        length: branch.branch.queue.length,
        change,
        entry: None,
        message_id: None,
        order: None,
    }
}
