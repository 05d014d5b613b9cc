//! Who may do what: each row of the table in `docs/authority.md` is tried on a daemon, and no row is left out.

mod changes;
mod servers;

use std::collections::BTreeMap;

use futures::future::{BoxFuture, FutureExt as _};
use serde_json::{Value, json};

use changes::{agent_adds_server, agent_changes, agent_moves, agent_narrows, agent_widens};
use servers::{
    agent_files_outside, agent_files_read, agent_files_ungranted, agent_files_unwritable, agent_files_write,
    agent_trusted_reads, agent_trusted_writes, agent_unreviewed, agent_untrusted,
};

use crate::support::{Piped, Raw, Subject as _, get_issue, success, tool_with};

/// Who does what, as the table says it.
type Row = (String, String);

/// Tries a row on a daemon of its own; the outcome, in the table's words.
type Try = fn() -> BoxFuture<'static, String>;

/// The rows of the table: who, does what, by default.
fn table() -> BTreeMap<Row, String> {
    let page = include_str!("../../../docs/authority.md");
    let rows = page.lines().filter(|line| line.starts_with('|')).skip(2).map(|line| {
        let cells: Vec<String> = line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect();
        let [who, what, outcome] = &cells[..] else { panic!("the table has three columns: {line}") };
        ((who.clone(), what.clone()), outcome.clone())
    });
    rows.collect()
}

/// What a row is tried on.
trait Ground {
    /// One that nothing was done to yet.
    async fn new() -> Self;
}

impl Ground for Piped {
    async fn new() -> Self {
        Self::new().await
    }
}

async fn tried<G: Ground, F: Future<Output = String>>(r#try: impl Fn(G) -> F) -> String {
    r#try(G::new().await).await
}

macro_rules! tries {
    ($($who:literal, $what:literal => $try:ident;)*) => {
        fn tries() -> BTreeMap<Row, Try> {
            let mut tries: BTreeMap<Row, Try> = BTreeMap::new();
            $(tries.insert(($who.to_owned(), $what.to_owned()), || tried($try).boxed());)*
            tries
        }
    };
}

tries! {
    "who has not shaken hands", "any method but initialize" => no_handshake;
    "a client that names an app in its handshake", "anything" => app_session;
    "an owner client", "read and change projects, grants, threads, rules, endpoints and settings" => owner_changes;
    "an owner client", "read the key of an endpoint" => owner_reads_key;
    "an owner client", "settle an approval or a question of any thread" => owner_settles;
    "an owner client", "settle a call of a tool that another client holds" => owner_settles_call;
    "an owner client", "declare a tool whose name another client holds" => owner_declares_taken;
    "an owner client", "add, review, change and remove MCP servers (mcp/…)" => owner_servers;
    "an owner client", "change or remove a bundled MCP server" => owner_removes_builtin;
    "the agent of a run", "call a client's tool" => agent_client_tool;
    "the agent of a run", "call a client's tool whose declaration wishes to ask" => agent_asking_tool;
    "the agent of a run", "call ask_user" => agent_ask_user;
    "the agent of a run", "call app_read" => agent_app_read;
    "the agent of a run", "call app_navigate" => agent_app_navigate;
    "the agent of a run", "call app_memory" => agent_app_memory;
    "the agent of a run", "call app_instructions where a rule allows all App tools" => agent_app_instructions;
    "the agent of a run", "call a file tool in a project without grants" => agent_files_ungranted;
    "the agent of a run", "read a file inside a grant" => agent_files_read;
    "the agent of a run", "write a file inside a grant to write" => agent_files_write;
    "the agent of a run", "write a file inside a grant to read only" => agent_files_unwritable;
    "the agent of a run", "read a file outside of the grants" => agent_files_outside;
    "the agent of a run", "call a tool of a server that nobody has reviewed" => agent_unreviewed;
    "the agent of a run", "call a tool of a trusted server that says it only reads" => agent_trusted_reads;
    "the agent of a run", "call another tool of a trusted server" => agent_trusted_writes;
    "the agent of a run", "call a tool of a server that is not trusted" => agent_untrusted;
    "the agent of a run", "call a tool that a rule denies" => agent_denied_tool;
    "the agent of a run", "call a tool that a rule allows" => agent_allowed_tool;
    "the agent of a run", "call app_threads, app_projects, app_runs or app_security" => agent_changes;
    "the agent of a run", "loosen grants, rules, settings, endpoints, keys or servers where rules allow app_security" => agent_widens;
    "the agent of a run", "move its own thread to another endpoint where rules allow all App tools" => agent_moves;
    "the agent of a run", "tighten grants, rules, endpoints, keys or servers where rules allow app_security" => agent_narrows;
    "the agent of a run", "add or remove an MCP server" => agent_adds_server;
    "the agent of a run that nobody follows", "call a tool that asks" => agent_unattended;
}

