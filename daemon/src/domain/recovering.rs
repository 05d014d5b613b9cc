//! Continuing a run that has ended badly: what can be done about it, and the new run that does it.

use std::collections::VecDeque;

use ropewalk_protocol::{
    Branch, BranchId, Delivery, EndpointId, Event, Item, ItemBody, ItemId, MessageId, OperationId, Recovery, Role, Run,
    RunErrorKind, RunId, RunStatus, Seq, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Change, DomainError, Effect, Fact, Joined, Link, RunState, ThreadState};

/// Where the input of a run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunInput {
    /// The item that shows it.
    pub item_id: ItemId,
    /// The event that has the item.
    pub from_seq: Seq,
    /// Its place in the chain; none where it never joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
}

/// Remarks that are kept of a run and what came behind it; of more than that the oldest are let go.
const REMARKS: usize = 1_000;

/// What was remarked since the input of a run: said by people, and so no part of what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Remarks(VecDeque<RemarkItem>);

/// Where a remark stands in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemarkItem {
    message_id: MessageId,
    item_id: ItemId,
    from_seq: Seq,
}

impl Remarks {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes in an item that is complete, if it is a remark of somebody.
    pub(super) fn takes(&mut self, item: &Item, seq: Seq) {
        let ItemBody::UserMessage { message_id, sender, delivery: Delivery::Aside | Delivery::Steer, .. } = &item.body
        else {
            return;
        };
        // What the daemon tells a run on its own is said in the run's name, and is said again where it is needed.
        if sender.as_ref().is_some_and(|sender| item.run_id.as_ref() == Some(&sender.run_id)) {
            return;
        }
        self.0.push_back(RemarkItem { message_id: message_id.clone(), item_id: item.item_id.clone(), from_seq: seq });
        if self.0.len() > REMARKS {
            self.0.pop_front();
        }
    }

    fn last(&self) -> Option<&MessageId> {
        self.0.back().map(|remark| &remark.message_id)
    }

    /// The remarks as messages that join once more.
    fn joined(&self, run_id: &RunId) -> Vec<Joined> {
        let joined = |remark: &RemarkItem| joined(run_id, &remark.message_id, &remark.item_id, remark.from_seq);
        self.0.iter().map(joined).collect()
    }
}

/// A message of the user that joins the chain of a run, whose item stands in the log already.
fn joined(run_id: &RunId, message_id: &MessageId, item_id: &ItemId, from_seq: Seq) -> Joined {
    Joined {
        message_id: message_id.clone(),
        role: Role::User,
        run_id: Some(run_id.clone()),
        items: vec![item_id.clone()],
        from_seq,
        provider_parts: None,
    }
}

/// The last run of a branch, where that ended badly, and what a run that continues it needs of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BadEnd {
    /// The run as it ended.
    pub run: Run,
    /// Where its input stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<RunInput>,
    /// What was remarked since, while it ran and behind its end.
    #[serde(default, skip_serializing_if = "Remarks::is_empty")]
    pub remarks: Remarks,
    /// The schema of its final answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The endpoint its submit named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_endpoint: Option<EndpointId>,
    /// The tools its model has looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<String>,
}

impl BadEnd {
    /// What stays of a run that has just ended; none where it ended well.
    pub(super) fn of(state: &RunState) -> Option<Self> {
        (state.run.state != RunStatus::Completed).then(|| Self {
            run: state.run.clone(),
            input: state.input.clone(),
            remarks: state.remarks.clone(),
            output_schema: state.output_schema.clone(),
            asked_endpoint: state.asked_endpoint.clone(),
            pinned: state.pinned.clone(),
        })
    }

    /// What would be accepted now: exactly this, and nothing else. `branch` is the run's branch as it is.
    #[must_use]
    pub fn recovery(&self, branch: &Branch) -> Vec<Recovery> {
        if branch.active_run_id.is_some() {
            return Vec::new();
        }
        let is_in_chain = self.input.as_ref().map(|input| input.link.is_some());
        let mut accepted = match is_in_chain {
            Some(true) => vec![Recovery::Resume, Recovery::Retry],
            Some(false) if self.is_parentless() => vec![Recovery::Rebase],
            Some(false) | None => Vec::new(),
        };
        if branch.queue.held {
            accepted.push(Recovery::Skip);
        }
        accepted
    }

    /// Whether it ended because the message its input was to follow is gone.
    #[must_use]
    pub fn is_parentless(&self) -> bool {
        let error = self.run.outcome.as_ref().and_then(|outcome| outcome.error.as_ref());
        error.is_some_and(|error| error.kind == RunErrorKind::ParentMissing)
    }
}

