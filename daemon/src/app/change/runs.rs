//! `app_runs`: work given to threads, and what becomes of it (APP-28).

use rmcp::model::Tool;
use ropewalk_protocol::{
    BranchId, EndpointId, MessageId, Method, Mode, QueueClear, QueueRemove, QueueUpdate, Run, RunId, RunRead,
    RunRebase, RunResult, RunResume, RunSkip, RunStatus, RunStop, RunSubmit, RunWait, RunWaited, ThreadId,
    ThreadMarkRead, WaitingKind,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AppServer, Change, How, Request, ToolError, listed, needed, request};
use crate::{
    app::{answer::Answer, surroundings::Asked},
    tools::servers::Place,
};

pub const NAME: &str = "app_runs";

const DESCRIPTION: &str = "Gives work to threads and steers it, one operation a call. Submit sends a message to a branch: mode \
    Queue begins a run or waits behind the one at work, Aside only records it (a run at work reads it at its next step), Steer \
    is an aside for the run runId and refused when that is not at work, Fork \
    begins on a new branch called title, Replace takes the place of the user message fromMessageId. With wait true the call \
    follows that run until it ends, needs a person, or waitTimeoutMs is over; it is accepted in any case. Stop ends the run of \
    a branch. UpdateQueued, RemoveQueued and ClearQueue change what waits. Resume, SkipFailed and Rebase go on after a run \
    that was paused or failed. MarkRead marks a thread as read. Ids you leave out are those of your own thread; a thread's \
    first branch has the thread's id. app_run is something else: it runs the tools of an installed app.";

/// How long a wait is unless it is said, and how short and long it may be.
const WAIT_MS: u64 = 60_000;
const SHORTEST_WAIT_MS: u64 = 1_000;
const LONGEST_WAIT_MS: u64 = 600_000;

/// What is said of a run that only a person lets go on (APP-185).
const FOR_A_PERSON: &str = "The run waits for a person: an approval or a question of it is open.";

/// What can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RunOperation {
    Submit,
    Stop,
    UpdateQueued,
    RemoveQueued,
    ClearQueue,
    Resume,
    SkipFailed,
    Rebase,
    MarkRead,
}

/// How a message enters its branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SubmitMode {
    #[default]
    Queue,
    Aside,
    Steer,
    Fork,
    Replace,
}

impl SubmitMode {
    /// Whether it begins no run, so that there is nothing to wait for (APP-90).
    fn is_remark(self) -> bool {
        matches!(self, Self::Aside | Self::Steer)
    }
}

/// What a message wants of whom it is for (APP-88).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Intent {
    Question,
    Answer,
    Decision,
    Status,
    Blocker,
    Done,
}

/// The arguments of `app_runs`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunChange {
    /// What to do.
    pub operation: RunOperation,
    /// A name you give this change, so that repeating the call does not do it twice.
    pub operation_id: String,
    /// The thread. Left out: your own.
    #[serde(default)]
    pub thread_id: Option<ThreadId>,
    /// The branch. Left out: the thread's first one, and your own in your own thread.
    #[serde(default)]
    pub branch_id: Option<BranchId>,
    /// What is said, for Submit and UpdateQueued.
    #[serde(default)]
    pub text: Option<String>,
    /// How a submitted message enters its branch.
    #[serde(default)]
    pub mode: SubmitMode,
    /// What a submitted message wants of whom it is for.
    #[serde(default)]
    pub intent: Option<Intent>,
    /// The title of a fork's branch.
    #[serde(default)]
    pub title: Option<String>,
    /// The message a fork follows, or that a replacement takes the place of.
    #[serde(default)]
    pub from_message_id: Option<MessageId>,
    /// The endpoint of a submitted message's run.
    #[serde(default)]
    pub endpoint_id: Option<EndpointId>,
    /// Whether Submit waits for what becomes of its run. Aside and Steer begin none, so nothing is waited for.
    #[serde(default)]
    pub wait: bool,
    /// How long it waits at most, 1,000 to 600,000; 60,000 unless given.
    #[serde(default)]
    pub wait_timeout_ms: Option<u64>,
    /// The waiting message of UpdateQueued and RemoveQueued.
    #[serde(default)]
    pub message_id: Option<MessageId>,
    /// The run of Stop, Resume and Rebase, by default that of the branch. Steer needs it.
    #[serde(default)]
    pub run_id: Option<RunId>,
    /// No operation of this tool can be rehearsed.
    #[serde(default)]
    pub dry_run: Option<bool>,
}

/// How the tool is listed.
pub fn tool() -> Tool {
    listed::<RunChange>(NAME, "Work with runs", DESCRIPTION)
}

impl Change for RunChange {
    fn how(&self) -> How {
        How { operation_id: self.operation_id.clone(), dry_run: self.dry_run, expected_revision: None }
    }

