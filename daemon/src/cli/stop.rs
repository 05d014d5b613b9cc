//! `ropewalk stop` and `ropewalk skip`: ending a run from another terminal, and letting go on what a bad end holds.

use clap::Args;
use ropewalk_protocol::{RunId, RunSkip, RunSkipParams, RunStop, RunStopParams, ThreadId};

use super::{
    failure::{Exit, Failure},
    session::Context,
};

/// Stop a run, wherever it was started
///
/// Stops the run that works, waits or is paused in the thread. With nothing to stop, nothing happens.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  ropewalk stop 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
pub(crate) struct StopArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
    /// Which run, where it is not the one of the thread's original branch
    #[arg(long, value_name = "ID")]
    run: Option<String>,
}

/// Let the inputs go on that wait behind a bad end
///
/// After a run that failed or was stopped, inputs that wait behind it are held until somebody has looked. This leaves the
/// bad end as it is, and the first of them begins.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  ropewalk skip 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
pub(crate) struct SkipArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
}

/// Runs `stop`.
pub(crate) async fn stop(args: StopArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let params = RunStopParams {
        thread_id: ThreadId::from(args.thread),
        branch_id: None,
        run_id: args.run.map(RunId::from),
        operation_id: None,
    };
    context.show::<RunStop>(&client, params, |_| "Nothing runs there any more.".to_owned()).await
}

/// Runs `skip`.
pub(crate) async fn skip(args: SkipArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let params = RunSkipParams { thread_id: ThreadId::from(args.thread), branch_id: None, operation_id: None };
    let words = |released, began| match (released, began) {
        (false, _) => "Nothing is held there.",
        (true, true) => "The next input has begun.",
        (true, false) => "What waits is no longer held.",
    };
    context.show::<RunSkip>(&client, params, |result| words(result.released, result.run.is_some()).to_owned()).await
}