impl ThreadState {
    /// Takes in what a run has that one continuing it will need.
    pub(super) fn apply_carried(&mut self, fact: &Fact) {
        match fact {
            Fact::AskedEndpoint { run_id, endpoint_id } => {
                self.with_run(run_id, |state| state.asked_endpoint = Some(endpoint_id.clone()));
                self.with_bad_end(run_id, |end| end.asked_endpoint = Some(endpoint_id.clone()));
            }
            Fact::OutputSchema { run_id, schema } => {
                self.with_run(run_id, |state| state.output_schema = Some(schema.clone()));
                self.with_bad_end(run_id, |end| end.output_schema = Some(schema.clone()));
            }
            Fact::Pinned { run_id, names } => {
                self.with_run(run_id, |state| state.pinned.clone_from(names));
                self.with_bad_end(run_id, |end| end.pinned.clone_from(names));
            }
            _ => {}
        }
    }
}

impl Change<'_> {
    /// Continues the last run of a branch, which has ended badly, by a new one. What waits behind it is held no longer, and
    /// begins when the new run has ended well.
    ///
    /// * `Resume`: the model is asked again with the chain as it is.
    /// * `Retry`: the input is the branch's head again, with what was remarked since, and what came of it is off the chain.
    /// * `Rebase`: an input that never joined, because its parent is gone, joins at the branch's head.
    ///
    /// Schema, unattended and the endpoint that was asked for are those of the run it continues; budgets begin anew.
    ///
    /// # Errors
    /// [`DomainError::NoBranch`]; [`DomainError::NotRecoverable`] for what [`BadEnd::recovery`] does not list.
    pub fn continue_run(
        &mut self,
        how: Recovery,
        branch_id: &BranchId,
        operation_id: Option<OperationId>,
    ) -> Result<RunId, DomainError> {
        let branch = self.state.branches.get(branch_id).ok_or_else(|| DomainError::NoBranch(branch_id.clone()))?;
        let end = branch.bad_end.clone().filter(|end| end.recovery(&branch.branch).contains(&how));
        let end = end.filter(|_| how != Recovery::Skip).ok_or(DomainError::NotRecoverable)?;
        let head = branch.head.clone();
        let input = end.input.clone().ok_or(DomainError::NotRecoverable)?;
        let message_id = end.run.message_id.clone();
        match how {
            Recovery::Retry => self.show_head(branch_id, Some(end.remarks.last().unwrap_or(&message_id))),
            Recovery::Rebase => self.show_head(branch_id, Some(&message_id)),
            Recovery::Resume | Recovery::Skip => {}
        }
        self.let_go(branch_id);
        let run_id: RunId = self.id();
        let run = self.continuation(&run_id, &end, operation_id);
        self.event(Event::RunStarted { run });
        match how {
            Recovery::Retry => {
                self.fact(Fact::Head { branch_id: branch_id.clone(), head: input.link });
                if !end.remarks.is_empty() {
                    self.join(branch_id, end.remarks.joined(&run_id));
                }
            }
            Recovery::Rebase => {
                let messages = vec![joined(&run_id, &message_id, &input.item_id, input.from_seq)];
                self.fact(Fact::Joined { branch_id: branch_id.clone(), messages, parent: head });
            }
            Recovery::Resume | Recovery::Skip => {}
        }
        self.carry_over(&run_id, end);
        self.effect(Effect::Drive(run_id.clone()));
        Ok(run_id)
    }

    fn continuation(&self, run_id: &RunId, end: &BadEnd, operation_id: Option<OperationId>) -> Run {
        let (ended, asked, thread) = (&end.run, end.asked_endpoint.as_ref(), &self.state.thread);
        let endpoint = self.world.endpoint(thread, asked).or_else(|| self.world.endpoint(thread, None));
        // Where there is none, the run begins all the same and says so by its end, as any other does.
        let (endpoint_id, model) = endpoint.unwrap_or_else(|| (ended.endpoint_id.clone(), ended.model.clone()));
        Run {
            run_id: run_id.clone(),
            operation_id,
            state: RunStatus::Running,
            waiting_on: None,
            outcome: None,
            reason: None,
            usage: Usage::default(),
            endpoint_id,
            model,
            previous_run_id: Some(ended.run_id.clone()),
            recovery: Vec::new(),
            change_set: None,
            steps: 0,
            tool_calls: 0,
            started_at: Some(self.at),
            ended_at: None,
            ..ended.clone()
        }
    }

    fn carry_over(&mut self, run_id: &RunId, end: BadEnd) {
        let run_id = || run_id.clone();
        if let Some(endpoint_id) = end.asked_endpoint {
            self.fact(Fact::AskedEndpoint { run_id: run_id(), endpoint_id });
        }
        if let Some(schema) = end.output_schema {
            self.fact(Fact::OutputSchema { run_id: run_id(), schema });
        }
        if !end.pinned.is_empty() {
            self.fact(Fact::Pinned { run_id: run_id(), names: end.pinned });
        }
    }
}
