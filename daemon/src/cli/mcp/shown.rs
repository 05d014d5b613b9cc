//! Servers and their tools, as a person reads them.

use ropewalk_protocol::{ReviewTool, Server, ServerAdded, ServerReview, ServerState, Timestamp};

use crate::cli::{
    failure::Exit,
    text::{one_line, table},
    words::spelled,
};

/// Characters of a description in a table.
const DESCRIPTION_CHARACTERS: usize = 60;

/// Characters of one side of a difference.
const SIDE_CHARACTERS: usize = 200;

/// Characters of a tool's name.
const NAME_CHARACTERS: usize = 64;

/// All of them, a line each.
pub(super) fn listed(servers: &[Server]) -> String {
    let row = |server: &Server| vec![named(server), state(server), command(server), notes(server).join(", ")];
    table(&servers.iter().map(row).collect::<Vec<_>>()).trim_end().to_owned()
}

/// One of them, whole.
pub(super) fn whole(server: &Server, program: &str) -> String {
    let mut lines = vec![
        format!("{} ({})", server.name, server.server_id),
        format!("state: {}", state(server)),
        format!("command: {}", command(server)),
    ];
    if server.builtin {
        lines.push(bundled(server, program));
    }
    if let Some(names) = server.env_names.as_ref().filter(|names| !names.is_empty()) {
        lines.push(format!("environment: {}", names.join(" ")));
    }
    if !server.builtin {
        lines.push(format!("tools: {}", notes(server).join(", ")));
    }
    if let Some(party) = &server.party {
        lines.push(party.clone());
    }
    if let Some(tail) = &server.stderr_tail {
        lines.push(format!("stderr:\n{}", tail.trim_end()));
    }
    lines.join("\n")
}

/// What came of adding one.
pub(super) fn added(result: &ServerAdded, program: &str) -> String {
    let server = &result.server;
    match &result.review {
        Some(review) => format!("{} is added.\n{}", server.name, reviewed(server, review, program)),
        None => format!("{} is added. {}", server.name, standing(server, program)),
    }
}

/// How one stands, and what to do next.
pub(super) fn standing(server: &Server, program: &str) -> String {
    let name = &server.name;
    match server.state {
        ServerState::Ready => format!("{name} is ready."),
        ServerState::Starting => format!(
            "{name} is {}. `{program} mcp show {name}` says how far it has come, `{program} mcp review {name}` shows its tools.",
            state(server)
        ),
        ServerState::Stopped => format!("{name} is not running; the first use starts it."),
        ServerState::NeedsReview => {
            format!("{name} answers. None of its tools can be used yet; `{program} mcp review {name}` shows them.")
        }
        ServerState::Failed => format!(
            "{} `{program} mcp show {name}` shows what it wrote, `{program} mcp restart {name}` tries again.",
            server.party.as_deref().unwrap_or("It cannot be reached.")
        ),
    }
}

/// What there is to know of one that is part of the daemon, in place of a review.
pub(super) fn bundled(server: &Server, program: &str) -> String {
    let (name, id) = (&server.name, &server.server_id);
    format!(
        "{name} are part of the daemon: they cannot be changed or removed, and there is nothing to review. `{program} mcp disable \
         {id}` switches them off, with `--project NAME` for one project; `{program} policy set deny --source {id}` and its \
         like decide about calls."
    )
}

/// What a script sees of it.
pub(super) fn exit(server: &Server) -> Exit {
    if server.state == ServerState::Failed { Exit::FAILED } else { Exit::DONE }
}

/// The tools of a server beside what was approved of them, and what to do next.
pub(super) fn reviewed(server: &Server, review: &ServerReview, program: &str) -> String {
    if review.tools.is_empty() {
        return match server.state {
            ServerState::Failed | ServerState::Starting => standing(server, program),
            _ => format!("{} has no tools.", server.name),
        };
    }
    let row = |tool: &ReviewTool| {
        let about = tool.reason.as_deref().unwrap_or(&tool.description);
        vec![
            // The server wrote it, and a name with a line break in it would look like a row of its own.
            one_line(&tool.name, NAME_CHARACTERS),
            spelled(&tool.kind),
            spelled(&tool.state),
            tool.agent_tool.clone(),
            one_line(about, DESCRIPTION_CHARACTERS),
        ]
    };
    let mut text = table(&review.tools.iter().map(row).collect::<Vec<_>>());
    for tool in &review.tools {
        text.push_str(&differences(tool));
    }
    let name = &server.name;
    if review.ignored_tools > 0 {
        text.push_str(&format!("{} more were ignored.\n", review.ignored_tools));
    }
    text.push_str(&format!("digest: {}\n", review.digest));
    text.push_str(&format!(
        "`{program} mcp approve {name} --all` approves what can be used, `{program} mcp approve {name} TOOL…` some of it."
    ));
    text
}

fn differences(tool: &ReviewTool) -> String {
    let Some(diff) = &tool.diff else { return String::new() };
    let side = |value: &Option<serde_json::Value>| {
        value.as_ref().map_or_else(|| "nothing".to_owned(), |value| one_line(&value.to_string(), SIDE_CHARACTERS))
    };
    let line = |(field, it): (&String, &ropewalk_protocol::FieldDifference)| {
        format!("{} {field}\n  was {}\n  now {}\n", one_line(&tool.name, NAME_CHARACTERS), side(&it.was), side(&it.now))
    };
    diff.iter().map(line).collect()
}

/// What a server is called, with the id by which commands and rules know one that is part of the daemon.
fn named(server: &Server) -> String {
    if server.builtin { format!("{} ({})", server.name, server.server_id) } else { server.name.clone() }
}

fn state(server: &Server) -> String {
    if !server.enabled {
        return "switched off".to_owned();
    }
    let waits_for = match (server.state, server.reason.as_deref()) {
        (ServerState::Starting, Some("handshake")) => "waits for its answer to the handshake",
        (ServerState::Starting, Some("tools")) => "waits for the list of its tools",
        (ServerState::Starting, Some("closing")) => "waits for the end of its former process",
        _ => return spelled(&server.state),
    };
    let seconds = server.since.map(|since| Timestamp::now().millis_since(since) / 1_000);
    let lasting = seconds.map(|seconds| format!(" for {seconds} s")).unwrap_or_default();
    format!("{}{lasting}, {waits_for}", spelled(&server.state))
}

fn command(server: &Server) -> String {
    match &server.command {
        Some(command) => {
            let args = server.args.iter().flatten().map(String::as_str);
            std::iter::once(command.as_str()).chain(args).collect::<Vec<_>>().join(" ")
        }
        None => "part of the daemon".to_owned(),
    }
}

/// How many tools stand how, and what else is worth knowing.
fn notes(server: &Server) -> Vec<String> {
    let counts = &server.counts;
    let counted = [
        (counts.approved, "approved"),
        (counts.blocked, "blocked until you review them"),
        (counts.updates, "with new texts"),
        (counts.new, "new"),
        (counts.missing, "not on the server any more"),
        (counts.unusable, "unusable"),
    ];
    let mut notes: Vec<String> =
        counted.iter().filter(|(count, _)| *count > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if server.builtin {
        notes.push("nothing to review".to_owned());
    }
    if server.trusted {
        notes.push("trusted".to_owned());
    }
    if notes.is_empty() {
        notes.push("-".to_owned());
    }
    notes
}
