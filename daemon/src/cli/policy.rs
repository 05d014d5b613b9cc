//! `ropewalk policy`: which tools may be called without asking, and which never.

use clap::{ArgGroup, Args, Subcommand};
use ropewalk_protocol::{
    Policy, PolicyDecision, PolicyLevel, PolicyList, PolicyListParams, PolicyPrincipal, PolicyPrincipalKind,
    PolicyRemove, PolicyRemoveParams, PolicySet, PolicySetParams, PolicyTool,
};

use super::{
    failure::{Exit, Failure},
    session::Context,
    text::table,
    words::{spelled, words},
};

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
  ropewalk policy set ask --source client:bot --thread 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11
  ropewalk policy set deny --source client:bot")]
    Set(SetArgs),
    /// List the rules
    #[command(after_help = "Example:\n  ropewalk policy list --level global")]
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
    /// All tools of this source, such as `client:bot`
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// Only in this project
    #[arg(long, value_name = "ID", conflicts_with = "thread")]
    project: Option<String>,
    /// Only in this thread
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Only for calls of agents, or of an app
    #[arg(long, value_name = "agent|app:ID", value_parser = principal)]
    principal: Option<PolicyPrincipal>,
    /// How many calls one run may make
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65_535))]
    max_calls_per_run: Option<u64>,
}

#[derive(Args, Clone, Debug)]
struct ListArgs {
    /// Only rules of this level
    #[arg(long, value_name = "global|project|thread", value_parser = words::<PolicyLevel>(&["global", "project", "thread"]))]
    level: Option<PolicyLevel>,
    /// Only rules about this source or a tool of it
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
}

/// Runs it.
pub(crate) async fn run(args: PolicyArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    match args.command {
        Command::Set(args) => {
            context
                .show::<PolicySet>(&client, params(args), |result| {
                    let policy = &result.policy;
                    let seen = if policy.matches == 0 { " No tool it matches is known yet." } else { "" };
                    format!("{} ({}).{seen}", described(policy), policy.policy_id)
                })
                .await
        }
        Command::List(ListArgs { level, source }) => {
            let params = PolicyListParams { level, source, limit: Some(1_000), ..PolicyListParams::default() };
            context.show::<PolicyList>(&client, params, |page| rules(&page.items)).await
        }
        Command::Remove { policy } => {
            let params = PolicyRemoveParams { policy_id: policy.into(), operation_id: None, expected_revision: None };
            context.show::<PolicyRemove>(&client, params, |result| result.effect.clone()).await
        }
    }
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
        connection: None,
        decision: args.decision,
        timeout_ms: ropewalk_protocol::Patch::Keep,
        max_calls_per_run: args.max_calls_per_run,
        expires_at: None,
        operation_id: None,
        expected_revision: None,
    }
}

fn rules(policies: &[Policy]) -> String {
    if policies.is_empty() {
        return "No rules: tools are called or asked about as their sources say.".to_owned();
    }
    let rows: Vec<_> = policies.iter().map(|policy| vec![policy.policy_id.to_string(), described(policy)]).collect();
    table(&rows).trim_end().to_owned()
}

/// A rule in words: `allow client:bot/get_issue everywhere`.
fn described(policy: &Policy) -> String {
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
    format!("{} {what} {place}{whom}", spelled(&policy.decision))
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
        Some(("app", id)) if !id.is_empty() => {
            Ok(PolicyPrincipal { kind: PolicyPrincipalKind::App, app_id: Some(id.into()) })
        }
        _ => Err("`agent`, or `app:` and the app's id".to_owned()),
    }
}
