//! What changes about the tools of servers while a run is under way (ruling 11).

use std::collections::BTreeMap;

use ropewalk_protocol::{ToolState, ToolsCause, ToolsChanged};

use crate::engine::{Engine, ThreadHandle, Turn};

/// The tools of servers as a run was shown them: the digest and the state of each.
pub type ShownServerTools = BTreeMap<String, (String, ToolState)>;

impl Engine {
    /// A server stands elsewhere, or has other tools: threads that have a run under way look again.
    pub async fn servers_changed(&self) {
        for thread in self.awake() {
            thread.servers_changed().await;
        }
    }
}

impl ThreadHandle {
    async fn servers_changed(&self) {
        self.post(tell_of_servers).await;
    }
}

/// Notes the tools of servers as they are for the step that begins.
pub fn note_server_tools(turn: &mut Turn<'_>) {
    turn.live.server_tools = Some(shown(turn));
}

/// Tells readers what is different from what was noted.
fn tell_of_servers(turn: &mut Turn<'_>) {
    if turn.live.is_parked || turn.state().runs.is_empty() {
        turn.live.server_tools = None;
        return;
    }
    let now = shown(turn);
    let Some(before) = turn.live.server_tools.replace(now.clone()) else { return };
    let added: Vec<String> = now.keys().filter(|name| !before.contains_key(*name)).cloned().collect();
    let removed: Vec<String> = before.keys().filter(|name| !now.contains_key(*name)).cloned().collect();
    let is_other = |(name, tool): &(&String, &(String, ToolState))| before.get(*name).is_some_and(|was| was != *tool);
    let changed: Vec<String> = now.iter().filter(is_other).map(|(name, _)| name.clone()).collect();
    if added.is_empty() && removed.is_empty() && changed.is_empty() {
        return;
    }
    let cause = ToolsCause::Server;
    turn.change.tools_changed(ToolsChanged { revision: 0, added, removed, changed, cause, client_name: None });
}

fn shown(turn: &Turn<'_>) -> ShownServerTools {
    let Some(servers) = turn.shared.servers.get() else { return BTreeMap::new() };
    let tools = servers.tools(&turn.state().thread.project_id);
    tools.into_iter().map(|tool| (tool.spec.flat_name.clone(), (tool.spec.digest.clone(), tool.state))).collect()
}
