//! `ropewalk pending`: what waits for somebody, in all threads.

use std::collections::HashMap;

use clap::Args;
use ropewalk::Client;
use ropewalk_protocol::{
    Interaction, InteractionBody, InteractionListParams, InteractionState, Page, ThreadId, ThreadParams, ThreadRead,
    Timestamp,
};

use super::{
    failure::{Exit, Failure},
    session::Context,
    text::{ago, one_line},
};

/// Characters of what is asked, and of a title.
const ASKED_CHARACTERS: usize = 100;
const TITLE_CHARACTERS: usize = 40;
/// Threads whose titles are looked up; those of more are named by their ids.
const TITLES: usize = 50;

/// List the approvals, questions and tool calls that wait for somebody
///
/// Approvals and questions can be answered from here, with `answer` and the id. A tool call waits for the program whose
/// tool it is, and only that one can answer it.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk pending
  ropewalk pending --thread 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11
  ropewalk pending --json | jq .items[0].interactionId")]
pub(crate) struct PendingArgs {
    /// Only what waits in this thread
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
}

/// Runs it.
pub(crate) async fn run(args: PendingArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let items = open(&client, args.thread.map(ThreadId::from)).await?;
    let words = match items.is_empty() {
        true => "Nothing waits for anybody.".to_owned(),
        false if context.global.json => String::new(),
        false => shown(&items, &titles(&client, &items).await, context.environment.program()),
    };
    context.result(&Page { items, next_cursor: None, truncated: false }, &words);
    Ok(Exit::DONE)
}

/// Everything that is open, oldest first.
pub(super) async fn open(client: &Client, thread_id: Option<ThreadId>) -> Result<Vec<Interaction>, Failure> {
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let (thread_id, state) = (thread_id.clone(), Some(InteractionState::Open));
        let params = InteractionListParams { thread_id, kind: None, state, cursor, limit: Some(1_000) };
        let page = client.interactions().list(params).await?;
        items.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(items);
        }
    }
}

/// What the threads of these are called, as far as they have titles.
async fn titles(client: &Client, items: &[Interaction]) -> HashMap<ThreadId, String> {
    let mut titles = HashMap::new();
    for item in items {
        if titles.len() < TITLES && !titles.contains_key(&item.thread_id) {
            let params = ThreadParams { thread_id: item.thread_id.clone() };
            // A thread that is gone by now has no title, and that is all this is for.
            let title = client.call::<ThreadRead>(params).await.ok().and_then(|read| read.thread.title);
            titles.insert(item.thread_id.clone(), title.unwrap_or_default());
        }
    }
    titles
}

fn shown(items: &[Interaction], titles: &HashMap<ThreadId, String>, program: &str) -> String {
    let now = Timestamp::now();
    let mut text = String::new();
    for (item, number) in items.iter().zip(1..) {
        let until = item.expires_at.map(|at| format!(", until {at}")).unwrap_or_default();
        let title = titles.get(&item.thread_id).filter(|title| !title.is_empty());
        let title = title.map(|title| format!(" ({})", one_line(title, TITLE_CHARACTERS))).unwrap_or_default();
        text.push_str(&format!("{number}. {}\n", asked(item)));
        text.push_str(&format!("   opened {}{until}, in thread {}{title}\n", ago(item.opened_at, now), item.thread_id));
        text.push_str(&match &item.body {
            InteractionBody::ToolCall(_) => format!("   waits for {}\n", holders(item)),
            _ => format!("   {program} answer {}\n", item.interaction_id),
        });
    }
    text.trim_end().to_owned()
}

/// What is asked, in a line.
pub(super) fn asked(item: &Interaction) -> String {
    let text = match &item.body {
        InteractionBody::ToolCall(call) => {
            let arguments = call.arguments.as_ref().map(|arguments| format!(" {arguments}")).unwrap_or_default();
            format!("tool call: {}{arguments}", call.tool)
        }
        InteractionBody::Approval(request) => {
            format!("approval: {} ({}/{})", request.summary, request.tool.source, request.tool.name)
        }
        InteractionBody::Input(request) => {
            let more = match request.questions.len() {
                0 | 1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            let first = request.questions.first().map(|question| question.text.as_str()).unwrap_or_default();
            format!("question: {first}{more}")
        }
    };
    one_line(&text, ASKED_CHARACTERS)
}

/// The programs that can answer a tool call.
pub(super) fn holders(item: &Interaction) -> String {
    let names: Vec<_> = item.offered_to.iter().map(|client| client.client_name.as_str()).collect();
    if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
}
