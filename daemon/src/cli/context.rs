//! `ropewalk context`: what the next request of a thread would be made of.

use clap::Args;
use ropewalk_protocol::{ContextLayerName, ContextPreview, ContextPreviewParams, ContextPreviewed};

use super::{
    failure::{Exit, Failure},
    session::Context,
    text::table,
};

/// Show what the next request of a thread would be made of
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk context 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11
  ropewalk context 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --text
  ropewalk context 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --endpoint work
  ropewalk context 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --json")]
pub(crate) struct ContextArgs {
    /// The thread
    #[arg(value_name = "ID")]
    thread: String,
    /// For the window of this endpoint, its name or id, as `run --endpoint` would ask it
    #[arg(long, value_name = "ENDPOINT")]
    endpoint: Option<String>,
    /// Also what stands before the messages, as the model reads it
    #[arg(long)]
    text: bool,
}

/// Runs it.
pub(crate) async fn run(args: ContextArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let endpoint_id = match &args.endpoint {
        Some(wanted) => Some(super::run::endpoint(wanted, &client).await?),
        None => None,
    };
    let params = ContextPreviewParams { thread_id: args.thread.into(), branch_id: None, endpoint_id };
    context.show::<ContextPreview>(&client, params, |preview| shown(preview, args.text)).await
}

fn shown(preview: &ContextPreviewed, with_text: bool) -> String {
    let row = |what: &str, tokens: u64, remark: String| vec![what.to_owned(), tokens.to_string(), remark];
    let mut rows: Vec<_> = preview
        .layers
        .iter()
        .map(|layer| {
            let cut = if layer.cut { ", cut" } else { "" };
            row(name(layer.name), layer.tokens, format!("of {}{cut}", layer.budget_tokens))
        })
        .collect();
    let tools = &preview.tools;
    let defined = counted(tools.count, "tool");
    let left_out = match tools.left_out.len() {
        0 => defined,
        count => format!("{defined}, {count} left out: {}", tools.left_out.join(", ")),
    };
    rows.push(row("tools", tools.tokens, left_out));
    let messages = &preview.messages;
    let said = counted(messages.count, "message");
    let summarised = match messages.summarised {
        0 => said,
        count => format!("{said}, the first of them a summary of {count}"),
    };
    rows.push(row("messages", messages.tokens, summarised));
    rows.push(row("in all", preview.total_tokens, format!("of a window of {}", preview.window_tokens)));
    let mut text = table(&rows);
    let texts = preview.layers.iter().filter(|layer| with_text && !layer.text.is_empty());
    for layer in texts {
        text.push_str(&format!("\n{}:\n{}\n", name(layer.name), layer.text));
    }
    text.trim_end().to_owned()
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

const fn name(layer: ContextLayerName) -> &'static str {
    match layer {
        ContextLayerName::Base => "base",
        ContextLayerName::ProjectInstructions => "project instructions",
        ContextLayerName::WorkspaceFiles => "workspace files",
        ContextLayerName::MemoryIndex => "memory index",
        ContextLayerName::RunLine => "run line",
    }
}
