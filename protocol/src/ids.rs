//! Identifiers of everything the wire names, one type each, so that no id is ever passed where another is meant.

use std::{borrow::Borrow, fmt, ops::Deref, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        ///
        /// Opaque to clients: compare it, store it, send it back, never take it apart.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        #[schemars(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Deref for $name {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )*};
}

ids! {
    /// A project.
    ProjectId
    /// A directory grant of a project.
    GrantId
    /// A policy.
    PolicyId
    /// A thread; also the id of its original branch.
    ThreadId
    /// A branch of a thread.
    BranchId
    /// A message of a thread.
    MessageId
    /// A run.
    RunId
    /// An item of a run.
    ItemId
    /// An interaction: something the daemon waits for a client to do.
    InteractionId
    /// Something that waits for the person.
    AttentionId
    /// A tool call of a run.
    CallId
    /// A model endpoint.
    EndpointId
    /// A client process, or one life of the daemon.
    InstanceId
    /// What makes a repeated request recognisable: 1 to 128 of `[A-Za-z0-9_.:-]`.
    OperationId
    /// An MCP server.
    ServerId
    /// An account at an MCP server.
    AccountId
    /// An installed app.
    AppId
    /// An agent of an app.
    AgentId
    /// A payload stored out of line.
    BlobId
    /// A memory entry.
    EntryId
    /// A resource of a project.
    ResourceId
    /// A review of a thread.
    ReviewId
    /// The transcript of a subtask.
    TranscriptId
    /// The files a run changed.
    ChangeSetId
}

impl From<ThreadId> for BranchId {
    /// The original branch of a thread has the thread's id.
    fn from(thread: ThreadId) -> Self {
        Self(thread.0)
    }
}