    fn request(&self, place: &Place) -> Result<Request, ToolError> {
        let (thread, branch) = self.target(place);
        let at = json!({"threadId": thread, "branchId": branch});
        let message = |operation| needed(self.message_id.as_ref(), operation, "messageId");
        let of_run = |mut at: Value| {
            if let (Some(run), Some(fields)) = (&self.run_id, at.as_object_mut()) {
                fields.insert("runId".to_owned(), json!(run));
            }
            at
        };
        let with = |mut at: Value, more: Value| {
            if let (Some(fields), Value::Object(more)) = (at.as_object_mut(), more) {
                fields.extend(more);
            }
            at
        };
        match self.operation {
            RunOperation::Submit => self.submission(at, &branch, place),
            RunOperation::Stop => Ok(request("Stop", RunStop::NAME, of_run(at), "Stopped the run.".to_owned())),
            RunOperation::UpdateQueued => {
                let text = needed(self.text.as_ref(), "UpdateQueued", "text")?;
                let change = json!({"messageId": message("UpdateQueued")?, "input": [{"type": "text", "text": text}]});
                let effect = "Changed the message that waits.".to_owned();
                Ok(request("UpdateQueued", QueueUpdate::NAME, with(at, change), effect))
            }
            RunOperation::RemoveQueued => {
                let change = json!({"messageId": message("RemoveQueued")?});
                let effect = "Removed the message that waited.".to_owned();
                Ok(request("RemoveQueued", QueueRemove::NAME, with(at, change), effect))
            }
            RunOperation::ClearQueue => {
                Ok(request("ClearQueue", QueueClear::NAME, at, "Removed all messages that waited.".to_owned()))
            }
            RunOperation::Resume => Ok(request("Resume", RunResume::NAME, of_run(at), "The run goes on.".to_owned())),
            RunOperation::SkipFailed => {
                let effect = "Left the bad end as it is; what waits behind it begins.".to_owned();
                Ok(request("SkipFailed", RunSkip::NAME, at, effect))
            }
            RunOperation::Rebase => {
                let effect = "The run is made anew from the branch as it is now.".to_owned();
                Ok(request("Rebase", RunRebase::NAME, of_run(at), effect))
            }
            RunOperation::MarkRead => {
                Ok(request("MarkRead", ThreadMarkRead::NAME, at, format!("Marked thread {thread} as read.")))
            }
        }
    }
}

impl RunChange {
    /// What it is about: what it names, and what stands for what it does not (APP-86).
    fn target(&self, place: &Place) -> (ThreadId, BranchId) {
        let thread = self.thread_id.clone().unwrap_or_else(|| place.thread_id.clone());
        let own = (thread == place.thread_id).then(|| place.branch_id.clone());
        let branch = self.branch_id.clone().or(own).unwrap_or_else(|| BranchId::from(thread.clone()));
        (thread, branch)
    }

    fn submission(&self, mut at: Value, branch: &BranchId, place: &Place) -> Result<Request, ToolError> {
        let text = needed(self.text.as_ref(), "Submit", "text")?;
        let is_own = *branch == place.branch_id && matches!(self.mode, SubmitMode::Queue | SubmitMode::Replace);
        if self.wait && is_own {
            let message = "Submit cannot wait for your own branch: its next run begins when this one has ended. Submit \
                           without wait, or fork. Nothing was sent.";
            return Err(ToolError(message.to_owned()));
        }
        let steered = match self.mode {
            SubmitMode::Steer => Some(needed(self.run_id.as_ref(), "Steer", "runId")?),
            _ => None,
        };
        let mode = match self.mode {
            SubmitMode::Queue => Mode::Queue,
            SubmitMode::Aside => Mode::Aside,
            SubmitMode::Steer => Mode::Steer,
            SubmitMode::Fork => Mode::Fork,
            SubmitMode::Replace => Mode::Replace,
        };
        let more = json!({
            "input": [{"type": "text", "text": text}], "mode": mode, "title": self.title,
            "fromMessageId": self.from_message_id, "endpointId": self.endpoint_id, "expectedRunId": steered,
        });
        if let (Some(fields), Value::Object(more)) = (at.as_object_mut(), more) {
            fields.extend(more);
        }
        let effect = match self.mode {
            SubmitMode::Aside => format!("Recorded an aside on branch {branch}."),
            SubmitMode::Steer => format!("Recorded a steer for the run at work on branch {branch}."),
            SubmitMode::Fork => format!("Sent a message to a new branch of {branch}."),
            SubmitMode::Queue | SubmitMode::Replace => format!("Sent a message to branch {branch}."),
        };
        let intent = self.intent.map(|intent| json!(intent).as_str().unwrap_or_default().to_owned());
        Ok(Request { intent, ..request("Submit", RunSubmit::NAME, at, effect) })
    }
}

