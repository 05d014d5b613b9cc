//! Runs: the work one submitted input causes, up to an outcome.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AppId, BranchId, CallId, ChangeSetId, EndpointId, MessageId, Mode, OperationId, RunId, RunOutcome, ThreadId,
    Timestamp, Usage, WaitingOn,
};

/// The work one submitted input causes on a branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Its id.
    pub run_id: RunId,
    /// Its thread.
    pub thread_id: ThreadId,
    /// Its branch.
    pub branch_id: BranchId,
    /// The input that caused it.
    pub message_id: MessageId,
    /// The operation id of the submit, which tells a waiting client which run is its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// How the input was submitted.
    pub mode: Mode,
    /// Where it is.
    pub state: RunStatus,
    /// What it waits for, while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_on: Option<WaitingOn>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RunOutcome>,
    /// Why it is paused: `shutdown`, `budget` or `endpoint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What its model requests cost so far.
    pub usage: Usage,
    /// The endpoint it uses.
    pub endpoint_id: EndpointId,
    /// The model it uses.
    pub model: String,
    /// What happens to a question nobody can answer.
    pub unattended: Unattended,
    /// On whose behalf it works.
    pub principal: Principal,
    /// The call it is a subtask of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunParent>,
    /// The ended run it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_run_id: Option<RunId>,
    /// What can be done about it now: exactly what would be accepted. Empty unless it is paused, or was the last run of its
    /// branch and ended badly.
    pub recovery: Vec<Recovery>,
    /// The files it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_set: Option<ChangeSet>,
    /// Model requests answered so far.
    pub steps: u64,
    /// Tool calls made so far.
    pub tool_calls: u64,
    /// When its input was submitted.
    pub submitted_at: Timestamp,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunStatus {
    /// Its input waits on the branch.
    Queued,
    /// It works.
    Running,
    /// It waits for somebody; `waitingOn` says for whom.
    Waiting,
    /// The daemon parked it; it goes on under its id.
    Paused,
    /// It ended well.
    Completed,
    /// It ended badly.
    Failed,
    /// Somebody stopped it.
    Stopped,
    /// A crash ended it and it could not go on.
    Interrupted,
}

impl RunStatus {
    /// Whether a run in this state has ended.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Stopped | Self::Interrupted)
    }

    /// The word the wire has for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What happens to an approval or question that no attached client can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Unattended {
    /// It ends as `undeliverable` and the model is told.
    #[default]
    Decline,
    /// The run waits, visibly.
    Wait,
}

/// On whose behalf something is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Principal {
    /// What kind of caller.
    pub kind: PrincipalKind,
    /// The app, for an app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_id: Option<AppId>,
}

/// Kinds of callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PrincipalKind {
    /// A client of the owner.
    Owner,
    /// An installed app.
    App,
    /// A run.
    Run,
    /// A run below a run.
    Subtask,
}

/// The call a run is a subtask of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunParent {
    /// The thread of the caller.
    pub thread_id: ThreadId,
    /// The calling run.
    pub run_id: RunId,
    /// The call.
    pub call_id: CallId,
}

/// What can be done about a pause or a bad end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Recovery {
    /// Go on from the last durable step; a paused run under its id.
    Resume,
    /// The same input again.
    Retry,
    /// Leave it and release the queue.
    Skip,
    /// Put the input on the branch's head.
    Rebase,
}

/// The files a run changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeSet {
    /// Its id.
    pub change_set_id: ChangeSetId,
    /// Each changed file.
    pub files: Vec<ChangedFile>,
}

/// A file a run changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Where it is.
    pub path: String,
    /// What happened to it.
    pub change: FileChange,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FileChange {
    /// It was made.
    Created,
    /// It was changed.
    Modified,
    /// It was removed.
    Deleted,
}
