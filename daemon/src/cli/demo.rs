//! `ropewalk demo`: what Ropewalk is for, in one run, without a key, a network or a trace left behind.

mod bell;
mod narrator;

use clap::Args;
use ropewalk::Approval;
use ropewalk_protocol::RunOutcome;

use self::narrator::Narrator;
use super::{
    approve::Approver,
    failure::{Exit, Failure},
    follow::{Ending, Stopper, Which, follow},
    interrupts::Interrupts,
    out::Style,
    person::Person,
    seen::Seen,
    session::Context,
    text::printable,
    watch::why,
};
use crate::{
    embed::{EmbedConfig, EmbedHome, Embedded, embed},
    start::SecretChoice,
};

const PROMPT: &str = "say Aye, six bells it is.\ncall ring_bell {\"bells\":6}";
/// How long the demo's daemon gives what is under way at the end: there is nothing.
const GRACE_MS: u64 = 1_000;

/// Show one run with a tool call and an approval
///
/// A daemon of its own on a temporary home, a client with one tool, and you. Needs no key and no network.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  ropewalk demo\n  ropewalk demo --yes")]
pub(crate) struct DemoArgs {
    /// Accept the call without being asked
    #[arg(long)]
    yes: bool,
}

/// Runs it.
pub(crate) async fn run(args: DemoArgs, context: &Context) -> Result<Exit, Failure> {
    let mut interrupts = Interrupts::of_process();
    let temporary = tempfile::Builder::new().prefix("ropewalk-demo-").tempdir();
    let temporary =
        temporary.map_err(|error| Failure::Failed(format!("There is no room for a temporary home: {error}.")))?;
    // The daemon makes the home itself, with the permissions a home has.
    let home = EmbedHome::Directory(temporary.path().join("home"));
    let config = EmbedConfig { home, listen: false, secret_store: SecretChoice::File };
    let embedded = embed(config).await?;
    introduce(context);
    let seen = Seen::default();
    let approver = approver(&args, &seen, context);
    let nobody_asked = matches!(approver, Approver::Nobody(_));
    let ending = play(approver, &seen, &embedded, &mut interrupts, context).await;
    embedded.stop(GRACE_MS).await;
    let exit = match ending? {
        Ending::Left => return Ok(Exit::LEFT),
        Ending::Paused => return Ok(Exit::PAUSED),
        Ending::Ended(outcome) => end(&outcome, context),
    };
    say_what_next(nobody_asked, context);
    Ok(exit)
}

/// Who decides about the call.
fn approver(args: &DemoArgs, seen: &Seen, context: &Context) -> Approver {
    match Person::find(&context.out) {
        _ if args.yes => Approver::Everything,
        Some(person) => Approver::Person(person, seen.clone()),
        None => Approver::Nobody(None),
    }
}

async fn play(
    approver: Approver,
    seen: &Seen,
    embedded: &Embedded,
    interrupts: &mut Interrupts,
    context: &Context,
) -> Result<Ending, Failure> {
    let out = &context.out;
    let told = out.clone();
    let decide = move |approval: Approval| {
        let (approver, out) = (approver.clone(), told.clone());
        async move { approver.decide(&approval, &out).await }
    };
    let client = embedded.connect().name("demo").on_approval(decide).await?;
    let thread = client.threads().start().title("The ship's bell").tool(bell::ring_bell(out)).await?;
    let mut narrator = Narrator::new(out, seen);
    let run = thread.run(PROMPT).submit().await?;
    let stopper = Stopper::new(&client, Which::of(&run, thread.id()), out);
    let ending = follow(run, stopper, interrupts, |event| narrator.show(event)).await;
    client.close().await;
    ending
}

fn introduce(context: &Context) {
    let out = &context.out;
    out.line(&out.paint(Style::Bold, "One run of Ropewalk, in a daemon of its own on a temporary home."));
    let explained = "\
No model is at work: the built-in scripted endpoint does what the lines of a message say,
the same way every time. `call TOOL {…}` makes it call a tool, as a model would.
";
    out.line(&out.paint(Style::Dim, explained));
}

fn end(outcome: &RunOutcome, context: &Context) -> Exit {
    if let Some(why) = why(outcome) {
        context.out.line(&format!("\n{}", printable(&why)));
    }
    Exit::of_run(outcome.status)
}

fn say_what_next(nobody_asked: bool, context: &Context) {
    let out = &context.out;
    let program = context.environment.program();
    let accepted = nobody_asked.then(|| ("the same with the call accepted", format!("{program} demo --yes")));
    let next = [
        ("a run of your own", format!("{program} run \"say hello\"")),
        ("a real model", format!("{program} endpoint add --help")),
        ("a tool of your own, in Rust", "docs/quickstart-rust.md".to_owned()),
    ];
    out.line(&format!("\n{}", out.paint(Style::Bold, "What next")));
    for (what, how) in accepted.into_iter().chain(next) {
        out.line(&format!("  {what:31}  {}", out.paint(Style::Cyan, &how)));
    }
}
