//! Runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::methods;
use crate::{
    BranchId, Cursor, EndpointId, MessageId, Mode, OperationId, Page, Part, ProjectId, Run, RunId, RunStatus, Seq,
    ThreadId, Unattended,
};

methods! {
    /// Submit input. Durable before the answer, which comes before any event of the run on this connection.
    RunSubmit = "run/submit"(RunSubmitParams) -> RunSubmitted, ToDaemon, changes, Work;
    /// Stop a run. Idempotent, and always answered.
    RunStop = "run/stop"(RunStopParams) -> RunStopped, ToDaemon, changes, Control;
    /// Wait until a run has ended, or until it needs a person. A timeout is no error.
    RunWait = "run/wait"(RunWaitParams) -> RunWaited, ToDaemon, reads, Work;
    /// A run.
    RunRead = "run/read"(RunParams) -> RunResult, ToDaemon, reads, Work;
    /// The runs, newest first.
    RunList = "run/list"(RunListParams) -> Page<Run>, ToDaemon, reads, Work;
    /// Leave a bad end as it is and release what waits behind it.
    RunSkip = "run/skip"(RunSkipParams) -> RunSkipped, ToDaemon, changes, Work;
    /// Let a paused run go on under its id, or continue one that has ended badly from its last stored step, by a new run.
    RunResume = "run/resume"(RunRecoverParams) -> RunRecovered, ToDaemon, changes, Work;
    /// Give the input of a run that has ended badly once more, by a new run. What came of it leaves the chain and stays in
    /// the log.
    RunRetry = "run/retry"(RunRecoverParams) -> RunRecovered, ToDaemon, changes, Work;
    /// Put an input whose parent is gone on the head of its branch, by a new run.
    RunRebase = "run/rebase"(RunRecoverParams) -> RunRecovered, ToDaemon, changes, Work;
}

/// Parameters of `run/submit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunSubmitParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch; the original one unless given. For a fork the one it is made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// What is said: 1 to 32 parts.
    pub input: Vec<Part>,
    /// How it enters the branch; `queue` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The message a fork follows, any of the thread, the head of the branch unless given; or the user message of the branch
    /// that a replacement takes the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_message_id: Option<MessageId>,
    /// The run a steer is meant for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_run_id: Option<RunId>,
    /// The title of a fork's branch: 1 to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The endpoint of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_id: Option<EndpointId>,
    /// JSON Schema of the final answer, of any JSON type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What happens to a question nobody can answer; `decline` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unattended: Option<Unattended>,
    /// Whether the answer comes when the run has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
    /// How long to wait, 1,000 to 600,000; 60,000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_timeout_ms: Option<u64>,
    /// Makes a repeat recognisable, and identifies the message too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The answer to `run/submit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunSubmitted {
    /// The run; absent for an aside that was just recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The message the input is, or becomes.
    pub message_id: MessageId,
    /// Its branch; for a fork the new one.
    pub branch_id: BranchId,
    /// What became of it.
    pub state: SubmitState,
    /// With `wait`: the run as it was when the wait ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// With `wait`: whether the time ran out first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_out: Option<bool>,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// What became of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SubmitState {
    /// Its run has begun.
    Running,
    /// It waits on its branch.
    Queued,
    /// It is in the chain, without a run.
    Recorded,
}

/// Parameters of `run/stop`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStopParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch; the original one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// Which run; the active one of the branch unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The answer to `run/stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunStopped {
    /// The last event of the stop, or of the thread when there was nothing to stop.
    pub seq: Seq,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `run/wait`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunWaitParams {
    /// Which run.
    pub run_id: RunId,
    /// Until when; `terminal` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<WaitUntil>,
    /// How long to wait, 1,000 to 600,000; 60,000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// What `run/wait` waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitUntil {
    /// The run has ended.
    #[default]
    Terminal,
    /// The run has ended, is paused, or waits for a person.
    Blocked,
}

/// The answer to `run/wait`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunWaited {
    /// The run.
    pub run: Run,
    /// Whether the time ran out first.
    pub timed_out: bool,
    /// The last event of its thread.
    pub seq: Seq,
}

/// Names a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunParams {
    /// Which one.
    pub run_id: RunId,
}

/// The answer to `run/read`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// The run.
    pub run: Run,
}

/// Parameters of `run/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunListParams {
    /// Only runs of this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Only runs of this project's threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Only runs in one of these states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<Vec<RunStatus>>,
    /// Where the page begins; absent: at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Parameters of `run/skip`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunSkipParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch; the original one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The answer to `run/skip`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSkipped {
    /// The run that began because the queue was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// Whether there was anything to release.
    pub released: bool,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `run/resume`, `run/retry` and `run/rebase`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunRecoverParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch; the original one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// Which run; unless given, the one of the branch that is paused, else the last one on it, where that ended badly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The answer to `run/resume`, `run/retry` and `run/rebase`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecovered {
    /// The run that goes on: the paused one, or a new one whose `previousRunId` is the one that has ended.
    pub run: Run,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}
