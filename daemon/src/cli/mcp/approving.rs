//! `ropewalk mcp approve`: the owner's decision about the tools of a server.

use clap::{ArgGroup, Args};
use ropewalk_protocol::{
    ReviewState, ServerReview, ServerReviewSubmit, ServerReviewSubmitParams, ServerReviewSubmitted,
};

use super::{find, named_by};
use crate::cli::{
    failure::{Exit, Failure},
    person::Person,
    session::Context,
};

/// Which tools.
#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("which").required(true).args(["tools", "all", "none"])))]
pub(super) struct ApproveArgs {
    /// Its name or id
    server: String,
    /// The tools, by their names at the server: these and no others
    #[arg(value_name = "TOOL")]
    tools: Vec<String>,
    /// All that can be used
    #[arg(long)]
    all: bool,
    /// No tool at all
    #[arg(long)]
    none: bool,
    /// The digest that `mcp review` showed; without it, the tools as they are at this moment
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,
    /// Take its word for which of its tools only read, and call those without asking
    #[arg(long, conflicts_with = "no_trust")]
    trust: bool,
    /// Ask before each call of any of its tools
    #[arg(long)]
    no_trust: bool,
}

/// Approves them.
pub(super) async fn approve(args: ApproveArgs, context: &Context) -> Result<Exit, Failure> {
    let (client, server) = find(&args.server, context).await?;
    let review = client.server_reviews().read(named_by(&server)).await?.review;
    let tools = if args.all { usable(&review) } else { args.tools.clone() };
    if args.all && tools.is_empty() {
        return Err(Failure::Failed(format!(
            "{} has no tool that can be used. `{} mcp review {}` says why.",
            server.name,
            context.environment.program(),
            server.name
        )));
    }
    let trusted = match (args.trust, args.no_trust) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ if tools.is_empty() || server.trusted => None,
        _ => ask(&server.name, context).await,
    };
    let digest = args.digest.unwrap_or(review.digest);
    let params = ServerReviewSubmitParams { server_id: server.server_id, digest, tools, trusted, operation_id: None };
    let program = context.environment.program();
    context.show::<ServerReviewSubmit>(&client, params, |result| words(result, program)).await
}

/// All that can be approved, in the order of their names.
fn usable(review: &ServerReview) -> Vec<String> {
    let usable = review.tools.iter().filter(|tool| !matches!(tool.state, ReviewState::Unusable | ReviewState::Missing));
    usable.map(|tool| tool.name.clone()).collect()
}

/// Asks the person at the terminal; where nobody is there, it stays as it was.
async fn ask(name: &str, context: &Context) -> Option<bool> {
    if context.global.json {
        return None;
    }
    let person = Person::find(&context.out)?;
    let prompt = format!("Call tools that {name} says only read without asking? [y/N] ");
    let answer = person.attention().await.ask(&prompt).await?;
    Some(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

fn words(result: &ServerReviewSubmitted, program: &str) -> String {
    let (server, counts) = (&result.server, &result.server.counts);
    let name = &server.name;
    let how_many = match counts.approved {
        0 => return format!("No tool of {name} can be used. `{program} mcp approve {name} --all` approves them."),
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    };
    let asked = if server.trusted {
        "Those that only read are called without asking.".to_owned()
    } else {
        format!("You are asked before each call; `{program} mcp trust {name}` lets those that only read pass.")
    };
    format!("{how_many} of {name} can be used. {asked}")
}