impl AppServer {
    pub(in crate::app) async fn work(&self, change: RunChange) -> Result<Answer, ToolError> {
        let waits = change.wait && change.operation == RunOperation::Submit && !change.mode.is_remark();
        let timeout_ms = change.wait_timeout_ms.unwrap_or(WAIT_MS).clamp(SHORTEST_WAIT_MS, LONGEST_WAIT_MS);
        if change.operation == RunOperation::MarkRead {
            return self.mark_read(change).await;
        }
        let resumed = (change.operation == RunOperation::Resume).then(|| change.target(&self.place));
        let mut answer = match (self.change(change).await, resumed) {
            (Ok(answer), _) => answer,
            (Err(refusal), Some(target)) => return Err(self.blocked(refusal, target).await),
            (Err(refusal), None) => return Err(refusal),
        };
        let run = answer.structured.get("runId").and_then(Value::as_str).map(RunId::from);
        let Some(run) = run.filter(|_| !answer.is_error) else { return Ok(answer) };
        // It may be at a person already, and whoever asked has to know (APP-185).
        let looked = if waits { Some(timeout_ms) } else { None };
        self.tell_of(&run, looked, &mut answer).await?;
        Ok(answer)
    }

    /// Why a resume was refused, and that it is a person who is waited for, where it is: no resume lets such a run go on.
    async fn blocked(&self, refusal: ToolError, (thread, branch): (ThreadId, BranchId)) -> ToolError {
        let Ok(thread) = self.reader.thread(&thread).await else { return refusal };
        let known = thread.branches.into_iter().flatten().find(|known| known.branch_id == branch);
        let Some(run_id) = known.and_then(|branch| branch.active_run_id) else { return refusal };
        let params = json!({"runId": run_id});
        let asked = Asked { place: self.place.clone(), method: RunRead::NAME, params, intent: None };
        let Ok(told) = self.writer.ask(asked).await else { return refusal };
        match serde_json::from_value::<RunResult>(told) {
            Ok(RunResult { run }) if needs_a_person(&run) => ToolError(format!("{} {FOR_A_PERSON}", refusal.0)),
            _ => refusal,
        }
    }

    /// Adds how a run stands: at once, or once it has ended or needs a person, or when the time is over.
    async fn tell_of(&self, run: &RunId, timeout_ms: Option<u64>, answer: &mut Answer) -> Result<(), ToolError> {
        let (method, params) = match timeout_ms {
            Some(timeout_ms) => (RunWait::NAME, json!({"runId": run, "until": "blocked", "timeoutMs": timeout_ms})),
            None => (RunRead::NAME, json!({"runId": run})),
        };
        let asked = Asked { place: self.place.clone(), method, params, intent: None };
        let told = self.writer.ask(asked).await?;
        let timed_out = told.get("timedOut") == Some(&Value::Bool(true));
        let waited = json!({"run": told.get("run"), "timedOut": timed_out, "seq": 0});
        let Ok(RunWaited { run, .. }) = serde_json::from_value::<RunWaited>(waited) else { return Ok(()) };
        let effect = answer.structured.get("effect").and_then(Value::as_str).unwrap_or_default();
        let how = standing(&run, timeout_ms.is_some(), timed_out);
        let effect = format!("{effect} {how}");
        answer.summary.clone_from(&effect);
        if let Some(fields) = answer.structured.as_object_mut() {
            fields.insert("effect".to_owned(), effect.into());
            fields.insert("current".to_owned(), json!(run));
        }
        Ok(())
    }

    /// Up to the thread's newest event, as a person who looks at it now would have read it.
    async fn mark_read(&self, change: RunChange) -> Result<Answer, ToolError> {
        let thread = change.thread_id.clone().unwrap_or_else(|| self.place.thread_id.clone());
        let seq = self.reader.thread(&thread).await?.seq;
        self.change(Marked { change, seq: json!(seq) }).await
    }
}

/// A run may wait for its endpoint as well, which is nobody's to answer.
fn needs_a_person(run: &Run) -> bool {
    let kind = run.waiting_on.as_ref().map(|waiting| waiting.kind);
    matches!(kind, Some(WaitingKind::Approval | WaitingKind::Input))
}

fn standing(run: &Run, was_waited_for: bool, timed_out: bool) -> &'static str {
    match run.state {
        _ if needs_a_person(run) => FOR_A_PERSON,
        RunStatus::Paused => "The run is paused.",
        _ if timed_out => "The run is still at work; the time to wait is over.",
        _ if !was_waited_for => "",
        _ => "The run has ended.",
    }
}

/// A MarkRead, with the place up to which everything was read.
#[derive(Deserialize, JsonSchema)]
struct Marked {
    change: RunChange,
    seq: Value,
}

impl Change for Marked {
    fn how(&self) -> How {
        self.change.how()
    }

    fn request(&self, place: &Place) -> Result<Request, ToolError> {
        let mut request = self.change.request(place)?;
        request.params.insert("seq".to_owned(), self.seq.clone());
        Ok(request)
    }
}
