//! `ropewalk mcp`: the servers whose tools runs can call, and which of these tools.

mod adding;
mod approving;
mod shown;
mod switching;

use clap::{Args, Subcommand};
use ropewalk::Client;
use ropewalk_protocol::{
    Server, ServerId, ServerList, ServerListParams, ServerParams, ServerRead, ServerRemove, ServerRemoveParams,
    ServerRestart, ServerRestartParams, ServerReviewCheck, ServerReviewRead, ServerUpdate, ServerUpdateParams,
};

use self::{
    adding::AddArgs,
    approving::ApproveArgs,
    shown::{bundled, listed, reviewed, whole},
    switching::SwitchArgs,
};
use super::{
    failure::{Exit, Failure},
    session::{Context, named},
};

/// Add MCP servers, review their tools, list and remove them
///
/// A server is a program on this computer that speaks MCP. None of its tools can be used before you have approved it.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk mcp add notes -- node \"$PWD/notes-server.mjs\"
  ropewalk mcp review notes
  ropewalk mcp approve notes --all --trust
  ropewalk mcp list")]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// Add a server, start it and list its tools
    #[command(after_help = "\
Examples:
  ropewalk mcp add notes -- node \"$PWD/notes-server.mjs\"
  ropewalk mcp add github --env GITHUB_TOKEN -- github-mcp-server stdio
  ropewalk mcp add db --env MODE=readonly --no-wait -- /opt/db/mcp --port 5432")]
    Add(AddArgs),
    /// List the servers and how they stand
    #[command(after_help = "Example:\n  ropewalk mcp list")]
    List,
    /// Show a server, with the last of what it wrote to stderr
    #[command(after_help = "Example:\n  ropewalk mcp show notes")]
    Show {
        /// Its name or id
        server: String,
    },
    /// Show the tools of a server beside what was approved of them
    #[command(after_help = "\
Examples:
  ropewalk mcp review notes
  ropewalk mcp review notes --check")]
    Review {
        /// Its name or id
        server: String,
        /// Ask the server first
        #[arg(long)]
        check: bool,
    },
    /// Approve tools of a server; those that are not named cannot be used
    #[command(after_help = "\
Examples:
  ropewalk mcp approve notes --all
  ropewalk mcp approve notes list_notes add_note --trust
  ropewalk mcp approve notes --none")]
    Approve(ApproveArgs),
    /// Take a server's word for which of its tools only read: those are called without asking
    #[command(after_help = "\
Examples:
  ropewalk mcp trust notes
  ropewalk mcp trust notes --off")]
    Trust {
        /// Its name or id
        server: String,
        /// Ask before each call again
        #[arg(long)]
        off: bool,
    },
    /// Let runs use a server again, everywhere or in one project
    #[command(after_help = "\
Examples:
  ropewalk mcp enable notes
  ropewalk mcp enable files --project Moss")]
    Enable(SwitchArgs),
    /// Keep runs from using a server, everywhere or in one project; `app` and `files` are switched off so as well
    #[command(after_help = "\
Examples:
  ropewalk mcp disable notes
  ropewalk mcp disable files --project Moss")]
    Disable(SwitchArgs),
    /// Close a server and start it again
    #[command(after_help = "Example:\n  ropewalk mcp restart notes")]
    Restart {
        /// Its name or id
        server: String,
    },
    /// Remove a server, with its environment and every rule about it
    #[command(after_help = "Example:\n  ropewalk mcp remove notes")]
    Remove {
        /// Its name or id
        server: String,
    },
}

/// Runs it.
pub(crate) async fn run(args: McpArgs, context: &Context) -> Result<Exit, Failure> {
    match args.command {
        Command::Add(args) => adding::add(args, context).await,
        Command::List => {
            let client = context.client().await?;
            context.show::<ServerList>(&client, everything(), |page| listed(&page.items)).await
        }
        Command::Show { server } => {
            let (client, found) = find(&server, context).await?;
            let program = context.environment.program();
            context.show::<ServerRead>(&client, named_by(&found), |result| whole(&result.server, program)).await
        }
        Command::Review { server, check } => {
            let (client, found) = find(&server, context).await?;
            let program = context.environment.program();
            if found.builtin {
                return Err(Failure::Failed(bundled(&found, program)));
            }
            let words = |review: &_| reviewed(&found, review, program);
            let params = named_by(&found);
            if check {
                return context.show::<ServerReviewCheck>(&client, params, |result| words(&result.review)).await;
            }
            context.show::<ServerReviewRead>(&client, params, |result| words(&result.review)).await
        }
        Command::Approve(args) => approving::approve(args, context).await,
        Command::Trust { server, off } => trust(&server, !off, context).await,
        Command::Enable(args) => switching::switch(args, true, context).await,
        Command::Disable(args) => switching::switch(args, false, context).await,
        Command::Restart { server } => restart(&server, context).await,
        Command::Remove { server } => {
            let (client, found) = find(&server, context).await?;
            let params = ServerRemoveParams { server_id: found.server_id, operation_id: None, expected_revision: None };
            context.show::<ServerRemove>(&client, params, |removed| removed.effect.clone()).await
        }
    }
}

async fn trust(server: &str, trusted: bool, context: &Context) -> Result<Exit, Failure> {
    let (client, found) = find(server, context).await?;
    let params = ServerUpdateParams {
        server_id: found.server_id,
        name: None,
        enabled: None,
        trusted: Some(trusted),
        private_network: None,
        args: None,
        env: None,
        operation_id: None,
        expected_revision: None,
    };
    let words = |name: &str| match trusted {
        true => format!("{name} is trusted: tools that it says only read are called without asking."),
        false => format!("{name} is not trusted: you are asked before each call of its tools."),
    };
    context.show::<ServerUpdate>(&client, params, |changed| words(&changed.server.name)).await
}

async fn restart(server: &str, context: &Context) -> Result<Exit, Failure> {
    let (client, found) = find(server, context).await?;
    let params = ServerRestartParams { server_id: found.server_id, operation_id: None };
    let changed = client.call::<ServerRestart>(params).await?;
    context.result(&changed, &shown::standing(&changed.server, context.environment.program()));
    Ok(shown::exit(&changed.server))
}

/// The id of the server that is called so.
pub(super) async fn id_of(client: &Client, wanted: &str) -> Result<ServerId, Failure> {
    let servers = client.servers().list(everything()).await?.items;
    let found = named("server", wanted, &servers, |server| &server.server_id, |server| &server.name)?;
    Ok(found.server_id.clone())
}

/// A client, and the server that is called so.
async fn find(wanted: &str, context: &Context) -> Result<(Client, Server), Failure> {
    let client = context.client().await?;
    let servers = client.servers().list(everything()).await?.items;
    let server = named("server", wanted, &servers, |server| &server.server_id, |server| &server.name)?.clone();
    Ok((client, server))
}

fn named_by(server: &Server) -> ServerParams {
    ServerParams { server_id: ServerId::clone(&server.server_id) }
}

/// All servers.
pub(super) const fn everything() -> ServerListParams {
    ServerListParams { cursor: None, limit: Some(1_000) }
}

#[cfg(test)]
mod tests;
