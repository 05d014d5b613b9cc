//! Tools as their owner approved them, and what a listing says differently now.

use std::{collections::BTreeMap, sync::Arc};

use ropewalk_protocol::{Annotations, FieldDifference, limits::DESCRIPTION_CHARACTERS};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ListedTool;
use crate::tools::digest::tool_digest;

/// Characters of a title that are kept.
const TITLE_CHARACTERS: usize = 256;

/// A tool as it was approved. Stored whole: this is what models are told and what arguments are checked against, whatever
/// the server says later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approved {
    /// Its name at the server.
    pub name: String,
    /// What its other names are made of.
    pub tool_id: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the model is told about it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Arc<Value>,
    /// JSON Schema of its structured results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<Value>>,
    /// What it does to the world.
    pub annotations: Annotations,
    /// What rules bind to.
    pub digest: String,
}

/// What a listing says of an approved tool.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    /// The same.
    Same,
    /// The same but for title or description.
    Text(BTreeMap<String, FieldDifference>),
    /// Another behaviour: a schema or an annotation differs.
    Behaviour(BTreeMap<String, FieldDifference>),
}

impl Approved {
    /// A tool as it is listed now, approved.
    #[must_use]
    pub fn now(tool: &ListedTool, tool_id: String) -> Self {
        Self {
            name: tool.name.clone(),
            tool_id,
            title: shown_title(tool),
            description: shown_description(tool),
            input_schema: Arc::clone(&tool.input_schema),
            output_schema: tool.output_schema.clone(),
            annotations: tool.annotations.clone(),
            digest: tool_digest(&tool.input_schema, tool.output_schema.as_deref(), &tool.annotations),
        }
    }

    /// What a listing says differently. Behaviour blocks, text does not.
    #[must_use]
    pub fn compare(&self, now: &Self) -> Compared {
        let mut differences = BTreeMap::new();
        let mut note = |field: &str, was: Option<Value>, now: Option<Value>| {
            if was != now {
                differences.insert(field.to_owned(), FieldDifference { was, now });
            }
        };
        let text = |text: &str| Some(Value::from(text));
        note("title", self.title.as_deref().and_then(text), now.title.as_deref().and_then(text));
        note("description", text(&self.description), text(&now.description));
        if self.digest == now.digest {
            return if differences.is_empty() { Compared::Same } else { Compared::Text(differences) };
        }
        note("inputSchema", Some((*self.input_schema).clone()), Some((*now.input_schema).clone()));
        let schema = |schema: &Option<Arc<Value>>| schema.as_deref().cloned();
        note("outputSchema", schema(&self.output_schema), schema(&now.output_schema));
        note("annotations", Some(json!(self.annotations)), Some(json!(now.annotations)));
        Compared::Behaviour(differences)
    }
}

/// The title that is shown and kept: a long one is cut, an empty one is none.
pub(super) fn shown_title(tool: &ListedTool) -> Option<String> {
    let title = tool.title.as_deref()?.trim();
    (!title.is_empty()).then(|| title.chars().take(TITLE_CHARACTERS).collect())
}

/// The description that is shown and kept: the first 2,048 characters (MCP-123).
pub(super) fn shown_description(tool: &ListedTool) -> String {
    tool.description.chars().take(usize::try_from(DESCRIPTION_CHARACTERS).unwrap_or(usize::MAX)).collect()
}
