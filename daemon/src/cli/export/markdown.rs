//! Items as Markdown, for people.

use ropewalk_protocol::{Item, ItemBody, ItemState, OutcomeStatus, RunOutcome, Thread, ToolCallItem};

use crate::cli::{
    text::{of_parts, printable},
    words::wire,
};

/// What a thread's page begins with.
pub(super) fn title(thread: &Thread) -> String {
    let title = thread.title.as_deref().unwrap_or("Thread without a title");
    let heading: String = printable(title).split_whitespace().collect::<Vec<_>>().join(" ");
    format!("# {heading}\n\nThread {}, started {}\n", thread.thread_id, thread.created_at)
}

/// An item; none for one that people do not read.
pub(super) fn item(item: &Item) -> Option<String> {
    match &item.body {
        ItemBody::UserMessage { content, sender, .. } => {
            let who = if sender.is_some() { "Ropewalk" } else { "User" };
            Some(said(who, &of_parts(content), item, false))
        }
        ItemBody::AssistantMessage { text, incomplete, .. } => {
            (!text.trim().is_empty()).then(|| said("Assistant", text, item, *incomplete))
        }
        ItemBody::ToolCall(call) => Some(called(call, item)),
        ItemBody::Notice { text, .. } => Some(format!("\n> {}\n", printable(text).replace('\n', "\n> "))),
        ItemBody::Reasoning { .. } => None,
    }
}

/// How a run ended; none for one that completed.
pub(super) fn ending(outcome: &RunOutcome) -> Option<String> {
    let status = match outcome.status {
        OutcomeStatus::Completed => return None,
        OutcomeStatus::Failed => "failed",
        OutcomeStatus::Stopped => "stopped",
        OutcomeStatus::Interrupted => "interrupted",
    };
    let kind = outcome.error.as_ref().map(|error| format!(" ({})", wire(&error.kind))).unwrap_or_default();
    let by = outcome.by.as_ref().and_then(|by| by.client_name.as_deref());
    let by = by.map(|name| format!(" by {name}")).unwrap_or_default();
    let reason = outcome.error.as_ref().map(|error| error.message.as_str()).or(outcome.reason.as_deref());
    let reason = reason.map(|reason| format!(": {}", reason.split_whitespace().collect::<Vec<_>>().join(" ")));
    let reason = reason.unwrap_or_default();
    Some(format!("\n✗ {status}{kind}{}\n", printable(&format!("{by}{reason}"))))
}

fn said(who: &str, text: &str, item: &Item, is_cut: bool) -> String {
    let cut = if is_cut { "\n\n*(cut off here)*" } else { "" };
    format!("\n## {who} · {}\n\n{}{cut}\n", item.started_at, printable(text.trim_end()))
}

fn called(call: &ToolCallItem, item: &Item) -> String {
    let arguments = fenced(&call.arguments.to_string(), "json");
    let result = of_parts(call.content.as_deref().unwrap_or_default());
    let ending = match (item.state, &call.error) {
        (ItemState::Completed, _) => "Result".to_owned(),
        (_, Some(error)) => format!("Not completed: {}", printable(&error.code)),
        (_, None) => "Not completed".to_owned(),
    };
    let name = printable(&call.tool.flat_name);
    format!("\n### Tool call: {name} · {}\n\n{arguments}\n\n{ending}:\n\n{}\n", item.started_at, fenced(&result, ""))
}

/// A text in a fence that is longer than any within it.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", printable(text.trim_end()))
}