#[tokio::test]
async fn app_24_who_may_do_what_by_default_is_what_the_table_says() {
    let (table, tries) = (table(), tries());
    let rows = |rows: Vec<&Row>| rows.into_iter().cloned().collect::<Vec<Row>>();
    assert_eq!(
        rows(table.keys().collect()),
        rows(tries.keys().collect()),
        "every row is tried, and every try is a row"
    );
    for (row, outcome) in &table {
        let happened = tries[row]().await;
        assert_eq!(happened, *outcome, "{}: {}", row.0, row.1);
    }
}

#[test]
fn app_142_that_the_app_tools_reach_everything_is_a_recorded_decision() {
    let page = include_str!("../../../docs/security.md");
    let (_, decision) = page.split_once("## Decided: the App tools reach everything").expect("it is recorded");
    let decision = decision.split("\n## ").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["a local program of a single user", "not only of its own project", "asked each time"] {
        assert!(decision.contains(words), "the decision says {words:?}: {decision}");
    }
}

/// The outcome of requests that are all answered; else of the first that is refused.
async fn outcome(client: &mut Raw, requests: &[(&str, Value)]) -> String {
    for (method, params) in requests {
        let id = client.request(method, params.clone()).await;
        let answer = client.answer(id).await;
        if let Some(error) = answer.get("error") {
            let kind = error["data"]["kind"].as_str().unwrap_or_default();
            let reason = error["data"]["reason"].as_str();
            return reason.map_or_else(|| format!("refused: {kind}"), |reason| format!("refused: {kind}, {reason}"));
        }
    }
    "allowed".to_owned()
}

/// The outcome of a call of the model: who is asked, or how it ends.
async fn call_outcome(bot: &mut Raw, thread: &Value, call: &str) -> String {
    let run = bot.submit(thread, &format!("call {call}")).await;
    let is_something = |line: &Value| {
        let event = &line["params"]["event"];
        matches!(line["method"].as_str(), Some("approval/request" | "input/request" | "tool/call"))
            || event["type"] == "runCompleted" && event["runId"] == run
    };
    let line = bot.until("a question, a call, or the end", is_something).await;
    match line["method"].as_str() {
        Some("approval/request") => return "asked".to_owned(),
        Some("input/request") => return "allowed".to_owned(),
        Some("tool/call") => {
            bot.reply(&line, success("done")).await;
            bot.ended(&run).await;
        }
        _ => {}
    }
    let item = bot.calls(thread).await.pop().expect("there was a call");
    let code = item["error"]["code"].as_str().map(ToOwned::to_owned);
    code.map_or_else(|| "allowed".to_owned(), |code| format!("refused: {code}"))
}

async fn bot(daemon: &Piped) -> Raw {
    daemon.greeted("bot", "in-A").await
}

async fn agent(daemon: Piped, tools: &[Value], call: &str) -> String {
    let mut bot = bot(&daemon).await;
    let thread = bot.start(tools).await;
    call_outcome(&mut bot, &thread, call).await
}

fn asking() -> Value {
    tool_with("act", json!({"approval": "ask"}))
}

async fn no_handshake(daemon: Piped) -> String {
    let mut stranger = Raw::new(daemon.open().await);
    outcome(&mut stranger, &[("project/list", json!({}))]).await
}

async fn app_session(daemon: Piped) -> String {
    let mut app = Raw::new(daemon.open().await);
    let handshake = json!({
        "protocol": {"min": 1, "max": 1}, "client": {"name": "app", "version": "1"}, "capabilities": {}, "appId": "notes",
    });
    outcome(&mut app, &[("initialize", handshake)]).await
}

async fn owner_changes(daemon: Piped) -> String {
    let mut bot = bot(&daemon).await;
    let thread = bot.start(&[]).await;
    let project = bot.project_of(&thread).await;
    let place = std::env::temp_dir();
    let requests = [
        ("project/create", json!({"name": "P"})),
        ("grant/add", json!({"projectId": project, "path": place, "capabilities": ["read"]})),
        ("thread/update", json!({"threadId": thread, "title": "T"})),
        ("policy/set", json!({"level": "global", "source": "app", "decision": "deny"})),
        (
            "endpoint/set",
            json!({"name": "m", "provider": "openaiCompatible", "baseUrl": "https://a.example/v1", "model": "m"}),
        ),
        ("settings/update", json!({"ownerGraceMs": 1})),
        ("thread/list", json!({})),
        ("policy/list", json!({})),
        ("endpoint/list", json!({})),
    ];
    outcome(&mut bot, &requests).await
}

async fn owner_reads_key(daemon: Piped) -> String {
    outcome(&mut bot(&daemon).await, &[("secret/read", json!({"endpointId": "e"}))]).await
}

