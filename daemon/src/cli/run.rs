//! `ropewalk run`: one run from a terminal, a script or a pipe.

use std::{
    io::{self, Read},
    path::PathBuf,
};

use clap::Args;
use ropewalk::{Approval, Client, EventStream, Part, Questions, Run, Thread, image_file};
use ropewalk_protocol::{
    ListParams, OutcomeStatus, ProjectList, QueueListParams, RunErrorKind, RunOutcome, RunParams, RunRead,
    ThreadListParams, Unattended,
};

use super::{
    approve::Approver,
    failure::{Exit, Failure},
    follow::{Ending, Stopper, Which, follow, follow_wire},
    interrupts::Interrupts,
    out::Style,
    person::Person,
    question::Answerer,
    seen::Seen,
    session::{Context, named},
    text::printable,
    transcript::Transcript,
    words::words,
};

const NO_TERMINAL: &str = "there is no terminal to ask at";
const NO_APPROVE: &str = "the run was started with --no-approve";

/// Run a prompt and show what comes of it
///
/// The answer goes to stdout; tool calls, questions and everything else to stderr. At a terminal, approvals and questions
/// are asked here. Without one they are declined, and stderr says so. Ctrl-C stops the run; a second one leaves, and the
/// run's fate is in the thread.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk run \"say hello\"
  ropewalk run --continue \"And in French?\"
  git diff | ropewalk run --project . -
  ropewalk run --image shot.png \"What is wrong here?\"
  ropewalk run --json \"say hello\" | tail -n 1

Exit codes:
  0    the run completed
  1    the run failed or was interrupted, or the command did not work
  2    the command line was wrong
  3    the run was stopped
  4    the daemon cannot be reached
  130  a second Ctrl-C left while the run went on")]
pub(crate) struct RunArgs {
    /// What is said; `-` reads it from stdin
    #[arg(required_unless_present = "images")]
    prompt: Option<String>,
    /// An image that goes with it: PNG, JPEG, GIF or WebP of at most 5 MiB; given once for each
    #[arg(long = "image", value_name = "FILE")]
    images: Vec<PathBuf>,
    /// The project of a new thread: its name or id, or a directory such as `.`, which gets a project of its own
    #[arg(long, value_name = "PROJECT", conflicts_with_all = ["thread", "newest"])]
    project: Option<String>,
    /// The title of a new thread
    #[arg(long, conflicts_with_all = ["thread", "newest"])]
    title: Option<String>,
    /// The endpoint of this run: its name or id
    #[arg(long, value_name = "ENDPOINT")]
    endpoint: Option<String>,
    /// Go on in this thread
    #[arg(long, value_name = "ID", conflicts_with = "newest")]
    thread: Option<String>,
    /// Go on in the thread that was active last
    #[arg(long = "continue")]
    newest: bool,
    /// What happens to approvals and questions nobody can answer: they end, or the run waits for somebody to attach
    #[arg(long, value_name = "decline|wait", default_value = "decline", value_parser = words::<Unattended>(&["decline", "wait"]))]
    unattended: Unattended,
    /// Decline every call that needs approval
    #[arg(long)]
    no_approve: bool,
}

/// Runs it.
pub(crate) async fn run(args: RunArgs, context: &Context) -> Result<Exit, Failure> {
    let input = input(&args).await?;
    let mut interrupts = Interrupts::of_process();
    let seen = Seen::default();
    let (approver, answerer) = deciders(&args, &seen, context);
    let tells_waiting = approver.is_none();
    let client = connect(&args, context, approver, answerer).await?;
    let thread = thread(&args, &client).await?;
    let mut request = thread.run(input).unattended(args.unattended);
    if let Some(wanted) = &args.endpoint {
        let endpoints = client.endpoints().list(ListParams { cursor: None, limit: Some(1_000) }).await?.items;
        let endpoint =
            named("endpoint", wanted, &endpoints, |endpoint| &endpoint.endpoint_id, |endpoint| &endpoint.name)?;
        request = request.endpoint(endpoint.endpoint_id.clone());
    }
    // Reading begins before the request, so that no event is missed.
    let events = thread.events();
    let run = request.submit().await?;
    let ending = if context.global.json {
        watch_wire(events, run, &thread, &client, &mut interrupts, &seen, context).await
    } else {
        drop(events);
        watch(run, &thread, &client, &mut interrupts, Transcript::new(&context.out, &seen, tells_waiting), context)
            .await
    };
    client.close().await;
    ending
}

