//! The command line: a client of the socket like any other, one file a command, and `daemon`, which is what all the others
//! talk to.

mod answer;
mod approve;
mod backup;
mod branches;
mod context;
mod daemon;
mod demo;
mod doctor;
mod endpoint;
mod environment;
mod export;
mod failure;
mod files_server;
mod follow;
mod grant;
mod interrupts;
mod keep;
mod key;
mod mcp;
mod memory;
mod moment;
mod out;
mod pending;
mod person;
mod policy;
mod project;
mod question;
mod reconnecting;
mod recover;
mod run;
mod schema;
mod search;
mod seen;
mod session;
mod settings;
mod stop;
mod text;
mod threads;
mod transcript;
mod watch;
mod words;

use std::{ffi::OsString, process::ExitCode};

use clap::{
    Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};

use ropewalk_protocol::Recovery;

pub use environment::Environment;

use self::{
    failure::{Exit, Failure},
    out::Out,
    recover::recover,
    session::{Context, Global},
};

/// A local agent runtime: threads, runs and tools behind one socket
#[derive(Parser, Debug)]
#[command(
    name = "ropewalk",
    version,
    arg_required_else_help = true,
    propagate_version = true,
    after_help = "\
Examples:
  ropewalk demo
  ropewalk run \"say hello\"
  ropewalk doctor

Commands that need a daemon start one when none runs. It ends after 15 idle minutes."
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Demo(demo::DemoArgs),
    Run(run::RunArgs),
    Resume(recover::ResumeArgs),
    Retry(recover::RetryArgs),
    Rebase(recover::RebaseArgs),
    Stop(stop::StopArgs),
    Skip(stop::SkipArgs),
    Pending(pending::PendingArgs),
    Answer(answer::AnswerArgs),
    Threads(threads::ThreadsArgs),
    Search(search::SearchArgs),
    Branches(branches::BranchesArgs),
    Export(export::ExportArgs),
    Context(context::ContextArgs),
    Endpoint(endpoint::EndpointArgs),
    Mcp(mcp::McpArgs),
    Policy(policy::PolicyArgs),
    Project(project::ProjectArgs),
    Grant(grant::GrantArgs),
    Memory(memory::MemoryArgs),
    Settings(settings::SettingsArgs),
    Doctor(doctor::DoctorArgs),
    Backup(backup::BackupArgs),
    Restore(backup::RestoreArgs),
    Schema(schema::SchemaArgs),
    Daemon(daemon::DaemonArgs),
    #[command(hide = true)]
    Keep(keep::KeepArgs),
    #[command(hide = true)]
    FilesServer(files_server::FilesServerArgs),
}

/// Runs a command: the arguments of the process, its own name first, and its environment. Everything that can go wrong is
/// said on stderr and is in the exit code.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>, environment: Environment) -> ExitCode {
    let out = Out::of_process(environment.get("NO_COLOR").is_some());
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(explain(&error, &out).0),
    };
    if let Command::Keep(args) = &cli.command {
        return keep::run(args, &out);
    }
    if let Command::FilesServer(args) = &cli.command {
        return files_server::run(args, &out);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            out.note(&format!("error: no threads can be started: {error}"));
            return ExitCode::from(Exit::FAILED.0);
        }
    };
    let context = Context { global: cli.global, environment, out };
    let exit = runtime.block_on(run_command(cli.command, &context));
    // What is still under way, such as a read that nothing can end, must not keep the process.
    runtime.shutdown_background();
    ExitCode::from(exit.0)
}

async fn run_command(command: Command, context: &Context) -> Exit {
    let done = match command {
        Command::Demo(args) => demo::run(args, context).await,
        Command::Run(args) => run::run(args, context).await,
        Command::Resume(args) => recover(Recovery::Resume, args.of, context).await,
        Command::Retry(args) => recover(Recovery::Retry, args.of, context).await,
        Command::Rebase(args) => recover(Recovery::Rebase, args.of, context).await,
        Command::Stop(args) => stop::stop(args, context).await,
        Command::Skip(args) => stop::skip(args, context).await,
        Command::Pending(args) => pending::run(args, context).await,
        Command::Answer(args) => answer::run(args, context).await,
        Command::Threads(args) => threads::run(args, context).await,
        Command::Search(args) => search::run(args, context).await,
        Command::Branches(args) => branches::run(args, context).await,
        Command::Export(args) => export::run(args, context).await,
        Command::Context(args) => context::run(args, context).await,
        Command::Endpoint(args) => endpoint::run(args, context).await,
        Command::Mcp(args) => mcp::run(args, context).await,
        Command::Policy(args) => policy::run(args, context).await,
        Command::Project(args) => project::run(args, context).await,
        Command::Grant(args) => grant::run(args, context).await,
        Command::Memory(args) => memory::run(args, context).await,
        Command::Settings(args) => settings::run(args, context).await,
        Command::Doctor(args) => doctor::run(args, context).await,
        Command::Backup(args) => backup::backup(args, context).await,
        Command::Restore(args) => backup::restore(args, context).await,
        Command::Schema(args) => Ok(schema::run(&args, context)),
        Command::Daemon(args) => daemon::run(args, context).await,
        // Without a runtime, before this.
        Command::Keep(_) | Command::FilesServer(_) => Ok(Exit::FAILED),
    };
    let exit = done.unwrap_or_else(|failure: Failure| {
        failure.say(&context.out, context.global.json);
        failure.exit()
    });
    context.out.release();
    exit
}

/// Help and version on stdout with 0; what is wrong with the arguments on stderr with 2.
fn explain(error: &clap::Error, out: &Out) -> Exit {
    // Whoever closed the other end of a pipe has seen enough.
    let _ = error.print();
    if is_prompt_without_quotes(error) {
        out.note("\nA prompt of several words goes in quotes: ropewalk run \"say hello\"");
    }
    if error.use_stderr() { Exit::USAGE } else { Exit::DONE }
}

/// Whether `run` was given words as arguments of their own.
fn is_prompt_without_quotes(error: &clap::Error) -> bool {
    let is_word =
        matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(word)) if !word.starts_with('-'));
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    error.kind() == ErrorKind::UnknownArgument && is_word && usage.contains("ropewalk run ")
}

#[cfg(test)]
mod tests;
