//! `ropewalk settings`: what holds for the whole daemon.

use clap::{Args, Subcommand};
use ropewalk_protocol::{
    Empty, EndpointId, Patch, SecretStore, Settings, SettingsRead, SettingsUpdate, SettingsUpdateParams,
};

use super::{
    failure::{Exit, Failure},
    session::Context,
    text::{duration, table},
    words::number_or_never,
};

/// Show and change settings of the daemon
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk settings
  ropewalk settings set --approval-ms 3600000
  ropewalk settings set --idle-exit-ms 3600000")]
pub(crate) struct SettingsArgs {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// Show the settings
    #[command(after_help = "Example:\n  ropewalk settings show --json")]
    Show,
    /// Change the settings that are named
    #[command(after_help = "Example:\n  ropewalk settings set --approval-ms 3600000 --run-max-tool-calls 200")]
    Set(SetArgs),
}

#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = true)]
struct SetArgs {
    /// The default endpoint's id, or `never` for none; `ropewalk endpoint use` takes its name
    #[arg(long, value_name = "ID", value_parser = id_or_never)]
    default_endpoint_id: Option<Patch<EndpointId>>,
    /// How long a tool of a client may be silent, 1,000 to 3,600,000
    #[arg(long, value_name = "MS")]
    tool_silence_ms: Option<u64>,
    /// How long a tool of a client may take in all, 1,000 to 3,600,000
    #[arg(long, value_name = "MS")]
    tool_ceiling_ms: Option<u64>,
    /// How long an approval stays open, 1,000 to 604,800,000, or `never` to end
    #[arg(long, value_name = "MS", value_parser = number_or_never)]
    approval_ms: Option<Patch<u64>>,
    /// How long a question stays open, 1,000 to 604,800,000, or `never` to end
    #[arg(long, value_name = "MS", value_parser = number_or_never)]
    input_ms: Option<Patch<u64>>,
    /// How long an absent owner of tools is waited for, 0 to 600,000
    #[arg(long, value_name = "MS")]
    owner_grace_ms: Option<u64>,
    /// How long a client that just left still counts as one that can answer, 0 to 600,000
    #[arg(long, value_name = "MS")]
    approver_grace_ms: Option<u64>,
    /// Tool calls a run may make, or `unlimited`
    #[arg(long, value_name = "N", value_parser = number_or_never)]
    run_max_tool_calls: Option<Patch<u64>>,
    /// Tokens a run may use, or `unlimited`
    #[arg(long, value_name = "N", value_parser = number_or_never)]
    run_max_tokens: Option<Patch<u64>>,
    /// How long a run may take, from 1,000, or `unlimited`
    #[arg(long, value_name = "MS", value_parser = number_or_never)]
    run_max_ms: Option<Patch<u64>>,
    /// Subtask runs at a time, 1 to 256
    #[arg(long, value_name = "N")]
    subtask_runs: Option<u64>,
    /// How long the daemon stays without work and connections, from 1,000, or `none`: as it was started
    #[arg(long, value_name = "MS", value_parser = number_or_never)]
    idle_exit_ms: Option<Patch<u64>>,
}

/// Runs it.
pub(crate) async fn run(args: SettingsArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    match args.command {
        None | Some(Command::Show) => {
            context.show::<SettingsRead>(&client, Empty {}, |result| shown(&result.settings)).await
        }
        Some(Command::Set(args)) => {
            context.show::<SettingsUpdate>(&client, params(args), |result| shown(&result.settings)).await
        }
    }
}

fn params(args: SetArgs) -> SettingsUpdateParams {
    SettingsUpdateParams {
        default_endpoint_id: args.default_endpoint_id.unwrap_or_default(),
        tool_silence_ms: args.tool_silence_ms,
        tool_ceiling_ms: args.tool_ceiling_ms,
        approval_ms: args.approval_ms.unwrap_or_default(),
        input_ms: args.input_ms.unwrap_or_default(),
        owner_grace_ms: args.owner_grace_ms,
        approver_grace_ms: args.approver_grace_ms,
        run_max_tool_calls: args.run_max_tool_calls.unwrap_or_default(),
        run_max_tokens: args.run_max_tokens.unwrap_or_default(),
        run_max_ms: args.run_max_ms.unwrap_or_default(),
        subtask_runs: args.subtask_runs,
        idle_exit_ms: args.idle_exit_ms.unwrap_or_default(),
        operation_id: None,
        expected_revision: None,
    }
}

fn shown(settings: &Settings) -> String {
    let count = |number: Option<u64>| number.map_or_else(|| "unlimited".to_owned(), |number| number.to_string());
    let limit = |ms: Option<u64>| ms.map_or_else(|| "unlimited".to_owned(), |ms| duration(Some(ms)));
    let secrets = match settings.secret_store {
        SecretStore::Keyring => "the keyring of the system",
        SecretStore::File => "a file only you can read",
    };
    let why = settings.secret_store_reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let endpoint = settings.default_endpoint_id.as_ref().map_or("none", |id| id.as_str());
    let rows = [
        ("default-endpoint-id", endpoint.to_owned()),
        ("tool-silence-ms", duration(Some(settings.tool_silence_ms))),
        ("tool-ceiling-ms", duration(Some(settings.tool_ceiling_ms))),
        ("approval-ms", duration(settings.approval_ms)),
        ("input-ms", duration(settings.input_ms)),
        ("owner-grace-ms", duration(Some(settings.owner_grace_ms))),
        ("approver-grace-ms", duration(Some(settings.approver_grace_ms))),
        ("run-max-tool-calls", count(settings.run_max_tool_calls)),
        ("run-max-tokens", count(settings.run_max_tokens)),
        ("run-max-ms", limit(settings.run_max_ms)),
        ("subtask-runs", settings.subtask_runs.to_string()),
        ("idle-exit-ms", settings.idle_exit_ms.map_or_else(|| "as it was started".to_owned(), |ms| duration(Some(ms)))),
        ("keys are kept in", format!("{secrets}{why}")),
    ];
    let rows: Vec<_> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    table(&rows).trim_end().to_owned()
}

fn id_or_never(text: &str) -> Result<Patch<EndpointId>, String> {
    Ok(if matches!(text, "never" | "none") { Patch::Clear } else { Patch::Set(text.into()) })
}
