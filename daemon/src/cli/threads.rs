//! `ropewalk threads`: which conversations there are, and what was said in one.

use std::collections::HashMap;

use clap::{Args, Subcommand};
use ropewalk::{Client, Error};
use ropewalk_protocol::{
    BranchId, Message, MessagePage, Role, Run, RunList, RunListParams, RunStatus, ThreadDelete, ThreadDeleteParams,
    ThreadId, ThreadList, ThreadListParams, ThreadMarkReadParams, ThreadMessagesParams, Timestamp,
};

use super::{
    failure::{Exit, Failure},
    out::Style,
    session::Context,
    text::{ago, deleted, of_parts, one_line, printable, table},
    words::spelled,
};

/// Characters of a title in the list.
const TITLE_CHARACTERS: usize = 60;
const UNTITLED: &str = "(untitled)";
/// States of runs that the list tells of.
const SHOWN_STATES: [RunStatus; 4] = [RunStatus::Running, RunStatus::Waiting, RunStatus::Paused, RunStatus::Queued];

/// List threads, show one, or delete one
#[derive(Args, Clone, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  ropewalk threads
  ropewalk threads --archived --limit 5
  ropewalk threads show 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11
  ropewalk threads delete 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --dry-run"
)]
pub(crate) struct ThreadsArgs {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Args, Clone, Debug)]
struct ListArgs {
    /// Those that were archived
    #[arg(long)]
    archived: bool,
    /// How many at most
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
    /// Where the list goes on: `nextCursor` of the page before
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// Show the messages of a thread, as the model sees them; it counts as read then
    #[command(after_help = "Example:\n  ropewalk threads show 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
    Show {
        /// The thread
        #[arg(value_name = "ID")]
        thread: String,
        /// How many messages at most, the last ones
        #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
        limit: u64,
        /// Those of this branch; of the original one unless given
        #[arg(long, value_name = "ID")]
        branch: Option<String>,
    },
    /// Delete a thread for good; its run is stopped
    #[command(after_help = "\
Examples:
  ropewalk threads delete 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --dry-run
  ropewalk threads delete 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
    Delete {
        /// The thread
        #[arg(value_name = "ID")]
        thread: String,
        /// Only say what would go
        #[arg(long)]
        dry_run: bool,
    },
}

/// Runs it.
pub(crate) async fn run(args: ThreadsArgs, context: &Context) -> Result<Exit, Failure> {
    match args.command {
        None => list(args.list, context).await,
        Some(Command::Show { thread, limit, branch }) => {
            show(thread.into(), branch.map(Into::into), limit, context).await
        }
        Some(Command::Delete { thread, dry_run }) => delete(thread.into(), dry_run, context).await,
    }
}

async fn delete(thread_id: ThreadId, dry_run: bool, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let params = ThreadDeleteParams { thread_id, dry_run: Some(dry_run), operation_id: None, expected_revision: None };
    context.show::<ThreadDelete>(&client, params, deleted).await
}

async fn list(args: ListArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let ListArgs { archived, limit, cursor } = args;
    let params =
        ThreadListParams { archived: Some(archived), limit: Some(limit), cursor, ..ThreadListParams::default() };
    let now = Timestamp::now();
    let runs = if context.global.json { HashMap::new() } else { by_thread(unended(&client).await?) };
    context
        .show::<ThreadList>(&client, params, |page| {
            if page.items.is_empty() {
                return "No threads yet. `ropewalk run \"say hello\"` makes one.".to_owned();
            }
            let row = |thread: &ropewalk_protocol::Thread| {
                let title = one_line(thread.title.as_deref().unwrap_or(UNTITLED), TITLE_CHARACTERS);
                vec![thread.thread_id.to_string(), ago(thread.updated_at, now), title, state(thread, &runs)]
            };
            let mut text = table(&page.items.iter().map(row).collect::<Vec<_>>());
            match &page.next_cursor {
                Some(cursor) => text.push_str(&format!("There are more: --cursor {cursor}")),
                None => drop(text.pop()),
            }
            text
        })
        .await
}

/// The runs of all threads that have not ended, those that wait in a queue too.
///
/// # Errors
/// What the daemon refuses, and that it cannot be reached.
pub(super) async fn unended(client: &Client) -> Result<Vec<Run>, Error> {
    let counts = client.daemon().status().await?.counts.runs;
    let states: Vec<_> = SHOWN_STATES.into_iter().filter(|state| counts.contains_key(state)).collect();
    if states.is_empty() {
        return Ok(Vec::new());
    }
    let (mut runs, mut cursor) = (Vec::new(), None);
    loop {
        let params =
            RunListParams { states: Some(states.clone()), limit: Some(1_000), cursor, ..RunListParams::default() };
        let page = client.call::<RunList>(params).await?;
        runs.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(runs);
        }
    }
}

