//! A server as it is kept: how it is started, and what its owner decided about its tools. How it stands is no part of it.

use std::collections::{BTreeMap, BTreeSet};

use ropewalk_protocol::{Revision, ServerId, Transport};
use serde::{Deserialize, Serialize};

use crate::tools::mcp::{Approved, OwnedServer, Reviewed};

/// The id and slug of the App tools.
pub const APP: &str = "app";

/// The id and slug of the bundled file tools.
pub const FILES: &str = "files";

/// A server as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerRecord {
    /// Its id.
    pub server_id: ServerId,
    /// What the names of its tools are made of.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// Whether its owner gave the name; else the server's own takes its place when it is first listed.
    #[serde(default)]
    pub name_was_given: bool,
    /// How it is reached.
    pub transport: Transport,
    /// The program of a server that is a child process; empty for one that is part of the daemon.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The program's arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The names of its variables, in order. Their values are among the secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_names: Vec<String>,
    /// Whether runs may use it.
    pub enabled: bool,
    /// Whether its word is taken for which of its tools only read.
    pub trusted: bool,
    /// Whether a review was ever submitted.
    #[serde(default)]
    pub reviewed: bool,
    /// The approved tools, in the order of their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved: Vec<Approved>,
    /// The names of tools that its owner saw and did not approve.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub cleared: BTreeSet<String>,
    /// Every tool id that was given, by name: a name that comes back gets its own (the reverse map of K03).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_ids: BTreeMap<String, String>,
    /// Its revision.
    pub revision: Revision,
}

impl ServerRecord {
    /// The two that are part of the daemon (APP-16, APP-17). They are on until their owner says otherwise (APP-18).
    pub(super) fn builtin() -> [Self; 2] {
        [
            Self::blank(APP.into(), APP.to_owned(), "App tools".to_owned(), Transport::InProcess),
            Self::blank(FILES.into(), FILES.to_owned(), "File tools".to_owned(), Transport::Stdio),
        ]
    }

    pub(super) fn blank(server_id: ServerId, slug: String, name: String, transport: Transport) -> Self {
        Self {
            server_id,
            slug,
            name,
            name_was_given: false,
            transport,
            command: String::new(),
            args: Vec::new(),
            env_names: Vec::new(),
            enabled: true,
            trusted: false,
            reviewed: false,
            approved: Vec::new(),
            cleared: BTreeSet::new(),
            tool_ids: BTreeMap::new(),
            revision: 1,
        }
    }

    /// Whether it is part of the daemon.
    #[must_use]
    pub fn is_builtin(&self) -> bool {
        matches!(self.server_id.as_str(), APP | FILES)
    }

    /// What a review is made of.
    #[must_use]
    pub fn reviewed(&self) -> Reviewed<'_> {
        Reviewed {
            server_id: &self.server_id,
            slug: &self.slug,
            approved: &self.approved,
            cleared: &self.cleared,
            tool_ids: &self.tool_ids,
        }
    }

    /// What its tools in runs are made of.
    #[must_use]
    pub fn owned(&self) -> OwnedServer<'_> {
        OwnedServer { reviewed: self.reviewed(), name: &self.name, trusted: self.trusted }
    }
}
