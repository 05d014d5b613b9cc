//! `ropewalk endpoint`: the models that can be used, and their keys.

mod advice;
mod fields;
mod shown;

use clap::{Args, Subcommand};
use ropewalk::{Client, Error};
use ropewalk_protocol::{
    Empty, Endpoint, EndpointList, EndpointRemove, EndpointRemoveParams, EndpointSet, EndpointSetParams, ListParams,
    Patch, SecretRemove, SecretRemoveParams, SecretSet, SecretSetParams, SettingsRead, SettingsUpdate,
    SettingsUpdateParams,
};

pub(super) use self::advice::next_step;
use self::{
    fields::{AddArgs, ChangeArgs},
    shown::{listed, verdict},
};
use super::{
    failure::{Exit, Failure},
    key::KeyArgs,
    session::{Context, named},
    text::printable,
};

/// Add, change, list, test and remove endpoints: the models that can be used
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk endpoint add local --provider ollama --model qwen3 --default
  ropewalk endpoint add work --url https://api.example.com/v1 --model big --key-stdin < key.txt
  ropewalk endpoint add claude --provider anthropic --model claude-sonnet-4-5 --key-env ANTHROPIC_API_KEY
  ropewalk endpoint set work --model bigger --max-output-tokens 8192
  ropewalk endpoint test work
  ropewalk endpoint use local")]
pub(crate) struct EndpointArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// Add an endpoint
    #[command(after_help = "\
Examples:
  ropewalk endpoint add local --provider ollama --model qwen3 --default
  ropewalk endpoint add work --url https://api.example.com/v1 --model big --key-env WORK_KEY
  ropewalk endpoint add far --provider gemini --model gemini-2.5-pro --proxy socks5://127.0.0.1:1080 --key-stdin
  ropewalk endpoint add router --url https://openrouter.ai/api/v1 --model m --header X-Title=Ropewalk")]
    Add(AddArgs),
    /// Change what is named of an endpoint
    ///
    /// What is not named stays. Another provider or another host takes its key away.
    #[command(after_help = "\
Examples:
  ropewalk endpoint set work --model bigger
  ropewalk endpoint set work --context-tokens 128000 --max-output-tokens none
  ropewalk endpoint set work --no-headers --proxy none")]
    Set(ChangeArgs),
    /// List the endpoints
    #[command(after_help = "Example:\n  ropewalk endpoint list")]
    List,
    /// Make an endpoint the default
    ///
    /// The built-in `scripted` is the default only while there is no other; `ropewalk run --endpoint scripted` uses it.
    #[command(after_help = "Example:\n  ropewalk endpoint use local")]
    Use {
        /// Its name or id
        endpoint: String,
    },
    /// Send an endpoint a short request and see whether it answers
    #[command(after_help = "Example:\n  ropewalk endpoint test local")]
    Test {
        /// Its name or id
        endpoint: String,
    },
    /// Remove an endpoint and its key
    #[command(after_help = "Example:\n  ropewalk endpoint remove local")]
    Remove {
        /// Its name or id
        endpoint: String,
    },
    /// Store the key of an endpoint, or forget it
    #[command(after_help = "\
Examples:
  ropewalk endpoint key work < key.txt
  ropewalk endpoint key work --key-env WORK_KEY
  ropewalk endpoint key work --remove")]
    Key {
        /// Its name or id
        endpoint: String,
        #[command(flatten)]
        key: KeyArgs,
        /// Forget the key
        #[arg(long, conflicts_with_all = ["key_stdin", "key_env"])]
        remove: bool,
    },
}

/// Runs it.
pub(crate) async fn run(args: EndpointArgs, context: &Context) -> Result<Exit, Failure> {
    match args.command {
        Command::Add(args) => add(args, context).await,
        Command::Set(args) => change(args, context).await,
        Command::List => {
            let client = context.client().await?;
            context.show::<EndpointList>(&client, everything(), |page| listed(&page.items)).await
        }
        Command::Use { endpoint } => {
            let (client, found) = find(&endpoint, context).await?;
            let is_builtin = found.builtin;
            let default_endpoint_id = Patch::Set(found.endpoint_id);
            let params = SettingsUpdateParams { default_endpoint_id, ..SettingsUpdateParams::default() };
            match context.show::<SettingsUpdate>(&client, params, |_| format!("{endpoint} is the default now.")).await {
                Err(Failure::Client(Error::Rpc(error))) if is_builtin && !context.global.json => {
                    let program = context.environment.program();
                    Err(Failure::Failed(format!(
                        "{error} `{program} run --endpoint {endpoint} \"…\"` uses it for one run."
                    )))
                }
                done => done,
            }
        }
        Command::Test { endpoint } => {
            let (client, found) = find(&endpoint, context).await?;
            let tested = client.endpoints().test(found.endpoint_id.clone()).await?;
            context.result(&tested, &verdict(&found, &tested, context.environment.program()));
            Ok(if tested.ok { Exit::DONE } else { Exit::FAILED })
        }
        Command::Remove { endpoint } => {
            let (client, Endpoint { endpoint_id, .. }) = find(&endpoint, context).await?;
            let params = EndpointRemoveParams { endpoint_id, operation_id: None, expected_revision: None };
            let removed = client.call::<EndpointRemove>(params).await?;
            let settings = client.call::<SettingsRead>(Empty {}).await?.settings;
            let program = context.environment.program();
            let no_default = match settings.default_endpoint_id {
                Some(_) => String::new(),
                None => format!(" None is the default now; `{program} endpoint use NAME` chooses one."),
            };
            context.result(&removed, &format!("{}{no_default}", removed.effect));
            Ok(Exit::DONE)
        }
        Command::Key { endpoint, key, remove } => {
            let value = if remove { None } else { Some(key.read_required(context).await?) };
            let (client, found) = find(&endpoint, context).await?;
            match value {
                Some(value) => set_key(&client, &found, value, context).await,
                None => {
                    let params = SecretRemoveParams {
                        endpoint_id: found.endpoint_id,
                        operation_id: None,
                        expected_revision: None,
                    };
                    context.show::<SecretRemove>(&client, params, |result| result.effect.clone()).await
                }
            }
        }
    }
}

