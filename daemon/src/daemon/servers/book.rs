//! What is known of servers beside what they say themselves: which there are, what of them was approved, how each is begun.

use std::path::Path;

use futures::future::BoxFuture;
use ropewalk_protocol::ProjectId;
use serde_json::{Map, Value};

use crate::{
    sessions::{Launch, Listing},
    tools::{
        Stakes, ToolSpec,
        servers::{Place, ServerTool},
    },
};

/// The servers of a daemon, as their owner and the daemon itself know them. Nothing here waits.
pub trait ServerBook: Send + Sync {
    /// The sources that are enabled for a project.
    fn sources(&self, project_id: &ProjectId) -> Vec<String>;

    /// What people call a source; nothing for one that there is not.
    fn name(&self, source: &str) -> Option<String>;

    /// The tools of a source as they may be used, given its newest list where there is one in this life of the daemon.
    fn tools(&self, source: &str, listing: Option<&Listing>) -> Vec<ServerTool>;

    /// How the session of a source is begun, for who stands here; nothing where it cannot be used from here.
    fn launch(&self, source: &str, place: &Place) -> Option<Launch>;

    /// Under what key the session of a source stands for a project, where all of the project share one.
    fn shared_key(&self, source: &str, project_id: &ProjectId) -> Option<String>;

    /// Whether a source is ready as soon as it is called, so that no step has to open it before.
    fn opens_at_a_call(&self, _source: &str) -> bool {
        false
    }

    /// What a call from here would change of what runs may do. Only the daemon's own tools can.
    fn stakes<'a>(
        &'a self,
        _place: &'a Place,
        _tool: &'a ToolSpec,
        _arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Option<Stakes>> {
        Box::pin(std::future::ready(None))
    }

    /// A step of a run begins: what its calls are made under is settled now.
    fn step_begins(&self, _place: &Place) {}

    /// Our own program, for a source that is a mode of it. Only the first word counts.
    fn our_binary(&self, _binary: &Path) {}

    /// Where the daemon lives, which is no server's business. Only the first word counts.
    fn our_home(&self, _home: &Path) {}

    /// A source speaks this version of the protocol, as far as is known now.
    fn negotiated(&self, _source: &str, _version: Option<&str>) {}
}

/// No servers.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoServers;

impl ServerBook for NoServers {
    fn sources(&self, _: &ProjectId) -> Vec<String> {
        Vec::new()
    }

    fn name(&self, _: &str) -> Option<String> {
        None
    }

    fn tools(&self, _: &str, _: Option<&Listing>) -> Vec<ServerTool> {
        Vec::new()
    }

    fn launch(&self, _: &str, _: &Place) -> Option<Launch> {
        None
    }

    fn shared_key(&self, _: &str, _: &ProjectId) -> Option<String> {
        None
    }
}
