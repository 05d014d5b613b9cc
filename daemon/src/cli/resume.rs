//! `ropewalk resume`: a paused run goes on, and is watched.

use clap::Args;
use ropewalk_protocol::{RunId, Unattended};

use super::{
    failure::{Exit, Failure},
    interrupts::Interrupts,
    seen::Seen,
    session::Context,
    watch::{Deciders, Watching},
};

/// Let a paused run go on, and show what comes of it
///
/// A run is paused when it has used up a budget of the settings, or when its endpoint goes while it works. It goes on under
/// its id, with its whole budget again. What is shown and asked, and the exit codes, are those of `run`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  ropewalk resume 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
pub(crate) struct ResumeArgs {
    /// The thread whose run is paused
    #[arg(value_name = "THREAD")]
    thread: String,
    /// Which run, where it is not the one of the thread's original branch
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Decline every call that needs approval
    #[arg(long)]
    no_approve: bool,
}

/// Runs it.
pub(crate) async fn run(args: ResumeArgs, context: &Context) -> Result<Exit, Failure> {
    let mut interrupts = Interrupts::of_process();
    let seen = Seen::default();
    // Without a terminal nobody decides here: what the run does then was said when it was submitted.
    let deciders = Deciders::find(Unattended::Wait, args.no_approve, &seen, context);
    let tells_waiting = deciders.leave_it_to_others();
    let client = deciders.register(context.connecting()?, context).await?;
    let thread = client.threads().resume(&*args.thread).await?;
    // Reading begins before the request, so that no event is missed.
    let events = thread.events();
    let run = thread.resume_run(args.run.map(RunId::from)).await?;
    let watching =
        Watching { client: &client, thread: &thread, context, seen: &seen, tells_waiting, wants_data: false };
    let exit = watching.watch(run, events, &mut interrupts).await;
    client.close().await;
    exit
}
