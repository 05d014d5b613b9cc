//! Asking a person about a call: what is asked, what the rules make of it meanwhile, and what is remembered of the answer.

use std::sync::PoisonError;

use ropewalk_protocol::{
    ApprovalAnswer, ApprovalRequest, By, ByKind, CallDecision, DecidedVia, Decision, DecisionScope, EffectiveLevel,
    InteractionBody, InteractionId, InteractionKind, Outcome, Patch, PolicyDecision, PolicyLevel, PolicyOrigin,
    PolicySetParams,
};
use serde_json::Value;

use super::RunDesk;
use crate::{
    catalogue::Caller,
    domain::World,
    engine::{
        live::Claim,
        run::waiting::{self, Asking, Now},
    },
    tools::{
        CallFailure, ToolSpec,
        path::{Ask, DENY, Refused},
        policy,
    },
};

impl RunDesk<'_> {
    /// What the rules make of an open approval now, and until when.
    fn by_rules(&self, ask: &Ask<'_>) -> Now {
        let until = self.rules().next_expiry(ask.tool.identity(), self.reporter.shared().clock.now());
        Now { claim: self.claim_by_rules(ask), until }
    }

    /// What the rules make of an open approval: nothing, a release, or a refusal. No rule releases what widens authority.
    fn claim_by_rules(&self, ask: &Ask<'_>) -> Option<Claim> {
        let effective = self.effective_now(ask.tool);
        let outcome = match effective.decision {
            PolicyDecision::Ask => return None,
            PolicyDecision::Allow if widens(ask) => return None,
            PolicyDecision::Allow => Outcome::Answered,
            PolicyDecision::Deny => Outcome::Declined,
        };
        let answer = (outcome == Outcome::Answered).then(|| serde_json::json!({ "decision": Decision::Accept }));
        let by = By { policy_id: effective.policy_id, ..By::of(ByKind::Policy) };
        Some(Claim { outcome, by, at: self.reporter.shared().clock.now(), answer, error: None })
    }

    pub(super) async fn ask(&self, ask: &Ask<'_>) -> Result<(InteractionId, Claim), CallFailure> {
        let reporter = self.reporter;
        let request = self.request(ask);
        let body = move |id: &InteractionId, expires_at| {
            InteractionBody::Approval(Box::new(ApprovalRequest { interaction_id: id.clone(), expires_at, ..request }))
        };
        let asking = Asking {
            id: reporter.shared().next_id().into(),
            body: Box::new(body),
            kind: InteractionKind::Approval,
            call_id: ask.call.call_id.clone(),
            owner: None,
            lifetime_ms: reporter.shared().catalogue.snapshot().settings.approval_ms,
            silence_ms: None,
        };
        let (call_id, digest) = (ask.call.call_id.clone(), ask.digest.to_owned());
        let is_another = self.before.shown.as_ref().is_some_and(|shown| *shown != digest);
        reporter.stage(move |turn, run_id| {
            // An approval that outlived its daemon counts for what was shown, which may not be what would be called now (K22).
            if is_another {
                turn.change.void_approval(&call_id);
            }
            turn.change.show_call(run_id, &call_id, digest);
        });
        let cancelled = |_| CallFailure::Cancelled { sent: false };
        let waiting = waiting::open(reporter, asking).await.map_err(cancelled)?;
        let (id, opened_at) = (waiting.id.clone(), waiting.opened_at);
        let by_rules = || self.by_rules(ask);
        let claim = waiting.person(reporter, self.unattended, by_rules).await.map_err(cancelled)?;
        *self.approval_ms.lock().unwrap_or_else(PoisonError::into_inner) = Some(claim.at.millis_since(opened_at));
        let settled = id.clone();
        reporter.stage(move |turn, _| turn.settle_claimed(&settled));
        Ok((id, claim))
    }

    fn request(&self, ask: &Ask<'_>) -> ApprovalRequest {
        let choices = policy::choices(ask.tool.identity(), &self.rules(), self.asking(), widens(ask));
        ApprovalRequest {
            interaction_id: "".into(),
            thread_id: self.reporter.thread().id().clone(),
            run_id: self.reporter.run_id().clone(),
            call_id: ask.call.call_id.clone(),
            attempt: 1,
            tool: ask.tool.to_approval(),
            arguments: Some(Value::Object(ask.arguments.clone())),
            original_arguments: ask.original.cloned().map(Value::Object),
            connection: None,
            change: ask.stakes.map(|stakes| stakes.change.clone()),
            index: ask.call.index,
            total: ask.call.total,
            summary: ask.summary.to_owned(),
            choices,
            path: Vec::new(),
            expires_at: None,
        }
    }

    /// Turns a decision that is to be remembered into a rule, durable before the settlement that used it. A rule would not
    /// let the next call through that widens authority, so none is made of such an answer.
    pub(super) async fn remember(&self, ask: &Ask<'_>, answer: &ApprovalAnswer, by: &By) -> Result<(), CallFailure> {
        if widens(ask) {
            return Ok(());
        }
        let tool = ask.tool;
        let level = match (answer.decision, answer.scope.unwrap_or_default()) {
            (Decision::AcceptForSession, _) => PolicyLevel::Thread,
            (Decision::AcceptAlways, DecisionScope::Project) => PolicyLevel::Project,
            (Decision::AcceptAlways, DecisionScope::Global) => PolicyLevel::Global,
            (Decision::Accept | Decision::Decline | Decision::Cancel, _) => return Ok(()),
        };
        let key = policy::remembered_key(tool.identity(), &self.rules(), self.asking(), level);
        let params = PolicySetParams {
            level,
            project_id: (level == PolicyLevel::Project).then(|| self.project_id.clone()),
            thread_id: (level == PolicyLevel::Thread).then(|| self.reporter.thread().id().clone()),
            tool: Some(key.tool),
            source: None,
            principal: key.principal,
            connection: key.connection,
            decision: PolicyDecision::Allow,
            timeout_ms: Patch::Keep,
            max_calls_per_run: None,
            expires_at: None,
            operation_id: None,
            expected_revision: None,
        };
        let client = by.client_name.clone().zip(by.instance_id.clone());
        let client = client.map(|(client_name, instance_id)| ropewalk_protocol::ClientRef { client_name, instance_id });
        let caller = Caller { client, operation: None };
        let set = self.reporter.shared().catalogue.set_policy(caller, PolicyOrigin::Approval, params).await;
        match set {
            Ok(changed) => {
                let engine = &self.reporter.thread().inner.engine;
                engine.rule_changed(&changed.policy, by.client_name.clone()).await;
            }
            // The person said yes to this call at least; that the rule could not be kept is for the log.
            Err(refusal) => tracing::warn!(%refusal, "a decision could not be remembered"),
        }
        Ok(())
    }

    pub(super) fn decision(
        word: &str,
        via: DecidedVia,
        id: InteractionId,
        claim: &Claim,
        note: Option<String>,
    ) -> CallDecision {
        let by = (via == DecidedVia::Person).then(|| claim.by.clone());
        CallDecision {
            decision: word.to_owned(),
            via,
            interaction_id: Some(id),
            policy_id: claim.by.policy_id.clone(),
            by,
            note,
        }
    }

    pub(super) fn refused_by_rule(&self, tool: &ToolSpec, id: InteractionId, claim: &Claim) -> Refused {
        let decision = Self::decision(DENY, DecidedVia::Policy, id, claim, None);
        let level = match self.effective_now(tool).level {
            EffectiveLevel::Default => EffectiveLevel::Thread,
            level => level,
        };
        Refused { decision: Some(decision), failure: CallFailure::ToolDenied { level } }
    }
}

/// Whether runs could do more after the call than before.
fn widens(ask: &Ask<'_>) -> bool {
    ask.stakes.is_some_and(|stakes| stakes.widens)
}
