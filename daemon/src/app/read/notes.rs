//! Memory and Instructions: what runs remember, and what they are told.

use std::sync::Arc;

use ropewalk_protocol::{ContextLayer, ContextLayerName, EntryId, Instructions, InstructionsSource, MemoryEntry};
use serde::Serialize;

use super::{
    ReadPage, ReadParams, ReadResource,
    page::{one, page},
    query,
    resources::{fields, no_cursor},
};
use crate::app::{AppServer, answer::ToolError, notes::ENTRY_WORDS};

const INSTRUCTIONS_WORDS: &[&str] = &["layers/*/name"];

/// The instructions of a project with what becomes of them, but without the text of any layer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    #[serde(flatten)]
    instructions: Instructions,
    /// Characters of the text.
    size: u64,
    /// The layers of the next request of the run's own branch; none for another project.
    layers: Vec<Layer>,
}

/// A layer, told by its size.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    name: ContextLayerName,
    tokens: u64,
    budget_tokens: u64,
    cut: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sources: Vec<InstructionsSource>,
}

impl AppServer {
    /// One entry with its text, or the entries of a project and of the user without theirs.
    pub(super) fn memory(&self, params: &ReadParams, limit: u64) -> Result<ReadPage, ToolError> {
        if let Some(entry_id) = &params.resource_id {
            no_cursor(params)?;
            let entry = self.reader.entry(&EntryId::from(entry_id.as_str()))?;
            return Ok(one(ReadResource::Memory, fields(&entry, ENTRY_WORDS)));
        }
        let project_id = self.project_id(params)?;
        self.reader.project(&project_id)?;
        let words = params.query.as_deref().unwrap_or_default();
        // Cursors and their lists are told apart by line breaks.
        let query = query(params, &["app_read Memory ", &project_id, " ", &format!("{words:?}")], limit)?;
        let mut found = self.reader.memory(&project_id, words);
        let total = found.len() as u64;
        found.retain(|entry| query.after().is_none_or(|after| entry.entry_id.as_str() > after));
        let shown = |entry: &Arc<MemoryEntry>| fields(&MemoryEntry { body: None, ..(**entry).clone() }, ENTRY_WORDS);
        let cursor = |entry: &Arc<MemoryEntry>| query.cursor(&entry.entry_id);
        Ok(ReadPage { total: Some(total), ..page(ReadResource::Memory, found, query.limit(), shown, cursor) })
    }

    /// The instructions of a project, and how large each layer is that the run is told.
    pub(super) async fn instructions(&self, params: &ReadParams) -> Result<ReadPage, ToolError> {
        no_cursor(params)?;
        let project_id = self.project_id(params)?;
        let instructions = self.reader.instructions(&project_id).await?;
        let is_own = project_id == self.place.project_id;
        let layers = match is_own {
            true => self.reader.layers(&self.place.thread_id, &self.place.branch_id).await?,
            false => Vec::new(),
        };
        let size = instructions.text.chars().count() as u64;
        let layers = layers.into_iter().map(|layer| told(layer, &instructions.sources)).collect();
        Ok(one(ReadResource::Instructions, fields(&Told { instructions, size, layers }, INSTRUCTIONS_WORDS)))
    }
}

fn told(layer: ContextLayer, files: &[InstructionsSource]) -> Layer {
    let ContextLayer { name, tokens, budget_tokens, cut, .. } = layer;
    let sources = if name == ContextLayerName::WorkspaceFiles { files.to_vec() } else { Vec::new() };
    Layer { name, tokens, budget_tokens, cut, sources }
}
