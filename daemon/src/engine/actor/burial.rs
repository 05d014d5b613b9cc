//! The end of a thread that was deleted: whoever waits for it is told that there is no such thread.

use std::collections::BTreeSet;

use ropewalk_protocol::{By, ByKind, InteractionId, InteractionSettledParams, Outcome, RpcError, ThreadId, Timestamp};

use super::{Actor, Job};
use crate::engine::operations::acknowledge;

impl Actor {
    /// Waits until it is decided whether the thread goes, where that is being decided, and ends it if it does. Jobs that
    /// come meanwhile wait in their order for the same word. `is_stored` is whether its last record is.
    pub(super) async fn is_deleted(&mut self, is_stored: bool) -> bool {
        let Some(verdict) = self.live.verdict.take().filter(|_| is_stored) else { return false };
        // Whoever decides lets go of its end when nothing comes of it.
        let goes = verdict.await.unwrap_or(false);
        if goes {
            self.bury().await;
        }
        goes
    }

    async fn bury(&mut self) {
        let id = self.handle.id().clone();
        self.handle.inner.is_deleted.store(true, std::sync::atomic::Ordering::SeqCst);
        self.handle.inner.engine.forget(&id);
        for activation in std::mem::take(&mut self.live.activations).into_values() {
            if let Some(task) = activation.task {
                task.abort();
            }
        }
        self.close_interactions();
        self.jobs.close();
        let refuse = |job: Job| job.work(Err(no_thread(&id)))(Err(no_thread(&id)));
        self.held.take().into_iter().for_each(refuse);
        while let Some(job) = self.jobs.recv().await {
            refuse(job);
        }
        for attached in std::mem::take(&mut self.live.attached).into_values() {
            attached.client.thread_gone(&id);
        }
        // Those who follow find nothing more behind the last event, and follow no more.
        self.handle.bus().wake(&id);
    }

    /// What is still open where the thread's log took no more records: nobody may go on working on it.
    fn close_interactions(&mut self) {
        let at: Timestamp = self.handle.shared().clock.now();
        // Where the record that was to end them could not be stored, nobody waits for them any more; who was asked is told all
        // the same.
        let open: BTreeSet<InteractionId> = self.live.waits.keys().chain(self.live.asked.keys()).cloned().collect();
        for interaction_id in open {
            let by = By::of(ByKind::Stop);
            let outcome = Outcome::Cancelled;
            acknowledge(&mut self.live, &InteractionSettledParams { interaction_id, outcome, by, at, answer: None });
        }
    }
}

/// What everybody is told who asks for a thread that was deleted.
pub(in crate::engine) fn no_thread(id: &ThreadId) -> RpcError {
    RpcError::not_found("thread", id)
}
