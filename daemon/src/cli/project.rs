//! `ropewalk project`: which projects there are, and the end of one.

use clap::{Args, Subcommand};
use ropewalk_protocol::{ListParams, ProjectDelete, ProjectDeleteParams, ProjectList, Timestamp};

use super::{
    failure::{Exit, Failure},
    session::{Context, named},
    text::{ago, deleted, one_line, table},
};

/// Characters of a name in the list.
const NAME_CHARACTERS: usize = 60;

/// Projects shown at most.
const PROJECTS: u64 = 1_000;

/// List projects, or delete one
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk project
  ropewalk project delete Moss --dry-run")]
pub(crate) struct ProjectArgs {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// Delete a project for good, with its threads, its grants and its rules; files in its directories stay
    #[command(after_help = "\
Examples:
  ropewalk project delete Moss --dry-run
  ropewalk project delete 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
    Delete {
        /// The project's name or id
        #[arg(value_name = "NAME")]
        project: String,
        /// Only say what would go
        #[arg(long)]
        dry_run: bool,
    },
}

/// Runs it.
pub(crate) async fn run(args: ProjectArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let all = ListParams { limit: Some(PROJECTS), ..ListParams::default() };
    let Some(Command::Delete { project, dry_run }) = args.command else {
        let now = Timestamp::now();
        return context
            .show::<ProjectList>(&client, all, |page| {
                let row = |project: &ropewalk_protocol::Project| {
                    let mark = if project.is_default { "default" } else { "" };
                    let name = one_line(&project.name, NAME_CHARACTERS);
                    vec![project.project_id.to_string(), ago(project.updated_at, now), name, mark.to_owned()]
                };
                table(&page.items.iter().map(row).collect::<Vec<_>>()).trim_end().to_owned()
            })
            .await;
    };
    let page = client.projects().list(all).await?;
    let found = named("project", &project, &page.items, |one| &one.project_id, |one| &one.name)?;
    let params = ProjectDeleteParams {
        project_id: found.project_id.clone(),
        dry_run: Some(dry_run),
        operation_id: None,
        expected_revision: None,
    };
    context.show::<ProjectDelete>(&client, params, deleted).await
}
