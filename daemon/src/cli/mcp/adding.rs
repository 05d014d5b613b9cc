//! `ropewalk mcp add`.

use std::collections::BTreeMap;

use clap::Args;
use ropewalk_protocol::{ServerAdd, ServerAddParams};

use super::{
    everything,
    shown::{added, exit},
};
use crate::cli::{
    failure::{Exit, Failure},
    session::Context,
};

/// A new server.
#[derive(Args, Clone, Debug)]
pub(super) struct AddArgs {
    /// What to call it
    name: String,
    /// A variable for the server: with its value, or a name alone for the value it has here. Given once for each. Values are
    /// kept like keys, and never shown
    #[arg(long = "env", value_name = "NAME[=VALUE]")]
    env: Vec<String>,
    /// Do not wait until its tools are listed
    #[arg(long)]
    no_wait: bool,
    /// The program and its arguments, after `--`: an absolute path, or a name that is looked up in PATH. No shell reads it
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Adds it.
pub(super) async fn add(args: AddArgs, context: &Context) -> Result<Exit, Failure> {
    let env = environment(&args.env, context)?;
    let mut command = args.command.into_iter();
    let program = command.next().ok_or_else(|| Failure::Usage("Name the server's program after `--`.".to_owned()))?;
    let client = context.client().await?;
    let known = client.servers().list(everything()).await?.items;
    if let Some(same) = known.iter().find(|server| server.name == args.name) {
        return Err(Failure::Failed(format!(
            "There is a server `{}` already ({}). Choose another name, or remove that one first.",
            args.name, same.server_id
        )));
    }
    let params = ServerAddParams {
        command: Some(as_absolute(program)),
        args: Some(command.collect()),
        env: (!env.is_empty()).then_some(env),
        name: Some(args.name),
        wait: Some(!args.no_wait),
        ..ServerAddParams::default()
    };
    let result = client.call::<ServerAdd>(params).await?;
    context.result(&result, &added(&result, context.environment.program()));
    Ok(exit(&result.server))
}

/// The daemon runs elsewhere: a path means what it means here.
fn as_absolute(program: String) -> String {
    if !program.contains(std::path::is_separator) {
        return program;
    }
    std::path::absolute(&program).ok().and_then(|path| path.to_str().map(str::to_owned)).unwrap_or(program)
}

fn environment(variables: &[String], context: &Context) -> Result<BTreeMap<String, String>, Failure> {
    let mut environment = BTreeMap::new();
    for variable in variables {
        let (name, value) = match variable.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => (variable.as_str(), here(variable, context)?),
        };
        environment.insert(name.to_owned(), value);
    }
    Ok(environment)
}

fn here(name: &str, context: &Context) -> Result<String, Failure> {
    let value = context.environment.get(name).and_then(|value| value.to_str().map(str::to_owned));
    value.ok_or_else(|| {
        Failure::Usage(format!("{name} is not set here, or is no text. Set it, or give its value: --env {name}=…"))
    })
}
