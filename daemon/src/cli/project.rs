//! `ropewalk project`: what threads belong to, with the directories and the rules they have.

mod shown;

use clap::{ArgGroup, Args, Subcommand};
use ropewalk::Client;
use ropewalk_protocol::{
    ListParams, Patch, Project, ProjectCreate, ProjectCreateParams, ProjectDelete, ProjectDeleteParams, ProjectList,
    ProjectParams, ProjectRead, ProjectUpdate, ProjectUpdateParams, ServerChoice, ThreadId, ThreadParams, ThreadRead,
};

pub(crate) use self::shown::grant_row;
use self::shown::{listed, shown};
use super::{
    failure::{Exit, Failure},
    mcp,
    session::{Context, named},
    text::deleted,
};

/// Projects shown at most.
const PROJECTS: u64 = 1_000;

/// List, create, show, change and delete projects
///
/// A project has threads, grants on directories and rules. Without a subcommand the projects are listed.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk project
  ropewalk project create Moss --description \"The moss survey\"
  ropewalk project show Moss
  ropewalk project update Moss --endpoint local
  ropewalk project delete Moss --dry-run
  ropewalk grant add ~/moss --project Moss --capabilities read,write")]
pub(crate) struct ProjectArgs {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// List the projects
    #[command(after_help = "Example:\n  ropewalk project list")]
    List,
    /// Make a project
    #[command(after_help = "\
Examples:
  ropewalk project create Moss
  ropewalk project create Moss --instructions \"Answer in Latin.\" --endpoint local")]
    Create(CreateArgs),
    /// Show a project with its grants and its rules
    #[command(after_help = "Example:\n  ropewalk project show Moss")]
    Show {
        /// The project's name or id
        #[arg(value_name = "NAME")]
        project: String,
    },
    /// Change what is named of a project
    ///
    /// What is not named stays; `none` takes a description, instructions or an endpoint away.
    #[command(after_help = "\
Examples:
  ropewalk project update Moss --name Mosses
  ropewalk project update Moss --instructions none --endpoint none
  ropewalk project update Moss --disable-server files")]
    Update(UpdateArgs),
    /// Delete a project for good, with its threads, its grants and its rules; files in its directories stay
    #[command(
        visible_alias = "remove",
        after_help = "\
Examples:
  ropewalk project delete Moss --dry-run
  ropewalk project delete 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11"
    )]
    Delete {
        /// The project's name or id
        #[arg(value_name = "NAME")]
        project: String,
        /// Only say what would go
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Args, Clone, Debug)]
struct CreateArgs {
    /// What it is called
    name: String,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// What its runs are told
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,
    /// The endpoint of its threads: its name or id
    #[arg(long, value_name = "NAME")]
    endpoint: Option<String>,
}

#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("what").required(true).multiple(true)
    .args(["name", "description", "instructions", "endpoint", "enable_server", "disable_server"])))]
struct UpdateArgs {
    /// The project's name or id
    #[arg(value_name = "NAME")]
    project: String,
    /// What it is called from now on
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// What it is for, or `none`
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// What its runs are told, or `none`
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,
    /// The endpoint of its threads, by name or id, or `none`
    #[arg(long, value_name = "NAME")]
    endpoint: Option<String>,
    /// A server its runs use, by name or id; once for each
    #[arg(long, value_name = "NAME")]
    enable_server: Vec<String>,
    /// A server its runs do not use, such as `files`; once for each
    #[arg(long, value_name = "NAME")]
    disable_server: Vec<String>,
}

/// Runs it.
pub(crate) async fn run(args: ProjectArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    match args.command.unwrap_or(Command::List) {
        Command::List => context.show::<ProjectList>(&client, everything(), |page| listed(&page.items)).await,
        Command::Create(args) => create(&client, args, context).await,
        Command::Show { project } => {
            let project_id = find(&client, &project).await?.project_id;
            context.show::<ProjectRead>(&client, ProjectParams { project_id }, |read| shown(&read.project)).await
        }
        Command::Update(args) => update(&client, args, context).await,
        Command::Delete { project, dry_run } => {
            let params = ProjectDeleteParams {
                project_id: find(&client, &project).await?.project_id,
                dry_run: Some(dry_run),
                operation_id: None,
                expected_revision: None,
            };
            context.show::<ProjectDelete>(&client, params, deleted).await
        }
    }
}

