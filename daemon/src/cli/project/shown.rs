//! Projects in words.

use ropewalk_protocol::{Grant, Project, Timestamp};

use crate::cli::{
    policy,
    text::{ago, one_line, table},
    words::spelled,
};

/// Characters of a name in the list.
const NAME_CHARACTERS: usize = 60;

/// A line for each project.
pub(super) fn listed(projects: &[Project]) -> String {
    let now = Timestamp::now();
    let row = |project: &Project| {
        let mark = if project.is_default { "default" } else { "" };
        let name = one_line(&project.name, NAME_CHARACTERS);
        vec![project.project_id.to_string(), ago(project.updated_at, now), name, mark.to_owned()]
    };
    table(&projects.iter().map(row).collect::<Vec<_>>()).trim_end().to_owned()
}

/// Everything about one project.
pub(super) fn shown(project: &Project) -> String {
    let mut lines = vec![format!("{} ({})", project.name, project.project_id)];
    lines.extend(project.description.clone());
    if project.is_default {
        lines.push("It is the project of threads that name none.".to_owned());
    }
    if let Some(endpoint) = &project.default_endpoint_id {
        lines.push(format!("Its threads use endpoint {endpoint}."));
    }
    if let Some(instructions) = &project.instructions {
        lines.push(format!("\nIts runs are told:\n{instructions}"));
    }
    let servers: Vec<_> = project
        .servers
        .iter()
        .map(|server| {
            let state = if server.enabled { "used" } else { "not used" };
            vec![server.server_id.to_string(), state.to_owned()]
        })
        .collect();
    section(&mut lines, "Servers", &servers, "");
    let grants: Vec<_> = project.grants.iter().flatten().map(grant_row).collect();
    section(&mut lines, "Grants", &grants, "none: its runs may reach no directory");
    let rule = |rule: &ropewalk_protocol::Policy| {
        let mark = if rule.matches == 0 { "matches no tool that is known" } else { "" };
        vec![rule.policy_id.to_string(), policy::described(rule), mark.to_owned()]
    };
    let rules: Vec<_> = project.policies.iter().flatten().map(rule).collect();
    section(&mut lines, "Rules of its own", &rules, "none");
    lines.join("\n")
}

/// A grant as a row: its id, what it allows, where.
pub(crate) fn grant_row(grant: &Grant) -> Vec<String> {
    let words: Vec<_> = grant.capabilities.iter().map(spelled).collect();
    let last = grant.path.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = if grant.name == last { String::new() } else { format!("({})", grant.name) };
    vec![grant.grant_id.to_string(), words.join(","), grant.path.clone(), name]
}

fn section(lines: &mut Vec<String>, title: &str, rows: &[Vec<String>], none: &str) {
    if !rows.is_empty() {
        lines.push(format!("\n{title}:\n{}", table(rows).trim_end()));
    } else if !none.is_empty() {
        lines.push(format!("\n{title}: {none}"));
    }
}
