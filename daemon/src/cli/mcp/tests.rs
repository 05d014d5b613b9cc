//! What a person reads of servers, and what the flags say to the daemon.

use clap::Parser;
use ropewalk_protocol::{ServerAdded, ServerReview};
use serde_json::{Value, json};

use super::{
    shown::{added, exit, listed, reviewed, standing, whole},
    *,
};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: McpArgs,
}

fn parse(line: &[&str]) -> Result<Command, clap::Error> {
    Line::try_parse_from(["mcp"].iter().chain(line)).map(|line| line.args.command)
}

fn server(more: Value) -> Server {
    let mut all = json!({
        "serverId": "s-1", "slug": "notes", "name": "notes", "transport": "stdio", "command": "node", "args": ["n.mjs"],
        "envNames": ["TOKEN"], "builtin": false, "readOnly": false, "removable": true, "enabled": true, "trusted": false,
        "privateNetwork": false, "origins": [], "signIn": "none", "state": "ready", "accounts": [],
        "counts": {"approved": 2, "blocked": 1, "updates": 0, "new": 3, "missing": 0, "unusable": 0}, "revision": 1,
    });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

fn review() -> ServerReview {
    let tool = |name: &str, more: Value| {
        let mut tool = json!({
            "name": name, "toolId": name, "permission": format!("mcp-notes.{name}"),
            "function": format!("mcp.notes.{name}"), "agentTool": format!("mcp_notes_{name}"),
            "description": "Does something.", "kind": "read", "state": "new", "approved": false,
        });
        tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tool
    };
    let changed =
        json!({"state": "changed", "approved": true, "diff": {"inputSchema": {"was": {"a": 1}, "now": {"a": 2}}}});
    let odd =
        json!({"state": "unusable", "reason": "schema_not_object: the type of its input schema must be \"object\""});
    serde_json::from_value(json!({
        "serverId": "s-1", "digest": "d-1", "origins": [], "ignoredTools": 1,
        "tools": [tool("get", changed), tool("odd", odd), tool("put", json!({"kind": "write"}))],
    }))
    .unwrap()
}

#[test]
fn which_tools_are_approved_is_said_and_in_one_way_only() {
    assert!(parse(&["approve", "notes"]).is_err());
    assert!(parse(&["approve", "notes", "get", "--all"]).is_err());
    assert!(parse(&["approve", "notes", "--all", "--none"]).is_err());
    assert!(parse(&["approve", "notes", "--all", "--trust", "--no-trust"]).is_err());
    for line in
        [&["approve", "notes", "get", "put"][..], &["approve", "notes", "--all"], &["approve", "notes", "--none"]]
    {
        assert!(parse(line).is_ok(), "{line:?}");
    }
}

#[test]
fn a_program_follows_two_dashes_with_all_that_is_its_own() {
    assert!(parse(&["add", "notes"]).is_err());
    assert!(parse(&["add", "notes", "node"]).is_err());
    assert!(parse(&["add", "notes", "--env", "A=b", "--", "node", "--env", "x", "--all"]).is_ok());
}

#[test]
fn a_list_has_a_line_for_each_and_what_waits_for_its_owner() {
    let app = json!({"name": "App tools", "builtin": true, "command": null, "args": null, "counts":
        {"approved": 0, "blocked": 0, "updates": 0, "new": 0, "missing": 0, "unusable": 0}});
    let text = listed(&[server(app), server(json!({})), server(json!({"enabled": false, "trusted": true}))]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].contains("App tools (s-1)") && lines[0].contains("part of the daemon"), "{text}");
    assert!(lines[0].ends_with("nothing to review"), "{text}");
    assert!(lines[1].contains("node n.mjs") && lines[1].contains("1 blocked until you review them, 3 new"), "{text}");
    assert!(lines[2].contains("switched off") && lines[2].ends_with("trusted"), "{text}");
}

#[test]
fn a_review_shows_states_reasons_differences_and_the_next_step() {
    let text = reviewed(&server(json!({})), &review(), "ropewalk");
    for part in [
        "mcp_notes_get",
        "changed",
        "get inputSchema\n  was {\"a\":1}\n  now {\"a\":2}",
        "schema_not_object",
        "1 more were ignored",
        "digest: d-1",
        "`ropewalk mcp approve notes --all`",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn a_server_that_failed_says_why_and_the_exit_code_too() {
    let failed = server(json!({"state": "failed", "reason": "start_failed", "party": "notes: no such program."}));
    let text = standing(&failed, "ropewalk");
    assert!(text.starts_with("notes: no such program. `ropewalk mcp show notes`"), "{text}");
    assert_eq!((exit(&failed), exit(&server(json!({})))), (Exit::FAILED, Exit::DONE));
    let result = ServerAdded { server: failed, review: None, replayed: false };
    assert!(added(&result, "ropewalk").starts_with("notes is added. notes: no such program."));
}

#[test]
fn one_is_shown_with_names_of_its_variables_and_its_last_words() {
    let text = whole(&server(json!({"stderrTail": "boom\n"})), "ropewalk");
    assert!(text.contains("environment: TOKEN") && text.ends_with("stderr:\nboom"), "{text}");
}

#[test]
fn app_21_one_that_is_part_of_the_daemon_says_so_and_how_it_is_switched_off() {
    let app = json!({"serverId": "app", "name": "App tools", "builtin": true, "readOnly": true, "command": null, "args": null});
    let text = whole(&server(app), "ropewalk");
    for part in ["App tools (app)", "state: ready", "nothing to review", "`ropewalk mcp disable app`", "--project NAME"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains("tools: "), "{text}");
}

#[test]
fn m17_a_server_that_is_starting_says_for_how_long_and_what_is_waited_for() {
    let since = ropewalk_protocol::Timestamp::now();
    let text = standing(&server(json!({"state": "starting", "since": since, "reason": "handshake"})), "ropewalk");
    assert!(
        text.starts_with("notes is starting for ") && text.contains(" s, waits for its answer to the handshake."),
        "{text}"
    );
}