/// The project that is called so.
pub(crate) async fn find(client: &Client, wanted: &str) -> Result<Project, Failure> {
    let projects = client.projects().list(everything()).await?.items;
    named("project", wanted, &projects, |project| &project.project_id, |project| &project.name).cloned()
}

/// Lists all that are shown.
pub(crate) const fn everything() -> ListParams {
    ListParams { cursor: None, limit: Some(PROJECTS) }
}

async fn create(client: &Client, args: CreateArgs, context: &Context) -> Result<Exit, Failure> {
    let known = client.projects().list(everything()).await?.items;
    if let Some(same) = known.iter().find(|project| project.name == args.name) {
        return Err(Failure::Failed(format!(
            "There is a project `{}` already ({}). Choose another name, or change that one with \
             `{} project update`.",
            args.name,
            same.project_id,
            context.environment.program()
        )));
    }
    let default_endpoint_id = match &args.endpoint {
        Some(name) => Some(endpoint(client, name).await?),
        None => None,
    };
    let params = ProjectCreateParams {
        name: args.name,
        description: args.description,
        instructions: args.instructions,
        default_endpoint_id,
        servers: None,
        operation_id: None,
    };
    let program = context.environment.program().to_owned();
    let words = |project: &Project| {
        let name = &project.name;
        format!(
            "{name} is there ({}). Its runs may reach no directory yet; `{program} grant add DIR --project {name}` \
             grants one.",
            project.project_id
        )
    };
    context.show::<ProjectCreate>(client, params, |made| words(&made.project)).await
}

async fn update(client: &Client, args: UpdateArgs, context: &Context) -> Result<Exit, Failure> {
    let found = find(client, &args.project).await?;
    let default_endpoint_id = match patch(args.endpoint) {
        Patch::Set(name) => Patch::Set(endpoint(client, &name).await?),
        Patch::Keep => Patch::Keep,
        Patch::Clear => Patch::Clear,
    };
    let mut servers = Vec::new();
    for (wanted, enabled) in
        args.enable_server.iter().map(|it| (it, true)).chain(args.disable_server.iter().map(|it| (it, false)))
    {
        servers.push(ServerChoice { server_id: mcp::id_of(client, wanted).await?, enabled });
    }
    let params = ProjectUpdateParams {
        project_id: found.project_id,
        name: args.name,
        description: patch(args.description),
        instructions: patch(args.instructions),
        default_endpoint_id,
        servers: (!servers.is_empty()).then_some(servers),
        operation_id: None,
        expected_revision: None,
    };
    context.show::<ProjectUpdate>(client, params, |made| format!("{} is changed.", made.project.name)).await
}

async fn endpoint(client: &Client, wanted: &str) -> Result<ropewalk_protocol::EndpointId, Failure> {
    let endpoints = client.endpoints().list(everything()).await?.items;
    let found = named("endpoint", wanted, &endpoints, |endpoint| &endpoint.endpoint_id, |endpoint| &endpoint.name)?;
    Ok(found.endpoint_id.clone())
}

/// What the project of a thread is called on the command line; nothing where it cannot be told.
pub(crate) async fn of_thread(client: &Client, thread_id: &ThreadId) -> Option<String> {
    let read = client.call::<ThreadRead>(ThreadParams { thread_id: thread_id.clone() }).await.ok()?;
    let projects = client.projects().list(everything()).await.ok()?.items;
    let (same, others): (Vec<&Project>, Vec<&Project>) =
        projects.iter().partition(|project| project.project_id == read.thread.project_id);
    let name = &same.first()?.name;
    let is_alone = others.iter().all(|project| project.name != *name);
    Some(if is_alone { name.clone() } else { read.thread.project_id.to_string() })
}

fn patch(text: Option<String>) -> Patch<String> {
    match text.as_deref() {
        None => Patch::Keep,
        Some("none") => Patch::Clear,
        Some(text) => Patch::Set(text.to_owned()),
    }
}
