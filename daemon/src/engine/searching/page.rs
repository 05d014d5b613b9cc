//! A search as it is asked for, and its page: the same for the wire, the App tools and the command line.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ropewalk_protocol::{Cursor, Role, RpcError, SearchHit, ThreadSearchParams};

use super::Scope;
use crate::{
    engine::Engine,
    page::{PageError, PageQuery},
    search::{Bounds, Dialect, Place, Query},
};

/// A page of hits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPage {
    /// The hits, each with the cursor that goes on behind it.
    pub hits: Vec<(Cursor, SearchHit)>,
    /// Where the search goes on; absent where nothing is left.
    pub next: Option<Cursor>,
}

impl Engine {
    /// A page of a search.
    ///
    /// # Errors
    /// `invalidParams` (query, roles, cursor, limit, scope), `notFound` (project, thread, branch), `unavailable`.
    pub async fn search(&self, params: ThreadSearchParams) -> Result<SearchPage, RpcError> {
        let (is_regex, ignore_case) = (params.is_regex.unwrap_or(false), params.ignore_case.unwrap_or(true));
        let roles = params.roles.as_deref();
        if roles.is_some_and(<[Role]>::is_empty) {
            let message = "No role is named. Name user, assistant or tool, or leave roles out for users and models.";
            return Err(RpcError::invalid_params("/roles", "empty", message));
        }
        let query = Query::new(&params.query, Dialect { ignore_case, is_regex }, roles)
            .map_err(|why| RpcError::invalid_params("/query", "not_searchable", sentence(&why)))?;
        let list = ["thread/search ", &name(&params, is_regex, ignore_case)].concat();
        let page = PageQuery::new(&[&list], params.cursor.as_deref(), params.limit)?;
        let after = page.after().map(|key| Place::of_key(key).ok_or(PageError::MalformedCursor)).transpose()?;
        let ThreadSearchParams { project_id, thread_id, branch_id, .. } = params;
        let scope = Scope { project_id, thread_id, branch_id };
        let found = self.look(query, scope, after, Bounds::of(page.limit())).await?;
        let cursor = |place: &Place| page.cursor(&place.key());
        Ok(SearchPage {
            hits: found.hits.into_iter().map(|(place, hit)| (cursor(&place), hit)).collect(),
            next: found.next.as_ref().map(cursor),
        })
    }
}

/// Stands for all that makes a search another one, so that a cursor is good for its own only.
fn name(params: &ThreadSearchParams, is_regex: bool, ignore_case: bool) -> String {
    let roles = [Role::User, Role::Assistant, Role::Tool].map(|role| match &params.roles {
        Some(roles) => roles.contains(&role),
        None => role != Role::Tool,
    });
    let ThreadSearchParams { query, project_id, thread_id, branch_id, .. } = params;
    let mut hasher = DefaultHasher::new();
    let scope = [project_id.as_deref(), thread_id.as_deref(), branch_id.as_deref()];
    (query, is_regex, ignore_case, roles, scope).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// What is wrong, as a sentence of its own.
fn sentence(why: &str) -> String {
    let mut letters = why.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
