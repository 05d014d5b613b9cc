//! `ropewalk endpoint`: the models that can be used, and their keys.

use clap::{Args, Subcommand};
use ropewalk::Client;
use ropewalk_protocol::{
    Endpoint, EndpointId, EndpointList, EndpointRemove, EndpointRemoveParams, EndpointSet, EndpointSetParams,
    EndpointTested, ListParams, Patch, Provider, SecretRemove, SecretRemoveParams, SecretSet, SecretSetParams,
    SettingsUpdate, SettingsUpdateParams,
};

use super::{
    failure::{Exit, Failure},
    key::KeyArgs,
    session::{Context, named},
    text::{printable, table},
    words::{spelled, words},
};

const PROVIDERS: &[&str] = &["openai-compatible", "openai-responses", "anthropic", "gemini", "ollama"];

/// Add, list, test and remove endpoints: the models that can be used
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk endpoint add local --url http://127.0.0.1:11434/v1 --model qwen3 --default
  ropewalk endpoint add work --url https://api.example.com/v1 --model big --key-stdin < key.txt
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
  ropewalk endpoint add local --url http://127.0.0.1:11434/v1 --model qwen3 --default
  ropewalk endpoint add work --url https://api.example.com/v1 --model big --key-env WORK_KEY")]
    Add(AddArgs),
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

#[derive(Args, Clone, Debug)]
struct AddArgs {
    /// What it is called
    name: String,
    /// What it speaks
    #[arg(long, default_value = "openai-compatible", value_name = "PROVIDER", value_parser = words::<Provider>(PROVIDERS))]
    provider: Provider,
    /// Its address, as far as before `/chat/completions`
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// What the model is called there
    #[arg(long, value_name = "MODEL")]
    model: String,
    /// How many tokens its context has
    #[arg(long, value_name = "N")]
    context_tokens: Option<u64>,
    #[command(flatten)]
    key: KeyArgs,
    /// Make it the default; the first one is in any case
    #[arg(long)]
    default: bool,
}

/// Runs it.
pub(crate) async fn run(args: EndpointArgs, context: &Context) -> Result<Exit, Failure> {
    match args.command {
        Command::Add(args) => add(args, context).await,
        Command::List => {
            let client = context.client().await?;
            context.show::<EndpointList>(&client, everything(), |page| listed(&page.items)).await
        }
        Command::Use { endpoint } => {
            let (client, id) = find(&endpoint, context).await?;
            let params =
                SettingsUpdateParams { default_endpoint_id: Patch::Set(id), ..SettingsUpdateParams::default() };
            context.show::<SettingsUpdate>(&client, params, |_| format!("{endpoint} is the default now.")).await
        }
        Command::Test { endpoint } => {
            let (client, id) = find(&endpoint, context).await?;
            let tested = client.endpoints().test(id).await?;
            context.result(&tested, &verdict(&endpoint, &tested));
            Ok(if tested.ok { Exit::DONE } else { Exit::FAILED })
        }
        Command::Remove { endpoint } => {
            let (client, endpoint_id) = find(&endpoint, context).await?;
            let params = EndpointRemoveParams { endpoint_id, operation_id: None, expected_revision: None };
            context.show::<EndpointRemove>(&client, params, |result| result.effect.clone()).await
        }
        Command::Key { endpoint, key, remove } => {
            let value = if remove { None } else { Some(key.read_required(context).await?) };
            let (client, endpoint_id) = find(&endpoint, context).await?;
            match value {
                Some(value) => set_key(&client, endpoint_id, value, context).await,
                None => {
                    let params = SecretRemoveParams { endpoint_id, operation_id: None };
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
    let known = client.endpoints().list(everything()).await?.items;
    if let Some(same) = known.iter().find(|endpoint| endpoint.name == args.name) {
        let program = context.environment.program();
        return Err(Failure::Failed(format!(
            "There is an endpoint `{}` already ({}). Choose another name, or remove that one first with \
             `{program} endpoint remove {}`.",
            args.name, same.endpoint_id, args.name
        )));
    }
    // With none of one's own the scripted endpoint is the default; with one there is none unless it is chosen.
    let is_first = known.iter().all(|endpoint| endpoint.builtin);
    let params = EndpointSetParams {
        name: Some(args.name),
        provider: Some(args.provider),
        base_url: args.url.map_or(Patch::Keep, Patch::Set),
        model: Some(args.model),
        context_tokens: args.context_tokens.map_or(Patch::Keep, Patch::Set),
        is_default: (args.default || is_first).then_some(true),
        ..EndpointSetParams::default()
    };
    let words = |endpoint: &Endpoint| {
        let default = if endpoint.is_default { ", and is the default" } else { "" };
        format!("{} is there{default}. `ropewalk endpoint test {}` tries it.", endpoint.name, endpoint.name)
    };
    match key {
        None => context.show::<EndpointSet>(&client, params, |result| words(&result.endpoint)).await,
        Some(key) => {
            let endpoint = client.endpoints().set(params).await?.endpoint;
            if !context.global.json {
                context.out.line(&printable(&words(&endpoint)));
            }
            set_key(&client, endpoint.endpoint_id, key, context).await
        }
    }
}

async fn set_key(client: &Client, endpoint_id: EndpointId, value: String, context: &Context) -> Result<Exit, Failure> {
    let params = SecretSetParams { endpoint_id, value, operation_id: None };
    context.show::<SecretSet>(client, params, |result| format!("The key of {} is stored.", result.endpoint.name)).await
}

/// A client, and the id of the endpoint that is called so.
async fn find(wanted: &str, context: &Context) -> Result<(Client, EndpointId), Failure> {
    let client = context.client().await?;
    let endpoints = client.endpoints().list(everything()).await?.items;
    let endpoint = named("endpoint", wanted, &endpoints, |endpoint| &endpoint.endpoint_id, |endpoint| &endpoint.name)?;
    Ok((client, endpoint.endpoint_id.clone()))
}

const fn everything() -> ListParams {
    ListParams { cursor: None, limit: Some(1_000) }
}

fn listed(endpoints: &[Endpoint]) -> String {
    let row = |endpoint: &Endpoint| {
        let mut state = Vec::new();
        if endpoint.is_default {
            state.push("default");
        }
        if !endpoint.enabled {
            state.push("switched off");
        }
        if endpoint.has_credential {
            state.push("has a key");
        }
        if endpoint.builtin {
            state.push("built in, no model: does what the lines of a message say");
        }
        vec![
            endpoint.name.clone(),
            spelled(&endpoint.provider),
            endpoint.model.clone(),
            endpoint.base_url.clone().unwrap_or_else(|| "-".to_owned()),
            state.join(", "),
        ]
    };
    table(&endpoints.iter().map(row).collect::<Vec<_>>()).trim_end().to_owned()
}

fn verdict(name: &str, tested: &EndpointTested) -> String {
    match &tested.error {
        None if tested.ok => format!("{name} answered within {} ms.", tested.latency_ms),
        None => format!("{name} did not answer as it should."),
        Some(error) => format!("{name} does not work ({}): {}", spelled(&error.kind), error.message),
    }
}
