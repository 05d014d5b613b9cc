//! `ropewalk grant`: which directories the runs of a project may reach, and for what.

use std::path::{Path, absolute};

use clap::{Args, Subcommand};
use ropewalk::Client;
use ropewalk_protocol::{
    Capability, Grant, GrantAdd, GrantAddParams, GrantList, GrantListParams, GrantRemove, GrantRemoveParams,
};

use super::{
    failure::{Exit, Failure},
    out::Style,
    project::{self, grant_row},
    session::Context,
    text::{printable, table},
    words::{spelled, words},
};

/// Grants shown at most of a project.
const GRANTS: u64 = 1_000;

/// Add, list and remove grants: the directories that runs of a project may reach
///
/// Without a grant the file tools refuse everything.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk grant add . --project Moss --capabilities read,write
  ropewalk grant list
  ropewalk grant remove 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
pub(crate) struct GrantArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// Let runs of a project reach a directory and all that is below it
    #[command(after_help = "\
Examples:
  ropewalk grant add . --project Moss
  ropewalk grant add /srv/data --project Moss --capabilities read,write --name data")]
    Add(AddArgs),
    /// List the grants of a project, or of all
    #[command(after_help = "Examples:\n  ropewalk grant list\n  ropewalk grant list --project Moss")]
    List {
        /// The project's name or id
        #[arg(long, value_name = "NAME")]
        project: Option<String>,
    },
    /// Take a grant back; no call is made with it from then on
    #[command(after_help = "\
Examples:
  ropewalk grant remove 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11
  ropewalk grant remove /srv/data --project Moss")]
    Remove {
        /// The grant's id, or its directory
        #[arg(value_name = "ID|DIR")]
        grant: String,
        /// The project's name or id; needed where several have a grant on the directory
        #[arg(long, value_name = "NAME")]
        project: Option<String>,
    },
}

#[derive(Args, Clone, Debug)]
struct AddArgs {
    /// An existing directory
    #[arg(value_name = "DIR")]
    path: String,
    /// The project's name or id
    #[arg(long, value_name = "NAME")]
    project: String,
    /// What is allowed below it
    #[arg(
        long,
        value_name = "read,write,execute",
        value_delimiter = ',',
        default_value = "read",
        value_parser = words::<Capability>(&["read", "write", "execute"]),
    )]
    capabilities: Vec<Capability>,
    /// What it is called; the last part of the path unless given
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// Runs it.
pub(crate) async fn run(args: GrantArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    match args.command {
        Command::Add(args) => add(&client, args, context).await,
        Command::List { project: Some(name) } => {
            let project_id = project::find(&client, &name).await?.project_id;
            let params = GrantListParams { project_id, cursor: None, limit: Some(GRANTS) };
            context.show::<GrantList>(&client, params, |page| listed(&page.items)).await
        }
        Command::List { project: None } => {
            let grants = all(&client).await?;
            context.result(&serde_json::json!({ "items": grants }), &listed(&grants));
            Ok(Exit::DONE)
        }
        Command::Remove { grant, project } => {
            let Grant { project_id, grant_id, .. } = find(&client, &grant, project.as_deref()).await?;
            let params = GrantRemoveParams { project_id, grant_id, operation_id: None, expected_revision: None };
            context.show::<GrantRemove>(&client, params, |removed| removed.effect.clone()).await
        }
    }
}

async fn add(client: &Client, args: AddArgs, context: &Context) -> Result<Exit, Failure> {
    let found = project::find(client, &args.project).await?;
    let params = GrantAddParams {
        project_id: found.project_id,
        path: whole(&args.path),
        capabilities: args.capabilities,
        name: args.name,
        operation_id: None,
        expected_revision: None,
    };
    let words = |grant: &Grant| {
        let what: Vec<_> = grant.capabilities.iter().map(spelled).collect();
        format!("Runs of {} may {} below {} ({}).", found.name, what.join(" and "), grant.path, grant.grant_id)
    };
    let added = client.call::<GrantAdd>(params).await?;
    if let Some(warning) = &added.warning {
        let mark = context.out.paint_note(Style::Yellow, "warning");
        context.out.note(&format!("{mark} {}", printable(warning)));
    }
    context.result(&added, &words(&added.grant));
    Ok(Exit::DONE)
}

/// The grants of all projects.
async fn all(client: &Client) -> Result<Vec<Grant>, Failure> {
    let mut grants = Vec::new();
    for project in client.projects().list(project::everything()).await?.items {
        grants.extend(of_project(client, project.project_id).await?);
    }
    Ok(grants)
}

async fn of_project(client: &Client, project_id: ropewalk_protocol::ProjectId) -> Result<Vec<Grant>, Failure> {
    let params = GrantListParams { project_id, cursor: None, limit: Some(GRANTS) };
    Ok(client.call::<GrantList>(params).await?.items)
}

/// The grant with this id, or on this directory.
async fn find(client: &Client, wanted: &str, of: Option<&str>) -> Result<Grant, Failure> {
    let grants = match of {
        Some(name) => of_project(client, project::find(client, name).await?.project_id).await?,
        None => all(client).await?,
    };
    let canonical = Path::new(wanted).canonicalize().ok();
    let is_meant = |grant: &&Grant| {
        let path = Path::new(&grant.path);
        &*grant.grant_id == wanted || path == Path::new(wanted) || canonical.as_deref() == Some(path)
    };
    let found: Vec<&Grant> = grants.iter().filter(is_meant).collect();
    match *found {
        [grant] => Ok(grant.clone()),
        [] => Err(Failure::Failed(format!("There is no grant `{wanted}`. `grant list` shows those there are."))),
        _ => {
            let message =
                format!("Several projects have a grant on `{wanted}`; say which with --project, or by its id.");
            Err(Failure::Failed(message))
        }
    }
}

fn listed(grants: &[Grant]) -> String {
    if grants.is_empty() {
        return "No grants: runs may reach no directory.".to_owned();
    }
    table(&grants.iter().map(grant_row).collect::<Vec<_>>()).trim_end().to_owned()
}

/// The directory by its absolute path, as seen from here and not from where the daemon runs.
fn whole(path: &str) -> String {
    absolute(path).ok().and_then(|whole| whole.into_os_string().into_string().ok()).unwrap_or_else(|| path.to_owned())
}
