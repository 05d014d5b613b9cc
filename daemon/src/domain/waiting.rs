//! How what waits on a branch changes, now and when its log is read again.

use ropewalk_protocol::{MessageId, QueueChange, QueueChanged};

use super::{QueuedInput, QueuedRun, ThreadState};

impl ThreadState {
    /// Takes in what changed about a queue. The event has been counted.
    pub(super) fn apply_queue(&mut self, change: &QueueChanged) {
        let Some(state) = self.branches.get_mut(&change.branch_id) else { return };
        self.touched.branches.insert(change.branch_id.clone());
        let touched = |message_id: &MessageId| (change.branch_id.clone(), message_id.clone());
        state.branch.queue.held = change.held;
        match change.change {
            QueueChange::Added => {
                if let Some(entry) = &change.entry {
                    let run = QueuedRun::plain(&entry.run_id);
                    let place = state.queue.back().map_or(0, |last| last.place + 1);
                    state.queue.push_back(QueuedInput { entry: entry.clone(), run, seq: self.thread.seq, place });
                    self.touched.queued.insert(touched(&entry.message_id));
                }
            }
            QueueChange::Edited => {
                if let Some(entry) = &change.entry
                    && let Some(input) = state.queue.iter_mut().find(|i| i.entry.message_id == entry.message_id)
                {
                    input.entry = entry.clone();
                    self.touched.queued.insert(touched(&entry.message_id));
                }
            }
            QueueChange::Removed | QueueChange::Started => {
                if let Some(at) =
                    state.queue.iter().position(|i| Some(&i.entry.message_id) == change.message_id.as_ref())
                    && let Some(input) = state.queue.remove(at)
                {
                    self.touched.queued.insert(touched(&input.entry.message_id));
                    if change.change == QueueChange::Removed && input.begins_a_run() {
                        self.touched.dropped.push(input.entry.run_id);
                    }
                }
            }
            QueueChange::Moved => {
                let order = change.order.as_deref().unwrap_or_default();
                let place = |input: &QueuedInput| order.iter().position(|id| *id == input.entry.message_id);
                state.queue.make_contiguous().sort_by_cached_key(|input| place(input).unwrap_or(usize::MAX));
                for (input, place) in state.queue.iter_mut().zip(0..) {
                    if std::mem::replace(&mut input.place, place) != place {
                        self.touched.queued.insert(touched(&input.entry.message_id));
                    }
                }
            }
            // What is released begins in the same record, and that is what ends a bad end.
            QueueChange::Released | QueueChange::Held => {}
        }
        state.branch.queue.length = state.queue.len() as u64;
    }

    /// Takes in what the run of an input that waits will need.
    pub(super) fn apply_queued(&mut self, queued: &QueuedRun) {
        for (id, branch) in &mut self.branches {
            let mut own = branch.queue.iter_mut().filter(|input| input.begins_a_run());
            if let Some(input) = own.find(|input| input.entry.run_id == queued.run_id) {
                input.run = queued.clone();
                self.touched.queued.insert((id.clone(), input.entry.message_id.clone()));
            }
        }
    }
}
