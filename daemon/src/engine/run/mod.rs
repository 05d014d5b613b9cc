//! Driving a run: from outside its thread, one task a run, reporting back what happened.
//!
//! A step is: build the request, stream the model, store what it said, walk its calls along the one path, store each
//! result. Whatever the driver writes goes through its thread's owner; a driver that was told to stop is dropped where
//! it stands.

mod client_call;
mod desk;
mod driver;
mod question;
mod step;
pub mod toolbox;
mod waiting;

use futures::FutureExt;
use ropewalk_protocol::{OutcomeStatus, RunError, RunErrorKind, RunId, RunOutcome};

use self::driver::Driver;
use super::{
    ThreadHandle, Turn,
    live::{Activation, Live},
};

/// Begins to drive a run from where it is.
pub fn drive(live: &mut Live, thread: &ThreadHandle, run_id: RunId) {
    live.generation += 1;
    let generation = live.generation;
    let driver = Driver::new(thread.clone(), run_id.clone(), generation);
    let task = tokio::spawn(guarded(driver));
    let activation = Activation { generation, task: Some(task.abort_handle()) };
    if let Some(Activation { task: Some(former), .. }) = live.activations.insert(run_id, activation) {
        former.abort();
    }
}

/// A driver that panics fails its run, and nothing else.
async fn guarded(driver: Driver) {
    let (thread, run_id) = (driver.thread().clone(), driver.run_id().clone());
    if std::panic::AssertUnwindSafe(driver.work()).catch_unwind().await.is_err() {
        tracing::error!(thread = %thread.id(), run = %run_id, "the driver of this run panicked");
        let outcome = failed(RunErrorKind::Internal, "A fault of the daemon ended this run.", false);
        thread.post(move |turn| finish(turn, &run_id, outcome)).await;
    }
}

/// Ends a run in the turn's record, with everything of it that is open.
pub fn finish(turn: &mut Turn<'_>, run_id: &RunId, outcome: RunOutcome) {
    turn.settle_all_claimed(run_id);
    let bus = turn.bus;
    turn.change.keep_partial(run_id, &|item_id| bus.text(item_id));
    turn.change.finish_run(run_id, outcome);
}

/// The outcome of a run that failed.
pub fn failed(kind: RunErrorKind, message: impl Into<String>, retryable: bool) -> RunOutcome {
    RunOutcome {
        status: OutcomeStatus::Failed,
        text: None,
        structured: None,
        reason: None,
        by: None,
        error: Some(RunError { kind, message: message.into(), retryable, retry_after_ms: None, provider: None }),
    }
}
