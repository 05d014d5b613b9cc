//! Which servers a project uses.

use std::sync::Arc;

use ropewalk_protocol::{Policy, Project, ProjectId, ProjectServer, ServerChoice};

use super::{Refusal, ServerRecord, Snapshot};

/// The bindings of a project after some choices, merged by server.
pub(super) fn merged(
    snapshot: &Snapshot,
    before: &[ProjectServer],
    choices: Option<&[ServerChoice]>,
) -> Result<Vec<ProjectServer>, Refusal> {
    let mut servers = before.to_vec();
    for choice in choices.unwrap_or_default() {
        let Some(record) = snapshot.servers.get(&choice.server_id) else {
            return Err(Refusal::not_found("server", &choice.server_id));
        };
        bind(&mut servers, record, Some(choice.enabled));
    }
    Ok(servers)
}

/// The project of a rule, with a binding to the server that the rule is about (APP-20).
pub(super) fn bound_by_rule(snapshot: &Snapshot, project: &Arc<Project>, policy: &Policy) -> Project {
    let mut project = (**project).clone();
    if let Some(record) = source_of(policy).and_then(|source| snapshot.servers.get(source)) {
        bind(&mut project.servers, record, None);
    }
    project
}

/// The source a rule is about, whole or by one of its tools.
pub(super) fn source_of(policy: &Policy) -> Option<&str> {
    policy.source.as_deref().or_else(|| policy.tool.as_ref().map(|tool| tool.source.as_str()))
}

fn bind(servers: &mut Vec<ProjectServer>, record: &ServerRecord, enabled: Option<bool>) {
    let known = servers.iter_mut().find(|server| server.server_id == record.server_id);
    match known {
        Some(server) => server.enabled = enabled.unwrap_or(server.enabled),
        None => servers.push(ProjectServer {
            server_id: record.server_id.clone(),
            transport: record.transport,
            enabled: enabled.unwrap_or(true),
        }),
    }
}

impl Snapshot {
    /// The servers that are on, and that a project has not switched off for itself. Rules are not looked at.
    pub fn servers_of(&self, project: &ProjectId) -> impl Iterator<Item = &Arc<ServerRecord>> {
        let project = self.projects.get(project);
        self.servers.values().filter(move |record| {
            let is_off = |server: &ProjectServer| server.server_id == record.server_id && !server.enabled;
            record.enabled && !project.is_some_and(|project| project.servers.iter().any(is_off))
        })
    }
}
