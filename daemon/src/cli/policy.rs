//! `ropewalk policy`: which tools may be called without asking, and which never.

use clap::{ArgGroup, Args, Subcommand};
use ropewalk::Client;
use ropewalk_protocol::{
    Patch, Policy, PolicyDecision, PolicyLevel, PolicyList, PolicyListParams, PolicyPrincipal, PolicyPrincipalKind,
    PolicyRemove, PolicyRemoveParams, PolicySet, PolicySetParams, PolicyTool, Server, Timestamp,
};

use super::{
    failure::{Exit, Failure},
    mcp,
    moment::in_or_at,
    project,
    session::{Context, named},
    text::{duration, table},
    words::{spelled, words},
};

/// Rules shown at most.
pub(crate) const RULES: u64 = 1_000;

/// Calls a run may make where a rule does not say.
const UNBOUNDED_CALLS: u64 = 65_535;

/// Set, list and remove rules for tools
///
/// `deny` at any level wins; else the nearest rule counts: thread, then project, then global.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk policy set allow --tool client:bot/get_issue
  ropewalk policy set deny --source client:bot
  ropewalk policy list
  ropewalk policy remove 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// Set a rule; a second one for the same tool, level and principal replaces the first
    #[command(after_help = "\
Examples:
  ropewalk policy set allow --tool client:bot/get_issue
  ropewalk policy set allow --tool files/read_file --project Moss
  ropewalk policy set allow --tool client:bot/deploy --until 2h --max-calls-per-run 1
  ropewalk policy set ask --source client:bot --thread 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11
  ropewalk policy set deny --source client:bot")]
    Set(SetArgs),
    /// List the rules, with those marked that match no tool
    #[command(after_help = "\
Examples:
  ropewalk policy list
  ropewalk policy list --level global
  ropewalk policy list --project Moss --source files")]
    List(ListArgs),
    /// Take a rule back
    #[command(after_help = "Example:\n  ropewalk policy remove 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
    Remove {
        /// The rule's id
        #[arg(value_name = "ID")]
        policy: String,
    },
}

#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("about").required(true).args(["tool", "source"])))]
struct SetArgs {
    /// What the rule says
    #[arg(value_name = "allow|ask|deny", value_parser = words::<PolicyDecision>(&["allow", "ask", "deny"]))]
    decision: PolicyDecision,
    /// The tool it is about, as an approval shows it: its source, a slash, its name; this or `--source`
    #[arg(long, value_name = "SOURCE/NAME", value_parser = tool)]
    tool: Option<PolicyTool>,
    /// All tools of this source: a server by its name or id, `app`, `files`, or `client:bot` for those of a program
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// Only in this project: its name or id
    #[arg(long, value_name = "NAME", conflicts_with = "thread")]
    project: Option<String>,
    /// Only in this thread
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Only for calls of agents, of apps, or of one app
    #[arg(long, value_name = "agent|app|app:ID", value_parser = principal)]
    principal: Option<PolicyPrincipal>,
    /// Only for calls that use this account of a server
    #[arg(long, value_name = "ACCOUNT")]
    connection: Option<String>,
    /// How long a call may be silent
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1_000..=3_600_000))]
    timeout_ms: Option<u64>,
    /// How many calls one run may make
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65_535))]
    max_calls_per_run: Option<u64>,
    /// When the rule ends: in so long, such as `2h` or `7d`, or at a time such as `2026-12-24T18:00:00Z`
    #[arg(long, value_name = "WHEN", value_parser = in_or_at)]
    until: Option<Timestamp>,
}

#[derive(Args, Clone, Debug)]
struct ListArgs {
    /// Only rules of this level
    #[arg(long, value_name = "global|project|thread", value_parser = words::<PolicyLevel>(&["global", "project", "thread"]))]
    level: Option<PolicyLevel>,
    /// Only rules of this project: its name or id
    #[arg(long, value_name = "NAME", conflicts_with = "thread")]
    project: Option<String>,
    /// Only rules of this thread
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Only rules about this source or a tool of it
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
}

/// Runs it.
pub(crate) async fn run(args: PolicyArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    match args.command {
        Command::Set(mut args) => {
            if let Some(name) = &args.project {
                args.project = Some(project::find(&client, name).await?.project_id.to_string());
            }
            for source in args.tool.iter_mut().map(|tool| &mut tool.source).chain(&mut args.source) {
                *source = source_of(&client, source).await?;
            }
            context
                .show::<PolicySet>(&client, params(args), |result| {
                    let policy = &result.policy;
                    let seen = if policy.matches == 0 { " No tool it matches is known yet." } else { "" };
                    format!("{} ({}).{seen}", described(policy), policy.policy_id)
                })
                .await
        }
        Command::List(ListArgs { level, project, thread, source }) => {
            let project_id = match &project {
                Some(name) => Some(project::find(&client, name).await?.project_id),
                None => None,
            };
            let thread_id = thread.map(Into::into);
            let source = match source {
                Some(source) => Some(source_of(&client, &source).await?),
                None => None,
            };
            let limit = Some(RULES);
            let params = PolicyListParams { level, project_id, thread_id, source, limit, cursor: None };
            context.show::<PolicyList>(&client, params, |page| rules(&page.items)).await
        }
        Command::Remove { policy } => {
            let params = PolicyRemoveParams { policy_id: policy.into(), operation_id: None, expected_revision: None };
            context.show::<PolicyRemove>(&client, params, |result| result.effect.clone()).await
        }
    }
}