fn by_thread(runs: Vec<Run>) -> HashMap<ThreadId, Vec<Run>> {
    let mut threads: HashMap<_, Vec<_>> = HashMap::new();
    for run in runs {
        threads.entry(run.thread_id.clone()).or_default().push(run);
    }
    threads
}

/// Those of these runs that are held: they wait on a branch on which none is under way.
pub(super) fn held(runs: &[Run]) -> impl Iterator<Item = &Run> {
    let is_busy =
        |run: &Run| runs.iter().any(|other| other.branch_id == run.branch_id && other.state != RunStatus::Queued);
    runs.iter().filter(move |run| run.state == RunStatus::Queued && !is_busy(run))
}

/// What a person should know of a thread before they open it.
fn state(thread: &ropewalk_protocol::Thread, runs: &HashMap<ThreadId, Vec<Run>>) -> String {
    let runs = runs.get(&thread.thread_id).map(Vec::as_slice).unwrap_or_default();
    let of_run =
        runs.iter().find(|run| run.state != RunStatus::Queued).map(|run| match (&run.reason, &run.waiting_on) {
            (Some(reason), _) if run.state == RunStatus::Paused => format!("paused ({reason})"),
            (_, Some(waiting)) => format!("waiting ({})", spelled(&waiting.kind)),
            _ => run.state.word().to_owned(),
        });
    let held = match held(runs).count() {
        0 => None,
        1 => Some("1 input held".to_owned()),
        count => Some(format!("{count} inputs held")),
    };
    let unread = thread.unread.then(|| "unread".to_owned());
    of_run.into_iter().chain(held).chain(unread).collect::<Vec<_>>().join(", ")
}

async fn show(
    thread_id: ThreadId,
    branch_id: Option<BranchId>,
    limit: u64,
    context: &Context,
) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let params = ThreadMessagesParams { thread_id: thread_id.clone(), branch_id, cursor: None, limit: Some(limit) };
    let page = client.threads().messages(params).await?;
    if context.global.json {
        context.out.json(&page);
        return Ok(Exit::DONE);
    }
    let thread = client.threads().read(thread_id).await?;
    let title = thread.title.clone().or_else(|| first_words(&page)).unwrap_or_else(|| UNTITLED.to_owned());
    context.out.line(&context.out.paint(Style::Bold, &one_line(&printable(&title), TITLE_CHARACTERS)));
    messages(&page, context);
    if thread.unread {
        let params =
            ThreadMarkReadParams { thread_id: thread.thread_id, branch_id: None, seq: page.seq, operation_id: None };
        client.threads().mark_read(params).await?;
    }
    Ok(Exit::DONE)
}

/// What a thread without a title is called, in the list as here: the first line of its first input, if the page has it.
fn first_words(page: &MessagePage) -> Option<String> {
    let first = page.items.last().filter(|_| page.next_cursor.is_none())?;
    of_parts(&first.content).lines().next().map(str::to_owned)
}

/// The messages in the order in which they were said; a page has them from the newest on.
fn messages(page: &MessagePage, context: &Context) {
    let out = &context.out;
    if page.next_cursor.is_some() {
        out.line(&out.paint(Style::Dim, "\n(earlier messages left out; --limit shows more)"));
    }
    for message in page.items.iter().rev() {
        let (who, style) = match message.role {
            Role::User if message.summary => ("summary", Style::Dim),
            Role::User if is_own_note(message) => ("ropewalk", Style::Dim),
            Role::User => ("user", Style::Cyan),
            Role::Assistant => ("assistant", Style::Green),
            Role::Tool => ("tool", Style::Dim),
        };
        out.line(&format!("\n{}", out.paint(style, who)));
        out.line(&printable(&said(message)));
    }
}

/// Whether the daemon itself says it to the model in the place of a user, as that an answer does not fit its schema.
fn is_own_note(message: &Message) -> bool {
    message.sender.as_ref().is_some_and(|sender| Some(&sender.run_id) == message.run_id.as_ref())
}

fn said(message: &Message) -> String {
    let text = of_parts(&message.content);
    let calls = message.tool_calls.iter().map(|call| format!("→ {} {}", call.flat_name, call.arguments));
    let cut = message.incomplete.then(|| "(cut off here)".to_owned());
    let lines: Vec<_> = Some(text).filter(|text| !text.is_empty()).into_iter().chain(calls).chain(cut).collect();
    lines.join("\n")
}
