//! Small servers and tools, and what is checked of them.

mod ids;
mod names;
mod reviews;
mod specs;
mod usable;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use ropewalk_protocol::{Annotations, ServerId};
use serde_json::{Value, json};

use super::*;

/// A tool that only its name tells from others.
pub(crate) fn tool(name: &str) -> ListedTool {
    ListedTool {
        name: name.to_owned(),
        title: None,
        description: format!("Does {name}."),
        input_schema: Arc::new(json!({"type": "object"})),
        output_schema: None,
        annotations: Annotations::default(),
        needs_task: false,
    }
}

pub(crate) fn reading(name: &str) -> ListedTool {
    ListedTool { annotations: read_annotations(Some(&json!({"readOnlyHint": true}))), ..tool(name) }
}

pub(crate) fn with_schema(name: &str, schema: Value) -> ListedTool {
    ListedTool { input_schema: Arc::new(schema), ..tool(name) }
}

pub(crate) fn listing(tools: impl IntoIterator<Item = ListedTool>) -> Listing {
    Listing { tools: tools.into_iter().collect(), ignored: 0 }
}

/// A server and what is decided about it, as the catalogue keeps it.
struct Book {
    server_id: ServerId,
    approved: Vec<Approved>,
    cleared: BTreeSet<String>,
    tool_ids: BTreeMap<String, String>,
}

impl Book {
    fn new() -> Self {
        Self { server_id: "s-1".into(), approved: Vec::new(), cleared: BTreeSet::new(), tool_ids: BTreeMap::new() }
    }

    fn reviewed(&self) -> Reviewed<'_> {
        Reviewed {
            server_id: &self.server_id,
            slug: "linear",
            approved: &self.approved,
            cleared: &self.cleared,
            tool_ids: &self.tool_ids,
        }
    }

    fn review(&self, listing: &Listing) -> ropewalk_protocol::ServerReview {
        review(&self.reviewed(), Some(listing))
    }

    fn try_choose(&self, listing: &Listing, names: &[&str]) -> Result<Chosen, Choice> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        choose(&self.reviewed(), Some(listing), &self.review(listing).digest, &names)
    }

    /// Approves these, and says which were reset.
    fn choose(&mut self, listing: &Listing, names: &[&str]) -> Vec<String> {
        let chosen = self.try_choose(listing, names).unwrap();
        (self.approved, self.cleared, self.tool_ids) = (chosen.approved, chosen.cleared, chosen.tool_ids);
        chosen.reset
    }

    /// The state of each tool by name.
    fn states(&self, listing: &Listing) -> BTreeMap<String, ropewalk_protocol::ReviewState> {
        self.review(listing).tools.into_iter().map(|tool| (tool.name, tool.state)).collect()
    }
}
