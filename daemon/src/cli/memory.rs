//! `ropewalk memory`: what runs are to know without having been told again.

mod shown;

use clap::{ArgGroup, Args, Subcommand};
use ropewalk::Client;
use ropewalk_protocol::{
    MemoryChanged, MemoryCreate, MemoryCreateParams, MemoryDelete, MemoryDeleteParams, MemoryEntry, MemoryKind,
    MemoryList, MemoryListParams, MemoryParams, MemoryRead, MemoryScope, MemoryUpdate, MemoryUpdateParams,
};

use self::shown::{listed, shown};
use super::{
    failure::{Exit, Failure},
    project,
    session::Context,
    words::words,
};

/// Entries shown at most.
const ENTRIES: u64 = 1_000;

/// List, show, add, change and remove what is remembered
///
/// Runs are shown an index of it: of profiles and of what is pinned the text, of the rest the title. What is changed is shown
/// from the next run on. Without a subcommand the entries are listed.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk memory
  ropewalk memory add \"Indentation\" \"Tabs, not spaces.\" --kind preference
  ropewalk memory add \"Build\" \"just ci runs all checks\" --project Moss --tag build
  ropewalk memory list --query \"build checks\"
  ropewalk memory edit 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --pin
  ropewalk memory remove 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// List the entries without their texts
    #[command(after_help = "Examples:\n  ropewalk memory list\n  ropewalk memory list --project Moss --tag build")]
    List(ListArgs),
    /// Show an entry with its text
    #[command(after_help = "Example:\n  ropewalk memory show 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11")]
    Show {
        /// The entry's id
        #[arg(value_name = "ID")]
        entry: String,
    },
    /// Remember something, of the user or of a project
    #[command(after_help = "\
Examples:
  ropewalk memory add \"Who I am\" \"A botanist; answer in metric units.\" --kind profile
  ropewalk memory add \"Build\" \"just ci runs all checks\" --project Moss --tag build --pin")]
    Add(AddArgs),
    /// Change what is named of an entry
    #[command(after_help = "\
Examples:
  ropewalk memory edit 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --text \"just check runs all checks\"
  ropewalk memory edit 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --disable")]
    Edit(EditArgs),
    /// Forget an entry for good
    #[command(
        visible_alias = "delete",
        after_help = "Example:\n  ropewalk memory remove 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11"
    )]
    Remove {
        /// The entry's id
        #[arg(value_name = "ID")]
        entry: String,
    },
}

#[derive(Args, Clone, Debug, Default)]
struct ListArgs {
    /// Only those of the user, or only those of projects
    #[arg(long, value_name = "user|project", value_parser = words::<MemoryScope>(&["user", "project"]))]
    scope: Option<MemoryScope>,
    /// Only those of this project: its name or id
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Only those that have all of these words
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
    /// Only those with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
}

#[derive(Args, Clone, Debug)]
struct AddArgs {
    /// What it is about, in a line
    title: String,
    /// What is to be known
    text: String,
    /// The project it is about, by name or id; the user unless given
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// What it says
    #[arg(long, value_name = "profile|preference|fact", default_value = "fact", value_parser = kinds())]
    kind: MemoryKind,
    /// A word to find it by; once for each
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Show runs its text, not its title alone
    #[arg(long)]
    pin: bool,
}

#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("what").required(true).multiple(true)
    .args(["title", "text", "kind", "tags", "no_tags", "pin", "unpin", "enable", "disable"])))]
struct EditArgs {
    /// The entry's id
    #[arg(value_name = "ID")]
    entry: String,
    /// What it is about, in a line
    #[arg(long)]
    title: Option<String>,
    /// What is to be known
    #[arg(long)]
    text: Option<String>,
    /// What it says
    #[arg(long, value_name = "profile|preference|fact", value_parser = kinds())]
    kind: Option<MemoryKind>,
    /// A word to find it by, in place of those it has; once for each
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Take its tags away
    #[arg(long, conflicts_with = "tags")]
    no_tags: bool,
    /// Show runs its text, not its title alone
    #[arg(long)]
    pin: bool,
    /// Show runs its title alone
    #[arg(long, conflicts_with = "pin")]
    unpin: bool,
    /// Show it to runs
    #[arg(long)]
    enable: bool,
    /// Show it to no run
    #[arg(long, conflicts_with = "enable")]
    disable: bool,
    /// Change it only if this is still its revision
    #[arg(long, value_name = "N")]
    revision: Option<u64>,
}

fn kinds() -> impl clap::builder::TypedValueParser<Value = MemoryKind> {
    words::<MemoryKind>(&["profile", "preference", "fact"])
}

/// Runs it.
pub(crate) async fn run(args: MemoryArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    match args.command.unwrap_or_else(|| Command::List(ListArgs::default())) {
        Command::List(args) => list(&client, args, context).await,
        Command::Show { entry } => {
            let params = MemoryParams { entry_id: entry.into() };
            context.show::<MemoryRead>(&client, params, |read| shown(&read.entry)).await
        }
        Command::Add(args) => add(&client, args, context).await,
        Command::Edit(args) => {
            context.show::<MemoryUpdate>(&client, edited(args), |changed| told(changed, "is changed")).await
        }
        Command::Remove { entry } => {
            let params = MemoryDeleteParams { entry_id: entry.into(), operation_id: None, expected_revision: None };
            context.show::<MemoryDelete>(&client, params, |removed| removed.effect.clone()).await
        }
    }
}

async fn list(client: &Client, args: ListArgs, context: &Context) -> Result<Exit, Failure> {
    let project_id = match &args.project {
        Some(name) => Some(project::find(client, name).await?.project_id),
        None => None,
    };
    let params = MemoryListParams {
        scope: args.scope,
        project_id,
        query: args.query,
        tag: args.tag,
        cursor: None,
        limit: Some(ENTRIES),
    };
    let projects = client.projects().list(project::everything()).await?.items;
    context.show::<MemoryList>(client, params, |page| listed(&page.items, &projects, page.next_cursor.is_some())).await
}

async fn add(client: &Client, args: AddArgs, context: &Context) -> Result<Exit, Failure> {
    let project_id = match &args.project {
        Some(name) => Some(project::find(client, name).await?.project_id),
        None => None,
    };
    let params = MemoryCreateParams {
        scope: if project_id.is_some() { MemoryScope::Project } else { MemoryScope::User },
        project_id,
        kind: args.kind,
        title: args.title,
        body: args.text,
        tags: Some(args.tags),
        pinned: Some(args.pin),
        enabled: None,
        operation_id: None,
    };
    context.show::<MemoryCreate>(client, params, |changed| told(changed, "is remembered")).await
}

fn edited(args: EditArgs) -> MemoryUpdateParams {
    let either = |yes: bool, no: bool| (yes || no).then_some(yes);
    MemoryUpdateParams {
        entry_id: args.entry.into(),
        kind: args.kind,
        title: args.title,
        body: args.text,
        tags: (args.no_tags || !args.tags.is_empty()).then_some(args.tags),
        pinned: either(args.pin, args.unpin),
        enabled: either(args.enable, args.disable),
        operation_id: None,
        expected_revision: args.revision,
    }
}

fn told(changed: &MemoryChanged, what: &str) -> String {
    let MemoryEntry { title, entry_id, .. } = &changed.entry;
    format!("\"{title}\" {what} ({entry_id}). Runs that begin from now on are shown it so.")
}
