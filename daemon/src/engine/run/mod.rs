//! Driving a run: from outside its thread, one task a run, reporting back what happened.
//!
//! A step is: build the request, stream the model, store what it said, walk its calls along the one path, store each
//! result. Whatever the driver writes goes through its thread's owner, by its [`Reporter`]; a driver that was told to stop
//! is dropped where it stands.
//!
//! In the order of the work: [`driver`] takes one step after another and works off the calls of each, every call at a
//! [`desk`] of its own; [`app_tools`] are the tools that are ours. [`step`] reads from top to bottom what becomes of one
//! request. It passes the [`gate`] (budgets, an endpoint), and [`request`] builds it out of [`workspace`], [`toolbox`] and
//! [`output`] for the [`room`] its model has; what does not fit is made shorter by [`compact`], with what [`summarise`]
//! says. [`ask`] sends it and shows what comes. Where that failed, [`shortening`] makes a shorter request and [`retry`]
//! waits for the same one; where it came whole and is not enough, [`shortfall`] says what follows. [`loops`] notices a run
//! that repeats itself.

mod app_tools;
mod ask;
mod before;
mod client_call;
mod compact;
mod desk;
mod driver;
mod gate;
mod getting_ready;
mod loops;
mod output;
mod party;
mod passing;
mod report;
pub mod request;
mod retry;
pub mod room;
mod server_call;
mod shortening;
mod shortfall;
mod step;
mod summarise;
pub mod toolbox;
mod waiting;
pub mod workspace;

use futures::FutureExt;
use ropewalk_protocol::{By, OutcomeStatus, RunError, RunErrorKind, RunId, RunOutcome};

use self::{driver::Driver, report::Reporter};
use super::{
    ThreadHandle,
    live::{Activation, Live},
};
use crate::domain::ThreadState;

/// Begins to drive a run from where it is in `state`, unless the daemon goes: the next one drives it then.
pub fn drive(live: &mut Live, state: &ThreadState, thread: &ThreadHandle, run_id: RunId) {
    if live.is_parked {
        return;
    }
    live.generation += 1;
    let generation = live.generation;
    let reporter = Reporter::new(thread.clone(), run_id.clone(), generation);
    let driver = Driver { reporter, unfinished: driver::unfinished_calls(state, &run_id) };
    let task = tokio::spawn(guarded(driver));
    let activation = Activation { generation, task: Some(task.abort_handle()) };
    if let Some(Activation { task: Some(former), .. }) = live.activations.insert(run_id, activation) {
        former.abort();
    }
}

/// A driver that panics fails its run, and nothing else.
async fn guarded(driver: Driver) {
    let (thread, run_id) = (driver.reporter.thread().clone(), driver.reporter.run_id().clone());
    if std::panic::AssertUnwindSafe(driver.work()).catch_unwind().await.is_err() {
        tracing::error!(thread = %thread.id(), run = %run_id, "the driver of this run panicked");
        let outcome = failed(RunErrorKind::Internal, "A fault of the daemon ended this run.", false);
        thread.post(move |turn| turn.finish_run(&run_id, outcome)).await;
    }
}

/// The outcome of a run that failed.
pub fn failed(kind: RunErrorKind, message: impl Into<String>, retryable: bool) -> RunOutcome {
    failed_by(RunError { kind, message: message.into(), retryable, retry_after_ms: None, provider: None })
}

/// The outcome of a run that failed with this error.
fn failed_by(error: RunError) -> RunOutcome {
    let status = OutcomeStatus::Failed;
    RunOutcome { status, text: None, structured: None, reason: None, by: None, error: Some(error) }
}

/// The outcome of a run that was stopped; `reason` where it was not by saying so.
pub fn stopped(by: By, reason: Option<&str>) -> RunOutcome {
    RunOutcome {
        status: OutcomeStatus::Stopped,
        text: None,
        structured: None,
        reason: reason.map(ToOwned::to_owned),
        by: Some(by),
        error: None,
    }
}