async fn add(args: AddArgs, context: &Context) -> Result<Exit, Failure> {
    // A key that cannot be read should not leave an endpoint without one behind.
    let key = args.key.read(context).await?;
    let client = context.client().await?;
    let program = context.environment.program();
    let known = client.endpoints().list(everything()).await?.items;
    if let Some(same) = known.iter().find(|endpoint| endpoint.name == args.name) {
        return Err(Failure::Failed(format!(
            "There is an endpoint `{}` already ({}). Choose another name, or change that one with \
             `{program} endpoint set {}`.",
            args.name, same.endpoint_id, args.name
        )));
    }
    // With none of one's own the scripted endpoint is the default; with one there is none unless it is chosen.
    let is_first = known.iter().all(|endpoint| endpoint.builtin);
    let is_default = (args.default || is_first).then_some(true);
    let params = EndpointSetParams { is_default, ..args.params() };
    let words = |endpoint: &Endpoint| {
        let default = if endpoint.is_default { ", and is the default" } else { "" };
        format!("{} is there{default}. `{program} endpoint test {}` tries it.", endpoint.name, endpoint.name)
    };
    set(&client, params, key, words, context).await
}

async fn change(args: ChangeArgs, context: &Context) -> Result<Exit, Failure> {
    let key = args.key.read(context).await?;
    let program = context.environment.program();
    if key.is_none() && args.clone().params() == EndpointSetParams::default() {
        let message = format!("Say what of {} is to change; `{program} endpoint set --help` lists it.", args.name);
        return Err(Failure::Usage(message));
    }
    let (client, before) = find(&args.name, context).await?;
    let params = EndpointSetParams { endpoint_id: Some(before.endpoint_id.clone()), ..args.params() };
    let has_new_key = key.is_some();
    let words = |after: &Endpoint| {
        let name = &after.name;
        if before.has_credential && !after.has_credential && !has_new_key {
            return format!(
                "{name} is changed. Its key was for another place and is gone; `{program} endpoint key {name}` stores \
                 the new one."
            );
        }
        format!("{name} is changed. `{program} endpoint test {name}` tries it.")
    };
    set(&client, params, key, words, context).await
}

/// Sets an endpoint, then its key if there is one.
async fn set(
    client: &Client,
    params: EndpointSetParams,
    key: Option<String>,
    words: impl FnOnce(&Endpoint) -> String,
    context: &Context,
) -> Result<Exit, Failure> {
    let Some(key) = key else {
        return context.show::<EndpointSet>(client, params, |result| words(&result.endpoint)).await;
    };
    let endpoint = client.endpoints().set(params).await?.endpoint;
    if !context.global.json {
        context.out.line(&printable(&words(&endpoint)));
    }
    set_key(client, &endpoint, key, context).await
}

async fn set_key(client: &Client, endpoint: &Endpoint, value: String, context: &Context) -> Result<Exit, Failure> {
    let params = SecretSetParams {
        endpoint_id: endpoint.endpoint_id.clone(),
        value,
        operation_id: None,
        expected_revision: None,
    };
    context.show::<SecretSet>(client, params, |result| format!("The key of {} is stored.", result.endpoint.name)).await
}

/// A client, and the endpoint that is called so.
async fn find(wanted: &str, context: &Context) -> Result<(Client, Endpoint), Failure> {
    let client = context.client().await?;
    let endpoints = client.endpoints().list(everything()).await?.items;
    let endpoint = named("endpoint", wanted, &endpoints, |endpoint| &endpoint.endpoint_id, |endpoint| &endpoint.name)?;
    let endpoint = endpoint.clone();
    Ok((client, endpoint))
}

const fn everything() -> ListParams {
    ListParams { cursor: None, limit: Some(1_000) }
}

#[cfg(test)]
mod tests;
