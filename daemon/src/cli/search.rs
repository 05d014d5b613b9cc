//! `ropewalk search`: where something was said.

use clap::{Args, ValueEnum};
use ropewalk_protocol::{Page, Role, SearchHit, ThreadSearch, ThreadSearchParams, Timestamp};

use super::{
    failure::{Exit, Failure},
    session::Context,
    text::{ago, one_line},
    words::spelled,
};

/// Characters of a title that are shown.
const TITLE_CHARACTERS: usize = 60;

/// Find messages that have a text, in all threads or in some
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk search \"rate limit\"
  ropewalk search --regex \"error [0-9]+\" --role tool
  ropewalk search Rope --case-sensitive --project 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11
  ropewalk search rope --json

A match is within one message. Every message that has one is shown once, in the order of project, thread and message.")]
pub(crate) struct SearchArgs {
    /// What to look for: a text, whatever the case of its letters
    #[arg(value_name = "TEXT")]
    query: String,
    /// The text is a regular expression, without lookaround and backreferences
    #[arg(long)]
    regex: bool,
    /// Letters match in their own case only
    #[arg(long)]
    case_sensitive: bool,
    /// Whose messages, once or several times; of users and models unless given
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<RoleArg>,
    /// Only threads of this project
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// Only this thread
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Only the messages of this branch of the thread
    #[arg(long, value_name = "ID", requires = "thread")]
    branch: Option<String>,
    /// How many messages at most
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
    /// Where the search goes on: `nextCursor` of the page before
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleArg {
    User,
    Assistant,
    Tool,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::User => Self::User,
            RoleArg::Assistant => Self::Assistant,
            RoleArg::Tool => Self::Tool,
        }
    }
}

/// Runs it.
pub(crate) async fn run(args: SearchArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let params = ThreadSearchParams {
        query: args.query,
        is_regex: Some(args.regex),
        ignore_case: Some(!args.case_sensitive),
        roles: (!args.roles.is_empty()).then(|| args.roles.into_iter().map(Role::from).collect()),
        project_id: args.project.map(Into::into),
        thread_id: args.thread.map(Into::into),
        branch_id: args.branch.map(Into::into),
        cursor: args.cursor,
        limit: Some(args.limit),
    };
    let now = Timestamp::now();
    context.show::<ThreadSearch>(&client, params, |page| shown(page, now)).await
}

fn shown(page: &Page<SearchHit>, now: Timestamp) -> String {
    let mut text: Vec<String> = page.items.iter().map(|hit| one(hit, now)).collect();
    match &page.next_cursor {
        Some(cursor) => text.push(format!("There may be more: --cursor {cursor}")),
        None if page.items.is_empty() => text.push("No message has it.".to_owned()),
        None => {}
    }
    text.join("\n")
}

/// A hit: where it is, and below that what it says.
fn one(hit: &SearchHit, now: Timestamp) -> String {
    let title = one_line(hit.thread_title.as_deref().unwrap_or("(untitled)"), TITLE_CHARACTERS);
    let times = if hit.match_count == 1 { String::new() } else { format!(", {} times", hit.match_count) };
    let (thread, at, role) = (&hit.thread_id, ago(hit.at, now), spelled(&hit.role));
    let fragment = one_line(&hit.fragment, usize::MAX);
    format!("{thread}  {at}  {title} ({role}{times})\n  {fragment}")
}
