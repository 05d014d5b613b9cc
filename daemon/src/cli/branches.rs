//! `ropewalk branches`: the branches of a thread, and what goes on on each.

use clap::Args;
use ropewalk_protocol::{Branch, BranchList, BranchListParams};

use super::{
    failure::{Exit, Failure},
    session::Context,
    text::{one_line, table},
};

/// Characters of a title in the list.
const TITLE_CHARACTERS: usize = 60;

/// List the branches of a thread
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk branches 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11
  ropewalk threads show 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --branch 0193e0c5-0b1e-7d02-8a3c-5d1f0e9b7a44")]
pub(crate) struct BranchesArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
    /// How many at most
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
    /// Where the list goes on: `nextCursor` of the page before
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Runs it.
pub(crate) async fn run(args: BranchesArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let BranchesArgs { thread, limit, cursor } = args;
    let params = BranchListParams { thread_id: thread.into(), cursor, limit: Some(limit) };
    context
        .show::<BranchList>(&client, params, |page| {
            let mut text = table(&page.items.iter().map(row).collect::<Vec<_>>());
            match &page.next_cursor {
                Some(cursor) => text.push_str(&format!("There are more: --cursor {cursor}")),
                None => drop(text.pop()),
            }
            text
        })
        .await
}

fn row(branch: &Branch) -> Vec<String> {
    let is_original = branch.parent_branch_id.is_none();
    let unnamed = if is_original { "(original)" } else { "(untitled)" };
    let title = branch.title.as_ref().map_or_else(|| unnamed.to_owned(), |title| one_line(title, TITLE_CHARACTERS));
    vec![branch.branch_id.to_string(), state(branch), title]
}

fn state(branch: &Branch) -> String {
    let waits = match branch.queue.length {
        0 => String::new(),
        waiting => format!(", {waiting} {}", if branch.queue.held { "held" } else { "queued" }),
    };
    match &branch.active_run_id {
        Some(run_id) => format!("running ({run_id}){waits}"),
        None => format!("idle{waits}"),
    }
}
