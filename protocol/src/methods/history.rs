//! The past of a thread and what goes on in it: its messages, its events, and following them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BranchId, Cursor, Message, ProjectId, Role, Seq, ThreadEvent, ThreadId};

/// Parameters of `thread/messages`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadMessagesParams {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Which branch; the original one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// Where the page begins; absent: at the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// One page of a chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    /// The messages, from head to root.
    pub items: Vec<Message>,
    /// Where the next page begins; absent at the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// The last event of the thread when this was read.
    pub seq: Seq,
}

/// Parameters of `thread/search`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadSearchParams {
    /// What to look for within the text of one message.
    pub query: String,
    /// Whether the query is a regular expression, matched in linear time: without lookaround and backreferences. Literal
    /// unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_regex: Option<bool>,
    /// Whether letters match whatever their case; they do unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_case: Option<bool>,
    /// Whose messages are looked at; those of users and of models unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<Role>>,
    /// Only threads of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Only this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Only the chain of this branch of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// Where the search goes on. It is good for the same query, roles and scope only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many hits at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Parameters of `thread/events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadEventsParams {
    /// Which thread.
    pub thread_id: ThreadId,
    /// The last event this client has seen; 0 for none.
    pub after: Seq,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// How long to wait for a first event when there is none, at most 600,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// Some durable events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventPage {
    /// The events, as `thread/event` would carry them.
    pub events: Vec<ThreadEvent>,
    /// What to send as `after` next time.
    pub next_after: Seq,
}

/// Parameters of `thread/subscribe`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadSubscribeParams {
    /// Which thread.
    pub thread_id: ThreadId,
    /// The last event this client has seen; absent: only what comes now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Seq>,
}

/// The answer to `thread/subscribe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subscribed {
    /// The last event of the thread.
    pub seq: Seq,
}
