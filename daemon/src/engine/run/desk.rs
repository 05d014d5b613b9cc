//! The desk of one call: what the path asks of the run it serves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ropewalk_protocol::{
    ApprovalAnswer, BlobRef, By, ByKind, CallDecision, CallId, DecidedVia, Decision, Outcome, PolicyDecision,
    ProjectId, SourceKind, Unattended, limits,
};
use serde_json::{Map, Value};

use super::{
    app_tools::AppSource,
    before::{self, Before, calls_so_far},
    client_call::ClientSource,
    getting_ready,
    report::{Over, Reporter},
    room,
    server_call::ServerSource,
    toolbox::{self, Toolbox},
};
use crate::{
    domain::Refusals,
    tools::{
        CallFailure, Effective, Schema, Stakes, ToolSource, ToolSpec, ask_user,
        mcp::without_patterns,
        path::{Ask, DENY, Desk, ModelToolCall, Refused},
        policy::{self, AGENT, RuleSet},
        tool_search::is_tool_search,
        veil::is_veiled,
    },
};

mod asking;

/// The desk of one call.
pub struct RunDesk<'a> {
    reporter: &'a Reporter,
    toolbox: Mutex<Toolbox>,
    ceiling_ms: u64,
    result_tokens: Option<u64>,
    project_id: ProjectId,
    unattended: Unattended,
    calls_so_far: u64,
    refusals: Refusals,
    before: Before,
    clients: ClientSource<'a>,
    app: AppSource<'a>,
    servers: ServerSource<'a>,
    approval_ms: Mutex<Option<u64>>,
    stopped_by: Mutex<Option<By>>,
}

impl<'a> RunDesk<'a> {
    /// A desk with the tools and rules as they are now.
    pub async fn open(reporter: &'a Reporter, call: &ModelToolCall) -> Result<Self, Over> {
        let (call_id, name) = (call.call_id.clone(), call.name.clone());
        let ((toolbox, room, place), project_id, unattended, calls_so_far, refusals, before) = reporter
            .look(move |turn, run_id| {
                let run = turn.state().runs.get(run_id);
                let endpoint_id = run.map(|run| &run.run.endpoint_id);
                let room = endpoint_id.and_then(|id| room::room_of(turn.shared, id));
                (
                    (toolbox::of_run(turn, run_id), room, getting_ready::place(turn, run_id)),
                    turn.state().thread.project_id.clone(),
                    run.map(|run| run.run.unattended).unwrap_or_default(),
                    run.map_or(1, |run| calls_so_far(run, &call_id, &name)),
                    run.map(|run| run.refusals.clone()).unwrap_or_default(),
                    Before::of(turn.state(), run_id, &call_id),
                )
            })
            .await?;
        let place = place.ok_or(Over)?;
        let settings = reporter.shared().catalogue.snapshot().settings.clone();
        Ok(Self {
            reporter,
            clients: ClientSource { reporter, ceiling_ms: toolbox.ceiling_ms() },
            app: AppSource { reporter, unattended, input_ms: settings.input_ms },
            servers: ServerSource { reporter, place },
            ceiling_ms: toolbox.ceiling_ms(),
            result_tokens: room.filter(|room| room.is_enforced).map(|room| room.budgets.result),
            toolbox: Mutex::new(toolbox),
            project_id,
            unattended,
            calls_so_far,
            refusals,
            before,
            approval_ms: Mutex::default(),
            stopped_by: Mutex::default(),
        })
    }

    /// Who stopped the run by refusing this call.
    pub fn stopped_by(&self) -> Option<By> {
        self.stopped_by.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether nobody can tell any more what the call came to.
    pub fn is_lost(&self, call: &ModelToolCall) -> bool {
        // What its secrets were is not known any more, so that it cannot be made again.
        let was_made = self.before.was_sent || self.before.was_begun;
        was_made && is_veiled(&call.arguments) || self.before.is_lost(self.toolbox().find(&call.name).as_deref())
    }

    fn toolbox(&self) -> MutexGuard<'_, Toolbox> {
        self.toolbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asking(&self) -> policy::Asking<'_> {
        policy::Asking {
            project_id: &self.project_id,
            thread_id: self.reporter.thread().id(),
            principal: &AGENT,
            connection: None,
            now: self.reporter.shared().clock.now(),
        }
    }

    fn effective_now(&self, tool: &ToolSpec) -> Effective {
        policy::effective(tool.identity(), &self.rules(), self.asking())
    }

    fn rules(&self) -> Arc<RuleSet> {
        self.reporter.shared().rules_of(&self.project_id, self.reporter.thread().id())
    }
}

