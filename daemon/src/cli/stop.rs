//! `ropewalk stop` and `ropewalk skip`: ending a run from another terminal, and letting go on what a bad end holds.

use clap::Args;
use ropewalk::Client;
use ropewalk_protocol::{
    BranchId, Run, RunId, RunList, RunListParams, RunSkip, RunSkipParams, RunStatus, RunStop, RunStopParams, ThreadId,
};

use super::{
    failure::{Exit, Failure},
    session::Context,
};

/// Stop a run, wherever it was started
///
/// Stops the run that works, waits or is paused on the thread's original branch, or the one that `--run` names, and says
/// which that was. With nothing to stop, nothing happens; runs on other branches are named.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk stop 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11
  ropewalk stop 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --run 0193e0c5-0b1e-7d02-8a3c-5d1f0e9b7a44")]
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
    /// The branch, where it is not the thread's original one
    #[arg(long, value_name = "ID")]
    branch: Option<String>,
}

/// Runs `stop`.
pub(crate) async fn stop(args: StopArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let thread_id = ThreadId::from(args.thread);
    let run_id = args.run.map(RunId::from);
    let before = if context.global.json { Vec::new() } else { under_way(&client, &thread_id).await? };
    let params =
        RunStopParams { thread_id: thread_id.clone(), branch_id: None, run_id: run_id.clone(), operation_id: None };
    let program = context.environment.program();
    context.show::<RunStop>(&client, params, |_| stopped(&before, &thread_id, run_id.as_ref(), program)).await
}

/// The runs of a thread that have begun and not ended.
async fn under_way(client: &Client, thread_id: &ThreadId) -> Result<Vec<Run>, Failure> {
    let states = Some(vec![RunStatus::Running, RunStatus::Waiting, RunStatus::Paused]);
    let params =
        RunListParams { thread_id: Some(thread_id.clone()), states, limit: Some(1_000), ..RunListParams::default() };
    Ok(client.call::<RunList>(params).await?.items)
}

/// What was stopped of the runs that were under way; where it was none of them, those that can be.
fn stopped(before: &[Run], thread_id: &ThreadId, run_id: Option<&RunId>, program: &str) -> String {
    let is_meant = |run: &&Run| match run_id {
        Some(run_id) => run.run_id == *run_id,
        None => run.branch_id.as_str() == thread_id.as_str(),
    };
    if let Some(run) = before.iter().find(is_meant) {
        return format!("Stopped the run {}, which was {}.", run.run_id, run.state.word());
    }
    let other = |run: &Run| {
        let (run_id, branch_id) = (&run.run_id, &run.branch_id);
        format!("\nA run is under way on the branch {branch_id}: `{program} stop {thread_id} --run {run_id}` stops it.")
    };
    let others: String = before.iter().map(other).collect();
    format!("Nothing runs there.{others}")
}

/// Runs `skip`.
pub(crate) async fn skip(args: SkipArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let (thread_id, branch_id) = (ThreadId::from(args.thread), args.branch.map(BranchId::from));
    let params = RunSkipParams { thread_id, branch_id, operation_id: None };
    let words = |released, began| match (released, began) {
        (false, _) => "Nothing is held there.",
        (true, true) => "The next input has begun.",
        (true, false) => "What waits is no longer held.",
    };
    context.show::<RunSkip>(&client, params, |result| words(result.released, result.run.is_some()).to_owned()).await
}
