//! `Search`: the search of `thread/search`, for a model.

use ropewalk_protocol::{Role, SearchHit, ThreadSearchParams};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{ReadPage, ReadParams, ReadResource, page::fitting, resources::fields};
use crate::app::{AppServer, answer::ToolError, surroundings::Hits};

/// Who speaks in a message. Each is the noun it names; with words of its own the schema would be no plain enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Speaker {
    User,
    Assistant,
    Tool,
}

impl From<Speaker> for Role {
    fn from(speaker: Speaker) -> Self {
        match speaker {
            Speaker::User => Self::User,
            Speaker::Assistant => Self::Assistant,
            Speaker::Tool => Self::Tool,
        }
    }
}

/// What is said to a search is said to a search.
pub fn only_of_search(params: &ReadParams) -> Result<(), ToolError> {
    let given = [
        ("query", params.query.is_some()),
        ("isRegex", params.is_regex.is_some()),
        ("ignoreCase", params.ignore_case.is_some()),
        ("roles", params.roles.is_some()),
    ];
    // Memory has a query of its own.
    let is_meant = |name: &str| {
        params.resource == ReadResource::Search || (params.resource == ReadResource::Memory && name == "query")
    };
    let stray = given.into_iter().find(|(name, is_given)| *is_given && !is_meant(name));
    match stray {
        Some((name, _)) => Err(ToolError(format!("{name} goes with Search. Leave it out, or read Search."))),
        None => Ok(()),
    }
}

impl AppServer {
    pub(super) async fn search(&self, params: &ReadParams, limit: u64) -> Result<ReadPage, ToolError> {
        let Some(query) = params.query.clone() else {
            return Err(ToolError("Search needs a query: the text to look for.".to_owned()));
        };
        let named = params.thread_id.is_some() || params.resource_id.is_some() || params.branch_id.is_some();
        let wanted = ThreadSearchParams {
            query,
            is_regex: params.is_regex,
            ignore_case: params.ignore_case,
            roles: params.roles.as_ref().map(|roles| roles.iter().copied().map(Role::from).collect()),
            project_id: params.project_id.clone(),
            thread_id: named.then(|| self.thread_id(params)).transpose()?,
            branch_id: params.branch_id.clone(),
            cursor: params.cursor.clone(),
            limit: Some(limit),
        };
        let Hits { mut hits, next } = self.reader.search(wanted).await?;
        let mut items: Vec<_> = hits.iter().map(|(_, hit)| shown(hit)).collect();
        let fits = fitting(&items, items.len());
        let is_cut = fits < items.len();
        items.truncate(fits);
        hits.truncate(fits);
        let next_cursor = if is_cut { hits.pop().map(|(cursor, _)| cursor) } else { next };
        let (returned, truncated) = (items.len() as u64, next_cursor.is_some());
        Ok(ReadPage { resource: ReadResource::Search, items, next_cursor, truncated, returned, total: None })
    }
}

fn shown(hit: &SearchHit) -> Map<String, Value> {
    fields(hit, &["role"])
}