impl Desk for RunDesk<'_> {
    fn find(&self, flat_name: &str) -> Option<Arc<ToolSpec>> {
        self.toolbox().find(flat_name)
    }

    fn names(&self) -> Vec<String> {
        self.toolbox().names()
    }

    /// A call that was taken up again goes on from where it was: what was decided stays decided, and an approval that is
    /// open is settled like any other, by a person or by the rules as they are now.
    fn effective(&self, tool: &ToolSpec) -> Effective {
        let now = self.effective_now(tool);
        let decision = match (self.before.is_decided, self.before.is_asked) {
            (true, _) => PolicyDecision::Allow,
            (false, true) => PolicyDecision::Ask,
            (false, false) => return now,
        };
        Effective { decision, max_calls: u64::MAX, ..now }
    }

    /// What a client was at work on when its daemon died goes on: it was made before the rule.
    fn denied(&self, tool: &ToolSpec) -> Option<Effective> {
        let now = self.effective_now(tool);
        (now.decision == PolicyDecision::Deny && !self.before.was_sent).then_some(now)
    }

    fn refused_before(&self, digest: &str) -> Option<CallDecision> {
        self.refusals.final_of(digest).filter(|_| !self.before.is_asked).cloned()
    }

    fn calls_of(&self, _: &ToolSpec) -> u64 {
        self.calls_so_far
    }

    fn silence_ms(&self, tool: &ToolSpec, effective: &Effective) -> u64 {
        tool.silence_ms(effective, self.ceiling_ms)
    }

    fn ceiling_ms(&self) -> u64 {
        self.ceiling_ms
    }

    fn schema(&self, tool: &ToolSpec) -> Option<Arc<Schema>> {
        let schemas = &self.reporter.shared().schemas;
        match tool.source_kind {
            // Patterns of servers are theirs to evaluate (MCP-38).
            SourceKind::Mcp => schemas.ready(&tool.digest, &without_patterns(&tool.input_schema)),
            _ => schemas.ready(&tool.digest, &tool.input_schema),
        }
    }

    async fn stakes(&self, tool: &ToolSpec, arguments: &Map<String, Value>) -> Option<Stakes> {
        if self.before.is_decided {
            return None;
        }
        self.source(tool).stakes(tool, arguments).await
    }

    async fn approve(&self, ask: Ask<'_>) -> Result<CallDecision, Refused> {
        let (id, claim) = self.ask(&ask).await?;
        let answer: Option<ApprovalAnswer> =
            claim.answer.clone().and_then(|answer| serde_json::from_value(answer).ok());
        let by_rule = claim.by.kind == ByKind::Policy;
        match (claim.outcome, answer) {
            (Outcome::Answered, Some(_)) if by_rule => {
                Ok(Self::decision("allow", DecidedVia::Policy, id, &claim, None))
            }
            (Outcome::Answered, Some(answer)) => {
                self.remember(&ask, &answer, &claim.by).await?;
                Ok(Self::decision(word(answer.decision), DecidedVia::Person, id, &claim, answer.note))
            }
            (Outcome::Declined, None) if by_rule => Err(self.refused_by_rule(ask.tool, id, &claim)),
            (Outcome::Declined, Some(answer)) => {
                let stopped = answer.decision == Decision::Cancel;
                if stopped {
                    *self.stopped_by.lock().unwrap_or_else(PoisonError::into_inner) = Some(claim.by.clone());
                }
                let note = answer.note.clone();
                let decision = Self::decision(word(answer.decision), DecidedVia::Person, id, &claim, answer.note);
                Err(Refused { decision: Some(decision), failure: CallFailure::Declined { note, stopped } })
            }
            (Outcome::Expired, _) => Err(CallFailure::Expired.into()),
            (Outcome::Undeliverable, _) => Err(CallFailure::Undeliverable.into()),
            (Outcome::Answered | Outcome::Declined | Outcome::Cancelled | Outcome::OutcomeUnknown, _) => {
                Err(CallFailure::Cancelled { sent: false }.into())
            }
        }
    }

    async fn look_again(&self) -> Result<(), CallFailure> {
        let now = self.reporter.look(|turn, run_id| toolbox::of_run(turn, run_id)).await;
        *self.toolbox() = now.map_err(|_| CallFailure::Cancelled { sent: false })?;
        Ok(())
    }

    fn decided(&self, call_id: &CallId, decision: CallDecision) {
        // A rule that came between decision and call has the last word.
        if self.before.is_decided && decision.decision != DENY {
            return;
        }
        let approval_ms = *self.approval_ms.lock().unwrap_or_else(PoisonError::into_inner);
        let call_id = call_id.clone();
        self.reporter.stage(move |turn, run_id| turn.change.decide_call(run_id, &call_id, decision, approval_ms));
    }

    async fn begins(&self, tool: &ToolSpec, call_id: &CallId) -> Result<(), CallFailure> {
        before::begins(self.reporter, tool, call_id).await.map_err(|_| CallFailure::Cancelled { sent: false })
    }

    /// A call whose making was decided before it became too much is made.
    fn is_left_out(&self, tool: &ToolSpec) -> bool {
        !self.before.is_decided && self.toolbox().is_left_out(&tool.flat_name)
    }

    fn unusable(&self, tool: &ToolSpec) -> Option<CallFailure> {
        self.toolbox().unusable(&tool.flat_name)
    }

    fn result_tokens(&self) -> Option<u64> {
        self.result_tokens
    }

    async fn keep_whole(&self, text: String) -> Option<BlobRef> {
        if text.len() as u64 > limits::BLOB_BYTES {
            return None;
        }
        match self.reporter.shared().store.put_blob(text.into_bytes()).await {
            Ok(pin) => {
                let blob = pin.blob().clone();
                self.reporter.stage(move |turn, _| turn.names_blob(pin));
                Some(blob)
            }
            // The call has its result all the same; the model is told that the rest was not kept.
            Err(error) => {
                tracing::warn!(%error, "the whole of a result could not be kept");
                None
            }
        }
    }

    fn source(&self, tool: &ToolSpec) -> &dyn ToolSource {
        match tool.source_kind {
            SourceKind::Client => &self.clients,
            SourceKind::App if is_tool_search(tool) || ask_user::is_ask_user(tool) => &self.app,
            SourceKind::App | SourceKind::Files | SourceKind::Mcp => &self.servers,
        }
    }
}

const fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Accept => "accept",
        Decision::AcceptForSession => "acceptForSession",
        Decision::AcceptAlways => "acceptAlways",
        Decision::Decline => "decline",
        Decision::Cancel => "cancel",
    }
}
