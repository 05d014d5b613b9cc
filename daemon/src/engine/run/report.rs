//! How whoever works for a run reports back: nothing of a run is written down but through its thread's owner.

use std::sync::{Arc, Mutex, PoisonError};

use ropewalk_protocol::{RpcError, RunId, RunOutcome};

use crate::engine::{Shared, ThreadHandle, Turn};

/// The run has ended, was taken up by another driver, or could not be stored: whoever works for it has nothing left to do.
#[derive(Clone, Copy, Debug)]
pub struct Over;

type Staged = Box<dyn FnOnce(&mut Turn<'_>) + Send>;

/// What works for one run, as its thread knows it.
pub struct Reporter {
    thread: ThreadHandle,
    run_id: RunId,
    generation: u64,
    staged: Mutex<Vec<Staged>>,
}

impl Reporter {
    /// A reporter with nothing to tell yet.
    pub fn new(thread: ThreadHandle, run_id: RunId, generation: u64) -> Self {
        Self { thread, run_id, generation, staged: Mutex::default() }
    }

    /// The run's thread.
    pub const fn thread(&self) -> &ThreadHandle {
        &self.thread
    }

    /// The run.
    pub const fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// What all threads share.
    pub fn shared(&self) -> &Arc<Shared> {
        self.thread.shared()
    }

    /// Leaves something to be written down with the next report: nobody can see it before.
    pub fn stage(&self, work: impl FnOnce(&mut Turn<'_>, &RunId) + Send + 'static) {
        let run_id = self.run_id.clone();
        let staged: Staged = Box::new(move |turn| work(turn, &run_id));
        self.staged.lock().unwrap_or_else(PoisonError::into_inner).push(staged);
    }

    /// Has the thread's owner write something down, after what is staged and in the same record. Resolves when it is
    /// durable.
    pub async fn report<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Turn<'_>, &RunId) -> T + Send + 'static,
    ) -> Result<T, Over> {
        let staged = std::mem::take(&mut *self.staged.lock().unwrap_or_else(PoisonError::into_inner));
        let (run_id, generation) = (self.run_id.clone(), self.generation);
        let reported = self.thread.turn(move |turn| {
            if !is_current(turn, &run_id, generation) {
                return Err(outdated());
            }
            for part in staged {
                part(turn);
            }
            Ok(work(turn, &run_id))
        });
        reported.await.map_err(|_| Over)
    }

    /// Has what is staged written down, where there is anything, for a wait that is to be seen.
    pub async fn write_staged(&self) -> Result<(), Over> {
        if self.staged.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            return Ok(());
        }
        self.report(|_, _| ()).await
    }

    /// Looks at the thread, or decides something that is not written down yet. What is staged stays staged.
    pub async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Turn<'_>, &RunId) -> T + Send + 'static,
    ) -> Result<T, Over> {
        let (run_id, generation) = (self.run_id.clone(), self.generation);
        let looked = self.thread.turn(move |turn| {
            if !is_current(turn, &run_id, generation) {
                return Err(outdated());
            }
            Ok(work(turn, &run_id))
        });
        looked.await.map_err(|_| Over)
    }

    /// Like [`Self::report`], without waiting, and without what is staged.
    pub async fn post(&self, work: impl FnOnce(&mut Turn<'_>, &RunId) + Send + 'static) {
        let (run_id, generation) = (self.run_id.clone(), self.generation);
        let posted = self.thread.post(move |turn| {
            if is_current(turn, &run_id, generation) {
                work(turn, &run_id);
            }
        });
        posted.await;
    }

    /// Ends the run.
    pub async fn finish(&self, outcome: RunOutcome) -> Result<(), Over> {
        self.report(move |turn, run_id| turn.finish_run(run_id, outcome)).await
    }
}

/// Whether whoever reports works for the run. What shares a record with the run's end is done before its driver is ended,
/// and would write on a run that is over.
fn is_current(turn: &Turn<'_>, run_id: &RunId, generation: u64) -> bool {
    turn.live.is_current(run_id, generation) && turn.state().runs.contains_key(run_id)
}

fn outdated() -> RpcError {
    let detail = ropewalk_protocol::ErrorDetail::Cancelled { reason: Some("outdated".to_owned()) };
    RpcError::new(detail, "The run is not driven from here any more.")
}

#[cfg(test)]
mod tests;