/// What is submitted. Looked at before a thread is started, which would stay behind with nothing in it.
async fn input(args: &RunArgs) -> Result<Vec<Part>, Failure> {
    let mut input = Vec::new();
    if let Some(argument) = &args.prompt {
        input.push(Part::text(prompt(argument)?));
    }
    for file in &args.images {
        input.push(image_file(file).await.map_err(|error| Failure::Usage(error.to_string()))?);
    }
    Ok(input)
}

fn prompt(argument: &str) -> Result<String, Failure> {
    if argument != "-" {
        return if argument.trim().is_empty() {
            Err(Failure::Usage("The prompt is empty. Say something, or read it from stdin with `-`.".to_owned()))
        } else {
            Ok(argument.to_owned())
        };
    }
    let mut prompt = String::new();
    io::stdin()
        .lock()
        .read_to_string(&mut prompt)
        .map_err(|error| Failure::Usage(format!("The prompt cannot be read from stdin: {error}.")))?;
    if prompt.trim().is_empty() {
        return Err(Failure::Usage("There was nothing on stdin to run.".to_owned()));
    }
    Ok(prompt)
}

/// Who decides and answers. Nobody, when a run may wait and there is no terminal here: then whoever attaches does.
fn deciders(args: &RunArgs, seen: &Seen, context: &Context) -> (Option<Approver>, Option<Answerer>) {
    let person = Person::find(&context.out);
    let waits = args.unattended == Unattended::Wait;
    let approver = match (&person, args.no_approve) {
        (_, true) => Some(Approver::Nothing(NO_APPROVE)),
        (Some(person), false) => Some(Approver::Person(person.clone(), seen.clone())),
        (None, false) => (!waits).then_some(Approver::Nothing(NO_TERMINAL)),
    };
    let answerer = match person {
        Some(person) => Some(Answerer::Person(person, seen.clone())),
        None => (!waits).then_some(Answerer::Nobody(NO_TERMINAL)),
    };
    (approver, answerer)
}

async fn connect(
    args: &RunArgs,
    context: &Context,
    approver: Option<Approver>,
    answerer: Option<Answerer>,
) -> Result<Client, Failure> {
    let mut connect = context.connecting()?;
    if let Some(approver) = approver {
        let out = context.out.clone();
        connect = connect.on_approval(move |approval: Approval| {
            let (approver, out) = (approver.clone(), out.clone());
            async move { approver.decide(&approval, &out).await }
        });
    }
    if let Some(answerer) = answerer {
        let out = context.out.clone();
        connect = connect.on_input(move |questions: Questions| {
            let (answerer, out) = (answerer.clone(), out.clone());
            async move { answerer.answer(&questions, &out).await }
        });
    }
    if let Some(directory) = args.project.as_deref().filter(|project| is_directory(project)) {
        connect = connect.workspace(directory);
    }
    Ok(connect.await?)
}

/// Whether a project was named by a directory.
fn is_directory(project: &str) -> bool {
    project == "." || project == ".." || project.contains(std::path::is_separator)
}

