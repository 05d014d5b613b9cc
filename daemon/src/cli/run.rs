//! `ropewalk run`: one run from a terminal, a script or a pipe.

use std::{
    fs,
    io::{self, Read},
    path::PathBuf,
};

use clap::Args;
use ropewalk::{Client, Error, Part, Run, Thread, image_file};
use ropewalk_protocol::{
    EndpointId, ListParams, ProjectList, QueueListParams, RunList, RunListParams, RunStatus, ThreadDeleteParams,
    ThreadListParams, Unattended,
};
use serde_json::Value;

use super::{
    failure::{Exit, Failure},
    follow::is_parked,
    interrupts::Interrupts,
    project,
    seen::Seen,
    session::{Context, named},
    watch::{Deciders, Watching, held},
    words::words,
};

/// Run a prompt and show what comes of it
///
/// The answer goes to stdout, at a terminal as it comes and else once at the end; everything else goes to stderr. At a terminal, approvals and questions
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
  ropewalk run --output-schema issue.json \"Which issue is this about? …\" | jq .number

Exit codes:
  0    the run completed
  1    the run failed or was interrupted, or the command did not work
  2    the command line was wrong
  3    the run was stopped
  4    the daemon cannot be reached
  5    the run is paused until it is resumed
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
    /// Print the final answer as JSON that fits the schema in this file; the run fails when the model gives none
    #[arg(long, value_name = "FILE")]
    output_schema: Option<PathBuf>,
    /// Decline every call that needs approval
    #[arg(long)]
    no_approve: bool,
}

/// Runs it.
pub(crate) async fn run(args: RunArgs, context: &Context) -> Result<Exit, Failure> {
    let input = input(&args).await?;
    let mut interrupts = Interrupts::of_process();
    let seen = Seen::default();
    let schema = args.output_schema.as_ref().map(schema).transpose()?;
    let deciders = Deciders::find(args.unattended, args.no_approve, &seen, context);
    let (tells_waiting, help) = (deciders.leave_it_to_others(), deciders.help());
    let client = connect(&args, context, deciders).await?;
    let endpoint = match &args.endpoint {
        Some(wanted) => Some(endpoint(wanted, &client).await?),
        None => None,
    };
    let thread = thread(&args, &client).await?;
    if let Some(help) = help
        && let Some(project) = project::of_thread(&client, thread.id()).await
    {
        help.is_about(project);
    }
    let mut request = thread.run(input).unattended(args.unattended);
    if let Some(endpoint) = endpoint {
        request = request.endpoint(endpoint);
    }
    let wants_data = schema.is_some();
    if let Some(schema) = schema {
        request = request.output_schema(schema);
    }
    // Reading begins before the request, so that no event is missed.
    let events = thread.events();
    let run = match request.submit().await {
        Ok(run) => run,
        Err(refused) => {
            drop(events);
            leave_nothing(&args, &client, &thread, &refused).await;
            return Err(refused.into());
        }
    };
    let held_is_said = !context.global.json && say_if_queued(&run, &thread, &client, context).await?;
    let watching =
        Watching { client: &client, thread: &thread, context, seen: &seen, tells_waiting, held_is_said, wants_data };
    let exit = watching.watch(run, events, &mut interrupts).await;
    client.close().await;
    exit
}

/// The endpoint with this name or id.
pub(super) async fn endpoint(wanted: &str, client: &Client) -> Result<EndpointId, Failure> {
    let endpoints = client.endpoints().list(ListParams { cursor: None, limit: Some(1_000) }).await?.items;
    let found = named("endpoint", wanted, &endpoints, |endpoint| &endpoint.endpoint_id, |endpoint| &endpoint.name)?;
    Ok(found.endpoint_id.clone())
}

/// A thread that was started for an input the daemon refuses would stay behind with nothing in it: it goes again. It stays
/// where it is not known whether the input has arrived.
async fn leave_nothing(args: &RunArgs, client: &Client, thread: &Thread, refused: &Error) {
    let is_new = args.thread.is_none() && !args.newest;
    if !is_new || !matches!(refused, Error::Rpc(_)) {
        return;
    }
    let (thread_id, dry_run) = (thread.id().clone(), Some(false));
    let params = ThreadDeleteParams { thread_id, dry_run, expected_revision: None, operation_id: None };
    // What the person is to read is why the input was refused.
    if let Err(error) = client.threads().delete(params).await {
        tracing::debug!(%error, "a thread that was started for a refused input is still there");
    }
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

/// The schema in a file.
fn schema(path: &PathBuf) -> Result<Value, Failure> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("The schema cannot be read from {shown}: {error}.")))?;
    serde_json::from_str(&text).map_err(|error| Failure::Usage(format!("{shown} is not JSON: {error}.")))
}

async fn connect(args: &RunArgs, context: &Context, deciders: Deciders) -> Result<Client, Failure> {
    let mut connect = deciders.register(context.connecting()?, context);
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

/// An input that waits shows nothing for a while; who typed it should know why. Returns whether it is held.
async fn say_if_queued(run: &Run, thread: &Thread, client: &Client, context: &Context) -> Result<bool, Failure> {
    let params = QueueListParams { thread_id: thread.id().clone(), branch_id: Some(run.branch_id().clone()) };
    let queue = client.queue().list(params).await?;
    let Some(before) = queue.entries.iter().position(|entry| entry.message_id == *run.message_id()) else {
        return Ok(false);
    };
    if queue.held {
        context.out.aside(&held(context.environment.program(), thread.id()));
        return Ok(true);
    }
    let thread_id = Some(thread.id().clone());
    let params = RunListParams { thread_id, states: Some(vec![RunStatus::Paused]), ..RunListParams::default() };
    let paused = client.call::<RunList>(params).await?.items;
    let is_behind_paused = paused.iter().any(|other| other.branch_id == *run.branch_id() && is_parked(other));
    let resume = is_behind_paused.then(|| format!("{} resume {}", context.environment.program(), thread.id()));
    context.out.aside(&waits(before, resume.as_deref()));
    Ok(false)
}

/// What an input waits for: the run under way, or one that is paused until a command is given, and the inputs before it.
fn waits(before: usize, resume: Option<&str>) -> String {
    let others = match before {
        0 => String::new(),
        1 => ", and one input before it".to_owned(),
        before => format!(", and {before} inputs before it"),
    };
    match resume {
        Some(command) => format!("… waits for a run that is paused{others}: `{command}` lets that one go on"),
        None => format!("… waits for the run under way{others}"),
    }
}

#[cfg(test)]
mod tests;
