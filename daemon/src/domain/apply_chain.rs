//! How the chain of a branch changes: by messages that join, by a head that is moved, by a summary.

use std::collections::BTreeSet;

use ropewalk_protocol::{BranchId, Role, RunId, Seq};

use super::{Joined, Link, RunInput, Summary, ThreadState};

impl ThreadState {
    pub(super) fn apply_compacted(&mut self, branch_id: &BranchId, summary: Summary) {
        let Some(state) = self.branches.get_mut(branch_id) else { return };
        state.summary = Some(summary);
        self.touched.branches.insert(branch_id.clone());
    }

    pub(super) fn apply_joined(&mut self, branch_id: &BranchId, messages: &[Joined], parent: Option<&Link>, n: Seq) {
        let Some(last) = messages.last() else { return };
        let depth = parent.map_or(0, |parent| parent.depth + 1) + messages.len() as u64 - 1;
        if let Some(state) = self.branches.get_mut(branch_id) {
            // A chain that goes on from before the end of what was summarised has a past of its own.
            let reaches = |summary: &Summary| parent.is_some_and(|parent| parent.depth >= summary.covers.depth);
            state.summary = state.summary.take().filter(reaches);
            state.head = Some(Link { message_id: last.message_id.clone(), n, depth });
            state.branch.head_message_id = Some(last.message_id.clone());
            self.touched.branches.insert(branch_id.clone());
        }
        let first_depth = depth + 1 - messages.len() as u64;
        for (joined, depth) in messages.iter().zip(first_depth..).filter(|(joined, _)| joined.role == Role::User) {
            self.input_joined(joined, &Link { message_id: joined.message_id.clone(), n, depth });
        }
        let run_ids: BTreeSet<&RunId> = messages.iter().filter_map(|joined| joined.run_id.as_ref()).collect();
        for run_id in run_ids {
            if let Some(state) = self.run_mut(run_id)
                && state.batch.as_ref().is_some_and(|batch| messages.iter().any(|m| m.message_id == batch.message_id))
            {
                let batch = state.batch.take();
                state.repeats.step_is_over();
                self.touched.forget_batch(run_id, batch.as_ref());
            }
        }
    }

    /// Where it is the input of a run that joins, its run knows its place from now on.
    fn input_joined(&mut self, joined: &Joined, link: &Link) {
        let Some(run_id) = &joined.run_id else { return };
        let place = |input: &mut Option<RunInput>| {
            if let Some(input) = input.as_mut().filter(|input| joined.items.contains(&input.item_id)) {
                input.link = Some(link.clone());
            }
        };
        self.with_run(run_id, |state| place(&mut state.input));
        self.with_bad_end(run_id, |end| place(&mut end.input));
    }
}
