//! The handshake and the daemon itself.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{AppId, Empty, InstanceId, Limits, OperationId, ProtocolRange, RunStatus, Settings, Timestamp};

methods! {
    /// The handshake: the first request of every connection.
    Initialize = "initialize"(InitializeParams) -> Initialized, ToDaemon, reads, Work;
    /// How the daemon is.
    DaemonStatus = "daemon/status"(Empty) -> DaemonState, ToDaemon, reads, Control;
    /// Stop taking work, park what runs, write everything down and exit.
    DaemonShutdown = "daemon/shutdown"(ShutdownParams) -> Empty, ToDaemon, changes, Work;
    /// Write everything but the secrets into one new file, as it is at one moment, while work goes on.
    DaemonBackup = "daemon/backup"(BackupParams) -> BackupResult, ToDaemon, reads, Work;
    /// Hold the index against the logs, and read every log and every payload, while work goes on.
    DaemonCheck = "daemon/check"(Empty) -> CheckResult, ToDaemon, reads, Work;
    /// The settings of the daemon.
    SettingsRead = "settings/read"(Empty) -> SettingsResult, ToDaemon, reads, Work;
    /// Change settings: what is named is set, null clears.
    SettingsUpdate = "settings/update"(SettingsUpdateParams) -> SettingsChanged, ToDaemon, changes, Work;
}

/// Parameters of `initialize`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// The protocol versions the client speaks.
    pub protocol: ProtocolRange,
    /// Who it is.
    pub client: ClientInfo,
    /// What it can do for the daemon.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// What it does not want to be sent: `itemDelta`, `toolProgress`, `data/changed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opt_out: Vec<String>,
    /// Narrows the session to an app's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_id: Option<AppId>,
    /// Narrows the session to an app's surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<String>,
    /// Proves a narrowed session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Who a client is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientInfo {
    /// Its name, `[A-Za-z0-9._-]{1,64}`; its tools have the source `client:NAME`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Which process; stable for its life. Without one nothing of it outlives the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<InstanceId>,
}

/// What a client can do for the daemon; all false unless claimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// It answers approvals.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approvals: bool,
    /// It answers questions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input: bool,
    /// It shows what `navigate` names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub navigation: bool,
}

/// The answer to `initialize`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Initialized {
    /// The protocol version of this connection.
    pub protocol: u32,
    /// Who the daemon is.
    pub daemon: DaemonInfo,
    /// Every number a client could run into.
    pub limits: Limits,
    /// SHA-256 of the schema bundle in canonical form (RFC 8785); `ropewalk schema --hash` prints it too.
    pub schema_hash: String,
}

/// Who the daemon is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DaemonInfo {
    /// `ropewalk`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Which life of the daemon this is.
    pub instance_id: InstanceId,
    /// When it began.
    pub started_at: Timestamp,
}

/// Parameters of `daemon/shutdown`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShutdownParams {
    /// How long requests and calls under way may take to end; 10,000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// Parameters of `daemon/backup`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackupParams {
    /// An absolute path, at which there is nothing yet.
    pub path: String,
}

/// The answer to `daemon/backup`: how large the file is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackupResult {
    /// Its lines.
    pub lines: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Logs that are missing, or in it as they are and cannot be read to their end; absent when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// The answer to `daemon/check`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// What is not as it should be; empty when all is well.
    pub differences: Vec<Difference>,
    /// Whether there is more than is told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Something stored that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What it is about.
    pub kind: DifferenceKind,
    /// Which file, or which row of the index.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// What a difference is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DifferenceKind {
    /// The index: it can be made anew from the logs.
    Row,
    /// A log.
    Log,
    /// A payload that is out of line.
    Blob,
}

/// The answer to `daemon/status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DaemonState {
    /// Its version.
    pub version: String,
    /// Which life of the daemon this is.
    pub instance_id: InstanceId,
    /// When it began.
    pub started_at: Timestamp,
    /// How long ago that was.
    pub uptime_ms: u64,
    /// Whether it is well.
    pub health: Health,
    /// How much there is of everything.
    pub counts: Counts,
    /// What is on disk.
    pub store: StoreState,
    /// Resident memory.
    pub memory_bytes: u64,
}

/// Whether the daemon is well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// `ok` or `degraded`.
    pub state: HealthState,
    /// What is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whether something is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HealthState {
    /// All is well.
    Ok,
    /// It works, but something needs attention.
    Degraded,
}

/// How much there is of everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Open connections.
    pub connections: u64,
    /// Threads in the store.
    pub threads: u64,
    /// Runs that have not ended, by state.
    pub runs: BTreeMap<RunStatus, u64>,
    /// Interactions that are open.
    pub open_interactions: u64,
    /// Child processes.
    pub children: u64,
}

/// What is on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreState {
    /// The version of the log format.
    pub format: u64,
    /// Bytes of logs.
    pub log_bytes: u64,
    /// Bytes of payloads out of line.
    pub blob_bytes: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
    /// Bytes of logs that nothing needs any more.
    pub dead_bytes: u64,
    /// `ok` or `rebuilding`.
    pub index: IndexState,
    /// How far the start has come that reads it or makes it anew, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<f64>,
}

/// Where the index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum IndexState {
    /// It agrees with the logs.
    Ok,
    /// It is being filled from the logs.
    Rebuilding,
}

/// The answer to `settings/read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsResult {
    /// The settings.
    pub settings: Settings,
}

/// The answer to `settings/update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsChanged {
    /// The settings.
    pub settings: Settings,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `settings/update`: what is named is set, null clears.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsUpdateParams {
    /// See [`Settings`].
    #[serde(default, skip_serializing_if = "crate::Patch::is_keep")]
    pub default_endpoint_id: crate::Patch<crate::EndpointId>,
    /// 1,000 to 3,600,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_silence_ms: Option<u64>,
    /// 1,000 to 3,600,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_ceiling_ms: Option<u64>,
    /// 1,000 to 604,800,000, or null: for ever.
    #[serde(default, skip_serializing_if = "crate::Patch::is_keep")]
    pub approval_ms: crate::Patch<u64>,
    /// 1,000 to 604,800,000, or null: for ever.
    #[serde(default, skip_serializing_if = "crate::Patch::is_keep")]
    pub input_ms: crate::Patch<u64>,
    /// 0 to 600,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_grace_ms: Option<u64>,
    /// 0 to 600,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approver_grace_ms: Option<u64>,
    /// From 1, or null: no limit.
    #[serde(default, skip_serializing_if = "crate::Patch::is_keep")]
    pub run_max_tool_calls: crate::Patch<u64>,
    /// From 1, or null: no limit.
    #[serde(default, skip_serializing_if = "crate::Patch::is_keep")]
    pub run_max_tokens: crate::Patch<u64>,
    /// From 1,000, or null: no limit.
    #[serde(default, skip_serializing_if = "crate::Patch::is_keep")]
    pub run_max_ms: crate::Patch<u64>,
    /// 1 to 256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtask_runs: Option<u64>,
    /// From 1,000, or null: as the daemon was started.
    #[serde(default, skip_serializing_if = "crate::Patch::is_keep")]
    pub idle_exit_ms: crate::Patch<u64>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
}
