//! Where a search goes on: a place in an order that nothing anybody does can change.

use ropewalk_protocol::{ProjectId, Seq, ThreadId};
use serde::{Deserialize, Serialize};

/// Where a message stands in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Spot {
    /// The record that let it join.
    pub n: Seq,
    /// Which of the messages that joined there, from 0.
    pub nth: u64,
}

/// A place between two messages, in the order of project, thread and message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The project.
    pub project_id: ProjectId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The message before the place; absent: all of the thread is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spot: Option<Spot>,
}

impl Place {
    /// It as a word of a list.
    #[must_use]
    pub fn key(&self) -> String {
        let Self { project_id, thread_id, spot } = self;
        serde_json::json!([project_id, thread_id, spot.map(|Spot { n, nth }| [n, nth])]).to_string()
    }

    /// What [`Self::key`] wrote; nothing for anything else.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        let (project_id, thread_id, spot): (ProjectId, ThreadId, Option<(Seq, u64)>) =
            serde_json::from_str(key).ok()?;
        Some(Self { project_id, thread_id, spot: spot.map(|(n, nth)| Spot { n, nth }) })
    }
}
