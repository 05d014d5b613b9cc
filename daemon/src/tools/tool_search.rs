//! `tool_search`: how a model finds tools whose definitions did not fit into its request.

use std::sync::{Arc, LazyLock};

use ropewalk_protocol::SourceKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ToolSpec;
use crate::context::cut::first_characters;

#[cfg(test)]
mod tests;

/// Its name at its source.
pub const NAME: &str = "tool_search";
/// Tools one search finds, and tools that are kept for a run.
pub const FOUND: usize = 16;

/// Characters of a description in a result.
const DESCRIPTION_CHARACTERS: usize = 200;
/// Names told when nothing is found.
const NAMES: usize = 50;

/// The arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tool_search")]
pub struct ToolSearch {
    /// Words of the name or the description of the tool.
    pub query: String,
}

/// The tool, as a thread has it whose tools do not all fit.
#[must_use]
pub fn tool() -> ToolSpec {
    SPEC.clone()
}

/// Whether a tool is this one.
#[must_use]
pub fn is_tool_search(tool: &ToolSpec) -> bool {
    tool.source_kind == SourceKind::App && tool.name == NAME
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "There are more tools than fit into this request. Finds them by words of their names and \
                       descriptions; those it finds can be called from the next step on.";
    ToolSpec::of_app(NAME, "Look for tools", description, schemars::schema_for!(ToolSearch).to_value())
});

/// What is asked for.
#[must_use]
pub fn query(arguments: &Map<String, Value>) -> &str {
    arguments.get("query").and_then(Value::as_str).unwrap_or_default()
}

/// The tools that match best, at most [`FOUND`]: those with the most words of the query, a word of the name counting more
/// than one of the description.
#[must_use]
pub fn found(tools: &[Arc<ToolSpec>], query: &str) -> Vec<Arc<ToolSpec>> {
    let query = query.to_lowercase();
    let words: Vec<&str> = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut scored: Vec<(usize, &Arc<ToolSpec>)> = tools.iter().map(|tool| (score(tool, &words), tool)).collect();
    scored.retain(|(score, _)| *score > 0);
    scored.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.flat_name.cmp(&other.flat_name)));
    scored.into_iter().take(FOUND).map(|(_, tool)| tool.clone()).collect()
}

/// What the model is told.
#[must_use]
pub fn told(query: &str, found: &[Arc<ToolSpec>], all: &[Arc<ToolSpec>]) -> String {
    if found.is_empty() {
        let names: Vec<&str> = all.iter().take(NAMES).map(|tool| &*tool.flat_name).collect();
        let more = if all.len() > NAMES { ", and more" } else { "" };
        let query = first_characters(query, 80);
        return format!(
            "No tool that was left out has a word of \"{query}\". Left out are: {}{more}.",
            names.join(", ")
        );
    }
    let mut lines = vec!["You can call these from your next step on:".to_owned()];
    lines.extend(found.iter().map(|tool| {
        let about = tool.description.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("- {}: {}", tool.flat_name, first_characters(&about, DESCRIPTION_CHARACTERS))
    }));
    lines.join("\n")
}

fn score(tool: &ToolSpec, words: &[&str]) -> usize {
    let name = format!("{} {}", tool.flat_name, tool.title.as_deref().unwrap_or_default()).to_lowercase();
    let about = tool.description.to_lowercase();
    let of = |word: &&str| 3 * usize::from(name.contains(word)) + usize::from(about.contains(word));
    words.iter().map(of).sum()
}
