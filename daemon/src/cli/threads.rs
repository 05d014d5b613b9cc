//! `ropewalk threads`: which conversations there are, and what was said in one.

use clap::{Args, Subcommand};
use ropewalk_protocol::{
    Message, MessagePage, Role, ThreadId, ThreadList, ThreadListParams, ThreadMessagesParams, Timestamp,
};

use super::{
    failure::{Exit, Failure},
    out::Style,
    session::Context,
    text::{ago, of_parts, one_line, printable, table},
};

/// Characters of a title in the list.
const TITLE_CHARACTERS: usize = 60;
const UNTITLED: &str = "(untitled)";

/// List threads, or show one
#[derive(Args, Clone, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  ropewalk threads
  ropewalk threads --archived --limit 5
  ropewalk threads show 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11"
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
    /// Show the messages of a thread, as the model sees them
    #[command(after_help = "Example:\n  ropewalk threads show 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
    Show {
        /// The thread
        #[arg(value_name = "ID")]
        thread: String,
        /// How many messages at most, the last ones
        #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
        limit: u64,
    },
}

/// Runs it.
pub(crate) async fn run(args: ThreadsArgs, context: &Context) -> Result<Exit, Failure> {
    match args.command {
        None => list(args.list, context).await,
        Some(Command::Show { thread, limit }) => show(thread.into(), limit, context).await,
    }
}

async fn list(args: ListArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let ListArgs { archived, limit, cursor } = args;
    let params =
        ThreadListParams { archived: Some(archived), limit: Some(limit), cursor, ..ThreadListParams::default() };
    let now = Timestamp::now();
    context
        .show::<ThreadList>(&client, params, |page| {
            if page.items.is_empty() {
                return "No threads yet. `ropewalk run \"say hello\"` makes one.".to_owned();
            }
            let row = |thread: &ropewalk_protocol::Thread| {
                let title = one_line(thread.title.as_deref().unwrap_or(UNTITLED), TITLE_CHARACTERS);
                vec![thread.thread_id.to_string(), ago(thread.updated_at, now), title]
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

async fn show(thread_id: ThreadId, limit: u64, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let params =
        ThreadMessagesParams { thread_id: thread_id.clone(), branch_id: None, cursor: None, limit: Some(limit) };
    let page = client.threads().messages(params).await?;
    if context.global.json {
        context.out.json(&page);
        return Ok(Exit::DONE);
    }
    let thread = client.threads().read(thread_id).await?;
    let title = thread.title.or_else(|| first_words(&page)).unwrap_or_else(|| UNTITLED.to_owned());
    context.out.line(&context.out.paint(Style::Bold, &one_line(&printable(&title), TITLE_CHARACTERS)));
    messages(&page, context);
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