async fn thread(args: &RunArgs, client: &Client) -> Result<Thread, Failure> {
    if let Some(id) = &args.thread {
        return Ok(client.threads().resume(&**id).await?);
    }
    if args.newest {
        let params = ThreadListParams { limit: Some(1), ..ThreadListParams::default() };
        let newest = client.threads().list(params).await?.items.pop();
        let newest = newest
            .ok_or_else(|| Failure::Failed("There is no thread to continue yet. Leave --continue out.".to_owned()))?;
        return Ok(client.threads().resume(newest.thread_id).await?);
    }
    let mut start = client.threads().start();
    if let Some(title) = &args.title {
        start = start.title(title);
    }
    if let Some(wanted) = args.project.as_deref().filter(|project| !is_directory(project)) {
        let projects = client.call::<ProjectList>(ListParams { cursor: None, limit: Some(1_000) }).await?.items;
        let project = named("project", wanted, &projects, |project| &project.project_id, |project| &project.name)?;
        start = start.project(project.project_id.clone());
    }
    Ok(start.await?)
}

async fn watch(
    run: Run,
    thread: &Thread,
    client: &Client,
    interrupts: &mut Interrupts,
    mut transcript: Transcript,
    context: &Context,
) -> Result<Exit, Failure> {
    let out = &context.out;
    let which = Which::of(&run, thread.id());
    say_if_queued(&which, client, context).await?;
    let stopper = Stopper::new(client, which.clone(), out);
    let ending = follow(run, stopper, interrupts, |event| transcript.show(event)).await;
    let goes_on = format!("thread {}; `ropewalk run --continue \"…\"` goes on here", which.thread_id);
    match ending? {
        Ending::Ended(outcome) => {
            if let Some(why) = why(&outcome) {
                out.note(&format!("{} {}", out.paint_note(Style::Red, "✗"), printable(&why)));
            }
            if outcome.error.as_ref().is_some_and(|error| error.kind == RunErrorKind::NoEndpoint) {
                out.note("  `ropewalk endpoint list` shows the endpoints, `ropewalk endpoint use NAME` chooses one");
            }
            if out.notes_are_read() {
                out.aside(&goes_on);
            }
            Ok(Exit::of_run(outcome.status))
        }
        Ending::Left => {
            out.aside(&format!("Left the run to itself: {goes_on}"));
            Ok(Exit::LEFT)
        }
    }
}

async fn watch_wire(
    events: EventStream,
    run: Run,
    thread: &Thread,
    client: &Client,
    interrupts: &mut Interrupts,
    seen: &Seen,
    context: &Context,
) -> Result<Exit, Failure> {
    let which = Which::of(&run, thread.id());
    drop(run);
    let run_id = which.run_id.clone();
    let stopper = Stopper::new(client, which, &context.out);
    match follow_wire(events, stopper, interrupts, seen).await? {
        Ending::Ended(outcome) => {
            context.out.json_line(&client.call::<RunRead>(RunParams { run_id }).await?);
            Ok(Exit::of_run(outcome.status))
        }
        Ending::Left => Ok(Exit::LEFT),
    }
}

/// An input that waits shows nothing for a while; who typed it should know why.
async fn say_if_queued(which: &Which, client: &Client, context: &Context) -> Result<(), Failure> {
    let params = QueueListParams { thread_id: which.thread_id.clone(), branch_id: Some(which.branch_id.clone()) };
    let queue = client.runs().queue(params).await?;
    let Some(before) = queue.entries.iter().position(|entry| entry.message_id == which.message_id) else {
        return Ok(());
    };
    context.out.aside(&format!("… waits for the run under way, and {before} inputs before it"));
    if queue.held {
        context.out.aside("  and they are held, because the last run ended badly: `run/skip` releases them");
    }
    Ok(())
}

/// Why a run did not complete, in a sentence.
pub(crate) fn why(outcome: &RunOutcome) -> Option<String> {
    let reason = outcome.error.as_ref().map(|error| error.message.as_str()).or(outcome.reason.as_deref());
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let by = outcome.by.as_ref().and_then(|by| by.client_name.as_deref());
    let by = by.map(|name| format!(" by {name}")).unwrap_or_default();
    match outcome.status {
        OutcomeStatus::Completed => None,
        OutcomeStatus::Failed => Some(format!("The run failed{reason}")),
        OutcomeStatus::Stopped => Some(format!("The run was stopped{by}{reason}")),
        OutcomeStatus::Interrupted => Some(format!("The run was interrupted{reason}")),
    }
}
