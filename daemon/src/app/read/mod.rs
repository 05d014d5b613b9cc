//! `app_read`: the daemon's own data, resource by resource, in pages.

mod notes;
mod page;
mod resources;
mod runs;
mod search;
mod settings;

use rmcp::model::{Tool, ToolAnnotations};
use ropewalk_protocol::{BranchId, ProjectId, ThreadId, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    AppServer,
    answer::{Answer, ToolError},
    tools,
};
use crate::{context::cut::first_characters, page::PageQuery};

pub const NAME: &str = "app_read";

const DESCRIPTION: &str = "Reads the data of this application, page by page. Resources: Projects (all projects), Project \
    (one project with its directory grants and tool policies), Threads (the threads of a project, newest first), Thread \
    (one thread with its branches, without messages), Messages (the messages of one branch as its model sees them, newest \
    first), Runs (how the branches of a thread stand: revision, state, queue, run and what can be done about one that ended \
    badly), Settings (what holds everywhere: settings, servers, global tool policies, endpoints), Memory (what is remembered \
    of the project and of the user: by title, those with all words of query, or one with its text by its resourceId), \
    Instructions (what runs of the project are told, and how large each part of your own context is), Search (messages that \
    have the text of query, in all threads or where projectId, threadId and branchId say; each with a fragment). Ids you leave \
    out are those of your own project, thread and branch, but for Search. An answer has items, truncated (the page was ended \
    early because it became too long, or a search had looked at enough) and, when there is more, nextCursor: call again with the same arguments \
    and this cursor.";

/// Characters of a cursor that a summary shows.
const CURSOR_SHOWN: usize = 12;

/// What can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each is the noun it names; with words of its own the schema would be no plain enum")]
pub enum ReadResource {
    Projects,
    Project,
    Threads,
    Thread,
    Messages,
    Runs,
    Settings,
    Search,
    Memory,
    Instructions,
}

/// The arguments of `app_read`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadParams {
    /// What to read.
    pub resource: ReadResource,
    /// The id of the one project, thread or memory entry to read, where you have no more than its id.
    #[serde(default)]
    pub resource_id: Option<String>,
    /// The project of Project, Threads, Memory and Instructions. Left out: your own. Of Search; left out: all of them.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// The thread of Thread, Messages and Runs. Left out: your own. Of Search; left out: all of them.
    #[serde(default)]
    pub thread_id: Option<ThreadId>,
    /// The branch of Messages. Left out: your own branch of your own thread, the original branch of any other. Of Runs and
    /// Search; left out: all of the thread.
    #[serde(default)]
    pub branch_id: Option<BranchId>,
    /// What Search looks for within one message; of Memory, words that all have to be in title, text or tags.
    #[serde(default)]
    pub query: Option<String>,
    /// Whether query is a regular expression, matched in linear time: without lookaround and backreferences. Left out: it is
    /// literal.
    #[serde(default)]
    pub is_regex: Option<bool>,
    /// Whether Search matches letters whatever their case. Left out: it does.
    #[serde(default)]
    pub ignore_case: Option<bool>,
    /// Whose messages Search looks at. Left out: User and Assistant.
    #[serde(default)]
    pub roles: Option<Vec<search::Speaker>>,
    /// How many items a page has at most; more than 1000 is read as 1000.
    #[serde(default = "default_limit")]
    pub limit: u64,
    /// Where to go on: nextCursor of the page before, as it came.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// A page of a resource; a single document is a page with one item (APP-38).
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadPage {
    /// What was read.
    pub resource: ReadResource,
    /// The items.
    pub items: Vec<Map<String, Value>>,
    /// Where the next page begins; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Whether the page was ended before its limit, because it became too long.
    pub truncated: bool,
    /// How many items the page has.
    pub returned: u64,
    /// How many items there are in all, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

const fn default_limit() -> u64 {
    100
}

/// How the tool is listed.
pub fn tool() -> Tool {
    let annotations = ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
    tools::tool::<ReadParams, ReadPage>(NAME, "Read application data", DESCRIPTION, annotations)
}

impl AppServer {
    pub(super) async fn read(&self, params: ReadParams) -> Result<Answer, ToolError> {
        let limit = params.limit.clamp(1, limits::PAGE_ITEMS);
        search::only_of_search(&params)?;
        let page = match params.resource {
            ReadResource::Projects => self.projects(&params, limit)?,
            ReadResource::Project => self.project(&params)?,
            ReadResource::Threads => self.threads(&params, limit)?,
            ReadResource::Thread => self.thread(&params).await?,
            ReadResource::Messages => self.messages(&params, limit).await?,
            ReadResource::Runs => self.runs(&params, limit).await?,
            ReadResource::Settings => self.settings(&params, limit)?,
            ReadResource::Search => self.search(&params, limit).await?,
            ReadResource::Memory => self.memory(&params, limit)?,
            ReadResource::Instructions => self.instructions(&params).await?,
        };
        Answer::new(&page, summary(&params, limit, &page))
    }
}

/// Reads the cursor of a list. `list` names everything that makes it another list.
fn query(params: &ReadParams, list: &[&str], limit: u64) -> Result<PageQuery, ToolError> {
    PageQuery::new(list, params.cursor.as_deref(), Some(limit)).map_err(|error| ToolError(error.to_string()))
}

/// A read in one line: what, how much was asked for and from where, and what came (APP-203).
fn summary(params: &ReadParams, limit: u64, page: &ReadPage) -> String {
    let from = match &params.cursor {
        Some(cursor) => format!("cursor {}", first_characters(cursor, CURSOR_SHOWN)),
        None => "no cursor".to_owned(),
    };
    let items = if page.returned == 1 { "item" } else { "items" };
    let more = match (&page.next_cursor, page.truncated) {
        (None, _) => "",
        (Some(_), false) => ", more follow",
        (Some(_), true) => ", cut short by its length, more follow",
    };
    format!("Read {:?} (page size {limit}, {from}): {} {items}{more}", params.resource, page.returned)
}
