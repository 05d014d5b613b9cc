//! What is wrong with servers and their tools.

use ropewalk_protocol::{Server, ServerState};

use super::Finding;

const CHECK: &str = "servers";

/// How long a server may be starting before that is worth telling.
const PATIENCE_MS: u64 = 15_000;

/// Those that do not work, those with tools that are out of use, and those that nobody has looked at.
pub(super) fn check(servers: &[Server], program: &str) -> Vec<Finding> {
    let used = servers.iter().filter(|server| server.enabled);
    let mut findings: Vec<Finding> = used.flat_map(|server| found(server, program)).collect();
    let added = servers.iter().filter(|server| !server.builtin).count();
    if findings.is_empty() && added > 0 {
        let what = if added == 1 { "1 added server".to_owned() } else { format!("{added} added servers") };
        findings.push(Finding::ok(CHECK, format!("{what}, and nothing is wrong with it that is known")));
    }
    findings
}

fn found(server: &Server, program: &str) -> Vec<Finding> {
    let (name, counts) = (&server.name, &server.counts);
    let mut findings = Vec::new();
    match server.state {
        ServerState::Failed => {
            let why = server.party.clone().unwrap_or_else(|| format!("{name}: it cannot be reached."));
            let fix =
                format!("`{program} mcp show {name}` shows what it wrote, `{program} mcp restart {name}` tries again");
            findings.push(Finding::problem(CHECK, why, fix));
        }
        ServerState::Starting if is_late(server) => {
            let why = server.party.clone().unwrap_or_else(|| format!("{name}: it is starting."));
            let fix =
                format!("`{program} mcp show {name}` says since when; `{program} mcp restart {name}` begins anew");
            findings.push(Finding::warning(CHECK, why, fix));
        }
        ServerState::NeedsReview if server.reason.as_deref() == Some("no_usable_tool") => {
            let fix = format!("`{program} mcp review {name}` says why of each");
            findings.push(Finding::warning(CHECK, format!("{name} has no tool that can be used"), fix));
        }
        ServerState::NeedsReview => {
            let fix = format!("`{program} mcp review {name}`, then `{program} mcp approve {name} TOOL…`");
            findings.push(Finding::note_with(CHECK, format!("nobody has reviewed the tools of {name}"), fix));
        }
        ServerState::Starting | ServerState::Ready | ServerState::Stopped => {}
    }
    for (count, what) in [
        (counts.blocked, "out of use until they are reviewed: they have changed, or cannot be used any more"),
        (counts.unusable, "unusable, whoever approves them"),
    ] {
        if count > 0 {
            let tools = if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") };
            let fix = format!("`{program} mcp review {name}` says why of each");
            findings.push(Finding::warning(CHECK, format!("{tools} of {name}: {what}"), fix));
        }
    }
    findings
}

fn is_late(server: &Server) -> bool {
    server.since.is_some_and(|since| ropewalk_protocol::Timestamp::now().millis_since(since) >= PATIENCE_MS)
}
