//! The added servers as sessions and runs look them up.

use std::sync::Arc;

use ropewalk_protocol::{ProjectId, ServerId};

use super::OwnedServers;
use crate::{
    catalogue::ServerRecord,
    daemon::ServerBook,
    sessions::{self, ChildCommand, How, Launch},
    tools::{
        digest::digest,
        mcp::{ListedTool, Listing},
        servers::{Place, ServerTool},
    },
};

/// How long a program may take to shake hands: some are fetched before they start.
const START_MS: u64 = 30_000;

impl OwnedServers {
    /// How the session with a server is begun; nothing for one that is gone, or whose environment cannot be read.
    #[must_use]
    pub fn launch_of(&self, record: &ServerRecord) -> Option<Launch> {
        if record.is_builtin() {
            return None;
        }
        let command = ChildCommand {
            command: record.command.clone(),
            arguments: record.args.clone(),
            environment: self.environment_of(record)?,
            ..ChildCommand::default()
        };
        let fingerprint = digest(&(&command.command, &command.arguments, &command.environment));
        Some(Launch {
            key: key_of(&record.server_id),
            name: record.name.clone(),
            version: self.version_of(&record.server_id, &fingerprint),
            fingerprint,
            start_timeout_ms: START_MS,
            how: How::Child(command),
        })
    }

    fn owned(&self, source: &str) -> Option<Arc<ServerRecord>> {
        let record = self.catalogue.snapshot().servers.get(source).cloned();
        record.filter(|record| !record.is_builtin())
    }
}

/// By what the session with a server is found: all threads share it.
pub(super) fn key_of(id: &ServerId) -> String {
    format!("mcp:{id}")
}

impl ServerBook for OwnedServers {
    /// Those that are on, here too, and of which a tool was approved.
    fn sources(&self, project_id: &ProjectId) -> Vec<String> {
        let snapshot = self.catalogue.snapshot();
        let used = snapshot.servers_of(project_id).filter(|record| !record.is_builtin() && !record.approved.is_empty());
        used.map(|record| record.server_id.to_string()).collect()
    }

    fn name(&self, source: &str) -> Option<String> {
        self.owned(source).map(|record| record.name.clone())
    }

    fn tools(&self, source: &str, listing: Option<&sessions::Listing>) -> Vec<ServerTool> {
        let Some(record) = self.owned(source) else { return Vec::new() };
        let listing = listing.map(|listing| self.as_reviewed(&record.server_id, listing));
        self.approved_tools(&record, listing).to_vec()
    }

    fn launch(&self, source: &str, _: &Place) -> Option<Launch> {
        self.launch_of(&*self.owned(source)?)
    }

    fn shared_key(&self, source: &str, _: &ProjectId) -> Option<String> {
        self.owned(source).map(|record| key_of(&record.server_id))
    }

    fn negotiated(&self, source: &str, version: Option<&str>) {
        let launch = self.owned(source).and_then(|record| self.launch_of(&record));
        if let Some(Launch { fingerprint, .. }) = launch {
            self.keep_version(&source.into(), fingerprint, version);
        }
    }
}

/// A list as reviews read it.
pub(super) fn converted(listing: &sessions::Listing) -> Listing {
    let tool = |tool: &sessions::ListedTool| ListedTool {
        name: tool.name.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        input_schema: Arc::clone(&tool.input_schema),
        output_schema: tool.output_schema.clone(),
        annotations: tool.annotations.clone(),
        needs_task: tool.needs_task,
    };
    Listing { tools: listing.tools.iter().map(tool).collect(), ignored: listing.ignored }
}
