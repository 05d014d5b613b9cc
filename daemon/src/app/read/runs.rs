//! `Runs`: how the branches of a thread stand, one item a branch, with all that a change of it has to name.

use ropewalk_protocol::{Part, QueueEntry, Run};
use serde_json::{Map, Value, json};

use super::{
    ReadPage, ReadParams, ReadResource,
    page::{one, page},
    query,
    resources::{belongs, fields},
};
use crate::{
    app::{AppServer, answer::ToolError, surroundings::Standing},
    context::cut::first_characters,
};

/// Characters of a text that are shown: of what a run said, of an input that waits.
const TEXT_CHARACTERS: usize = 1_000;

const RUN_WORDS: &[&str] = &[
    "mode",
    "state",
    "unattended",
    "waitingOn/kind",
    "outcome/status",
    "outcome/error/kind",
    "principal/kind",
    "recovery/*",
    "changeSet/files/*/change",
];

impl AppServer {
    pub(super) async fn runs(&self, params: &ReadParams, limit: u64) -> Result<ReadPage, ToolError> {
        let thread_id = self.thread_id(params)?;
        if params.project_id.is_some() {
            belongs(&self.reader.thread(&thread_id).await?, params.project_id.as_ref())?;
        }
        let branch = params.branch_id.as_ref();
        let query = query(params, &["app_read Runs ", &thread_id, " ", branch.map_or("", |id| id.as_str())], limit)?;
        let found = self.reader.standing(&thread_id, branch, query.after(), query.limit() + 1).await?;
        if branch.is_some() {
            let only = found.first().map(shown).unwrap_or_default();
            return Ok(one(ReadResource::Runs, only));
        }
        let cursor = |standing: &Standing| query.cursor(&standing.branch.branch_id);
        Ok(page(ReadResource::Runs, found, query.limit(), shown, cursor))
    }
}

fn shown(standing: &Standing) -> Map<String, Value> {
    let Standing { branch, entries, run } = standing;
    let mut item = fields(branch, &[]);
    let state = run.as_ref().map(|run| fields(run, RUN_WORDS)["state"].clone());
    item.insert("state".to_owned(), state.unwrap_or_else(|| "Idle".into()));
    let entries: Vec<Value> = entries.iter().map(entry).collect();
    item.insert(
        "queue".to_owned(),
        json!({
            "length": branch.queue.length,
            "held": branch.queue.held,
            "entries": entries,
        }),
    );
    if let Some(run) = run {
        item.insert("run".to_owned(), Value::Object(run_fields(run)));
    }
    item
}

fn run_fields(run: &Run) -> Map<String, Value> {
    let mut run = run.clone();
    if let Some(text) = run.outcome.as_mut().and_then(|outcome| outcome.text.as_mut()) {
        *text = first_characters(text, TEXT_CHARACTERS);
    }
    fields(&run, RUN_WORDS)
}

/// An input that waits, with the first of its words.
fn entry(entry: &QueueEntry) -> Value {
    let mut shown = fields(entry, &["mode", "sender/intent"]);
    let texts: Vec<&str> = entry.input.iter().filter_map(Part::as_text).collect();
    let others = entry.input.len() - texts.len();
    shown.insert("input".to_owned(), first_characters(&texts.join("\n"), TEXT_CHARACTERS).into());
    if others > 0 {
        shown.insert("otherParts".to_owned(), others.into());
    }
    Value::Object(shown)
}