async fn owner_settles(daemon: Piped) -> String {
    let mut first = bot(&daemon).await;
    let thread = first.start(&[asking()]).await;
    first.submit(&thread, "call act").await;
    let asked = first.asked("approval/request").await;
    let mut other = daemon.greeted("other", "in-B").await;
    let answer = json!({"interactionId": asked["params"]["interactionId"], "answer": {"decision": "decline"}});
    outcome(&mut other, &[("interaction/settle", answer)]).await
}

async fn owner_settles_call(daemon: Piped) -> String {
    let mut first = bot(&daemon).await;
    let thread = first.start(&[get_issue()]).await;
    first.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let call = first.asked("tool/call").await;
    let mut other = daemon.greeted("other", "in-B").await;
    let answer = json!({"interactionId": call["params"]["interactionId"], "answer": success("mine")});
    outcome(&mut other, &[("interaction/settle", answer)]).await
}

async fn owner_declares_taken(daemon: Piped) -> String {
    let mut first = bot(&daemon).await;
    let thread = first.start(&[get_issue()]).await;
    let mut other = daemon.greeted("other", "in-B").await;
    outcome(&mut other, &[("thread/resume", json!({"threadId": thread, "tools": [get_issue()]}))]).await
}

async fn owner_servers(daemon: Piped) -> String {
    let mut bot = bot(&daemon).await;
    let add = json!({"command": "/nowhere/at/all", "name": "Nowhere", "wait": true});
    let added = bot.call("mcp/server/add", add).await["server"]["serverId"].clone();
    let requests = [
        ("mcp/server/list", json!({})),
        ("mcp/review/read", json!({"serverId": added})),
        ("mcp/server/update", json!({"serverId": added, "enabled": false})),
        ("mcp/server/remove", json!({"serverId": added})),
    ];
    outcome(&mut bot, &requests).await
}

async fn owner_removes_builtin(daemon: Piped) -> String {
    let mut bot = bot(&daemon).await;
    let renamed = outcome(&mut bot, &[("mcp/server/update", json!({"serverId": "app", "name": "Mine"}))]).await;
    let removed = outcome(&mut bot, &[("mcp/server/remove", json!({"serverId": "app"}))]).await;
    assert_eq!(renamed, removed);
    removed
}

async fn agent_client_tool(daemon: Piped) -> String {
    agent(daemon, &[get_issue()], "get_issue {\"id\":\"1\"}").await
}

async fn agent_asking_tool(daemon: Piped) -> String {
    agent(daemon, &[asking()], "act").await
}

async fn agent_ask_user(daemon: Piped) -> String {
    agent(daemon, &[], "ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"?\"}]}").await
}

async fn agent_app_read(daemon: Piped) -> String {
    agent(daemon, &[], "app_read {\"resource\":\"Threads\"}").await
}

async fn agent_app_memory(daemon: Piped) -> String {
    let create =
        json!({"operation": "Create", "operationId": "op", "scope": "User", "kind": "Fact", "title": "t", "body": "b"});
    agent(daemon, &[], &format!("app_memory {create}")).await
}

async fn agent_app_instructions(daemon: Piped) -> String {
    let mut bot = bot(&daemon).await;
    bot.call("policy/set", json!({"level": "global", "source": "app", "decision": "allow"})).await;
    let thread = bot.start(&[]).await;
    call_outcome(&mut bot, &thread, "app_instructions {\"text\":\"x\",\"expectedRevision\":1,\"operationId\":\"op\"}")
        .await
}

async fn agent_app_navigate(daemon: Piped) -> String {
    agent(daemon, &[], "app_navigate").await
}

async fn ruled(daemon: Piped, decision: &str) -> String {
    let mut bot = bot(&daemon).await;
    let thread = bot.start(&[asking()]).await;
    bot.rule("thread", &thread, "act", decision).await;
    call_outcome(&mut bot, &thread, "act").await
}

async fn agent_denied_tool(daemon: Piped) -> String {
    ruled(daemon, "deny").await
}

async fn agent_allowed_tool(daemon: Piped) -> String {
    ruled(daemon, "allow").await
}

async fn agent_unattended(daemon: Piped) -> String {
    let mut bot = bot(&daemon).await;
    bot.call("settings/update", json!({"ownerGraceMs": 0, "approverGraceMs": 0})).await;
    let thread = bot.start(&[]).await;
    bot.call("thread/unsubscribe", json!({"threadId": thread})).await;
    let run = bot.submit(&thread, "call app_read {\"resource\":\"Threads\"}").await;
    bot.call("run/wait", json!({"runId": run})).await;
    let item = bot.calls(&thread).await.pop().expect("there was a call");
    format!("refused: {}", item["error"]["code"].as_str().unwrap_or("not at all"))
}
