//! The command line: a client of the socket like any other, one file a command, and `daemon`, which is what all the others
//! talk to.

mod approve;
mod context;
mod daemon;
mod demo;
mod doctor;
mod endpoint;
mod environment;
mod failure;
mod follow;
mod interrupts;
mod key;
mod out;
mod person;
mod policy;
mod question;
mod resume;
mod run;
mod schema;
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

use clap::{Parser, Subcommand};

pub use environment::Environment;

use self::{
    failure::{Exit, Failure},
    out::Out,
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
    Resume(resume::ResumeArgs),
    Stop(stop::StopArgs),
    Skip(stop::SkipArgs),
    Threads(threads::ThreadsArgs),
    Context(context::ContextArgs),
    Endpoint(endpoint::EndpointArgs),
    Policy(policy::PolicyArgs),
    Settings(settings::SettingsArgs),
    Doctor(doctor::DoctorArgs),
    Schema(schema::SchemaArgs),
    Daemon(daemon::DaemonArgs),
}

/// Runs a command: the arguments of the process, its own name first, and its environment. Everything that can go wrong is
/// said on stderr and is in the exit code.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>, environment: Environment) -> ExitCode {
    let out = Out::of_process(environment.get("NO_COLOR").is_some());
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(explain(&error).0),
    };
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
        Command::Resume(args) => resume::run(args, context).await,
        Command::Stop(args) => stop::stop(args, context).await,
        Command::Skip(args) => stop::skip(args, context).await,
        Command::Threads(args) => threads::run(args, context).await,
        Command::Context(args) => context::run(args, context).await,
        Command::Endpoint(args) => endpoint::run(args, context).await,
        Command::Policy(args) => policy::run(args, context).await,
        Command::Settings(args) => settings::run(args, context).await,
        Command::Doctor(args) => doctor::run(args, context).await,
        Command::Schema(args) => Ok(schema::run(&args, context)),
        Command::Daemon(args) => daemon::run(args, context).await,
    };
    let exit = done.unwrap_or_else(|failure: Failure| {
        failure.say(&context.out, context.global.json);
        failure.exit()
    });
    context.out.release();
    exit
}

/// Help and version on stdout with 0; what is wrong with the arguments on stderr with 2.
fn explain(error: &clap::Error) -> Exit {
    // Whoever closed the other end of a pipe has seen enough.
    let _ = error.print();
    if error.use_stderr() { Exit::USAGE } else { Exit::DONE }
}

#[cfg(test)]
mod tests;