/// The id of the source that a person means: of a server also by its name. What is no server's goes on as it is, for the daemon
/// to judge.
async fn source_of(client: &Client, wanted: &str) -> Result<String, Failure> {
    if wanted.starts_with("client:") {
        return Ok(wanted.to_owned());
    }
    let servers = client.servers().list(mcp::everything()).await?.items;
    let is_there = |server: &Server| &*server.server_id == wanted || server.name == wanted;
    if !servers.iter().any(is_there) {
        return Ok(wanted.to_owned());
    }
    let found = named("server", wanted, &servers, |server| &server.server_id, |server| &server.name)?;
    Ok(found.server_id.to_string())
}

fn params(args: SetArgs) -> PolicySetParams {
    let level = match (&args.project, &args.thread) {
        (Some(_), _) => PolicyLevel::Project,
        (None, Some(_)) => PolicyLevel::Thread,
        (None, None) => PolicyLevel::Global,
    };
    PolicySetParams {
        level,
        project_id: args.project.map(Into::into),
        thread_id: args.thread.map(Into::into),
        tool: args.tool,
        source: args.source,
        principal: args.principal,
        connection: args.connection,
        decision: args.decision,
        timeout_ms: args.timeout_ms.map_or(Patch::Keep, Patch::Set),
        max_calls_per_run: args.max_calls_per_run,
        expires_at: args.until,
        operation_id: None,
        expected_revision: None,
    }
}

fn rules(policies: &[Policy]) -> String {
    if policies.is_empty() {
        return "No rules: tools are called or asked about as their sources say.".to_owned();
    }
    let row = |policy: &Policy| {
        let mark = if policy.matches == 0 { "matches no tool that is known" } else { "" };
        vec![policy.policy_id.to_string(), described(policy), mark.to_owned()]
    };
    table(&policies.iter().map(row).collect::<Vec<_>>()).trim_end().to_owned()
}

/// A rule in words: `allow client:bot/get_issue everywhere`.
pub(crate) fn described(policy: &Policy) -> String {
    let what = match (&policy.tool, &policy.source) {
        (Some(tool), _) => format!("{}/{}", tool.source, tool.name),
        (None, Some(source)) => format!("all of {source}"),
        (None, None) => "nothing".to_owned(),
    };
    let place = match (&policy.project_id, &policy.thread_id) {
        (Some(project), _) => format!("in project {project}"),
        (None, Some(thread)) => format!("in thread {thread}"),
        (None, None) => "everywhere".to_owned(),
    };
    let whom = match &policy.principal {
        Some(PolicyPrincipal { app_id: Some(app), .. }) => format!(" for app {app}"),
        Some(principal) => format!(" for {}s", spelled(&principal.kind)),
        None => String::new(),
    };
    let account = policy.connection.as_ref().map(|account| format!(" with {account}")).unwrap_or_default();
    format!("{} {what} {place}{whom}{account}{}", spelled(&policy.decision), bounds(policy))
}

/// What bounds a rule beside its place: `, 3 calls a run, until …`.
fn bounds(policy: &Policy) -> String {
    let mut bounds = String::new();
    match policy.max_calls_per_run {
        UNBOUNDED_CALLS => {}
        1 => bounds.push_str(", 1 call a run"),
        calls => bounds.push_str(&format!(", {calls} calls a run")),
    }
    if let Some(timeout_ms) = policy.timeout_ms {
        bounds.push_str(&format!(", {} of silence", duration(Some(timeout_ms))));
    }
    if let Some(until) = policy.expires_at {
        bounds.push_str(&format!(", until {until}"));
    }
    bounds
}

fn tool(text: &str) -> Result<PolicyTool, String> {
    match text.split_once('/') {
        Some((source, name)) if !source.is_empty() && !name.is_empty() => {
            Ok(PolicyTool { source: source.to_owned(), name: name.to_owned(), digest: None })
        }
        _ => Err("a tool is its source, a slash and its name, such as `client:bot/get_issue`".to_owned()),
    }
}

fn principal(text: &str) -> Result<PolicyPrincipal, String> {
    match text.split_once(':') {
        None if text == "agent" => Ok(PolicyPrincipal { kind: PolicyPrincipalKind::Agent, app_id: None }),
        None if text == "app" => Ok(PolicyPrincipal { kind: PolicyPrincipalKind::App, app_id: None }),
        Some(("app", id)) if !id.is_empty() => {
            Ok(PolicyPrincipal { kind: PolicyPrincipalKind::App, app_id: Some(id.into()) })
        }
        _ => Err("`agent`, `app`, or `app:` and the app's id".to_owned()),
    }
}
