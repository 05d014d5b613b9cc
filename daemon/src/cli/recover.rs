//! `ropewalk resume`, `retry` and `rebase`: a run goes on that is paused or has ended badly, and is watched.

use clap::Args;
use ropewalk_protocol::{Recovery, RunId, Unattended};

use super::{
    failure::{Exit, Failure},
    interrupts::Interrupts,
    seen::Seen,
    session::Context,
    watch::{Deciders, Watching},
};

/// Let a run go on that is paused or has ended badly, and show what comes of it
///
/// A run is paused when it has used up a budget of the settings, or when its endpoint goes while it works: it goes on under
/// its id, with its whole budget again. One that failed, was stopped or interrupted is continued by a new run: its model is
/// asked again with everything that was said and done. `--run` names one of another branch. What is shown and asked, and the exit codes, are those of `run`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk resume 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11
  ropewalk resume 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --run 0193e0c5-0b1e-7d02-8a3c-5d1f0e9b7a44")]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    pub(crate) of: RecoverArgs,
}

/// Give the input of a run that has ended badly once more, and show what comes of it
///
/// What came of the input before is not shown to the model any more; it stays in the thread's log. `--run` names one of
/// another branch. What is shown and asked, and the exit codes, are those of `run`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk retry 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11
  ropewalk retry 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --run 0193e0c5-0b1e-7d02-8a3c-5d1f0e9b7a44")]
pub(crate) struct RetryArgs {
    #[command(flatten)]
    pub(crate) of: RecoverArgs,
}

/// Put an input on the end of its branch that was to follow a message that is gone, and show what comes of it
///
/// For a run that failed with `parentMissing`, and for no other.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  ropewalk rebase 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
pub(crate) struct RebaseArgs {
    #[command(flatten)]
    pub(crate) of: RecoverArgs,
}

/// Which run, and who decides about its calls.
#[derive(Args, Clone, Debug)]
pub(crate) struct RecoverArgs {
    /// The thread of the run
    #[arg(value_name = "THREAD")]
    thread: String,
    /// Which run, where it is not the last one of the thread's original branch
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Decline every call that needs approval
    #[arg(long)]
    no_approve: bool,
}

/// Lets a run go on, in one of these ways.
pub(crate) async fn recover(how: Recovery, args: RecoverArgs, context: &Context) -> Result<Exit, Failure> {
    let mut interrupts = Interrupts::of_process();
    let seen = Seen::default();
    // Without a terminal nobody decides here: what the run does then was said when it was submitted.
    let deciders = Deciders::find(Unattended::Wait, args.no_approve, &seen, context);
    let tells_waiting = deciders.leave_it_to_others();
    let client = deciders.register(context.connecting()?, context).await?;
    let thread = client.threads().resume(&*args.thread).await?;
    // Reading begins before the request, so that no event is missed.
    let events = thread.events();
    let run_id = args.run.map(RunId::from);
    let run = match how {
        Recovery::Retry => thread.retry_run(run_id).await?,
        Recovery::Rebase => thread.rebase_run(run_id).await?,
        Recovery::Resume | Recovery::Skip => thread.resume_run(run_id).await?,
    };
    let watching = Watching {
        client: &client,
        thread: &thread,
        context,
        seen: &seen,
        tells_waiting,
        held_is_said: false,
        wants_data: false,
    };
    let exit = watching.watch(run, events, &mut interrupts).await;
    client.close().await;
    exit
}
