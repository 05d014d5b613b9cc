//! The calls of a batch and how each gets its one result.

use ropewalk_protocol::{
    BlobRef, By, ByKind, CallDecision, CallError, CallId, CallTiming, Effect, InteractionId, InteractionKind, ItemBody,
    ItemState, Part, Role, RunId, Severity,
};
use serde_json::Value;

use super::{Change, Fact, Joined};

/// How a call ended, whatever its source.
#[derive(Clone, Debug, PartialEq)]
pub struct CallEnd {
    /// The state of its item.
    pub state: ItemState,
    /// How much attention it deserves.
    pub severity: Severity,
    /// One line that says what it was.
    pub summary: Option<String>,
    /// What the model is told.
    pub content: Vec<Part>,
    /// Data for clients.
    pub structured_content: Option<Value>,
    /// Further data of the source for clients.
    pub meta: Option<Value>,
    /// What went wrong.
    pub error: Option<CallError>,
    /// What is known of its effect.
    pub effect: Option<Effect>,
    /// The whole of what was cut.
    pub blob: Option<BlobRef>,
    /// The arguments the call was made with, where they are not what the item shows yet, and the model's own then.
    pub repaired: Option<(Value, Value)>,
    /// How long the call itself took.
    pub call_ms: Option<u64>,
}

impl CallEnd {
    /// A success that tells the model a text and nothing else.
    #[must_use]
    pub fn told(text: impl Into<String>) -> Self {
        Self {
            state: ItemState::Completed,
            severity: Severity::Info,
            summary: None,
            content: vec![Part::text(text)],
            structured_content: None,
            meta: None,
            error: None,
            effect: None,
            blob: None,
            repaired: None,
            call_ms: None,
        }
    }
}

impl Change<'_> {
    /// Remembers what was decided about a call.
    pub fn decide_call(&mut self, run_id: &RunId, call_id: &CallId, decision: CallDecision, approval_ms: Option<u64>) {
        self.fact(Fact::Decided { run_id: run_id.clone(), call_id: call_id.clone(), decision, approval_ms });
    }

    /// Stores the result of a call, and settles what is still open of it. With the last one of a batch its messages join
    /// the chain.
    pub fn complete_call(&mut self, run_id: &RunId, call_id: &CallId, end: CallEnd) {
        let Some(call) = self.state.call(run_id, call_id).cloned() else { return };
        let Some(run) = self.state.runs.get(run_id) else { return };
        let Some((_, item)) = run.open_items.get(&call.call.item_id) else { return };
        let mut item = item.clone();
        self.settle_open(|interaction| interaction.call_id == *call_id, &By::of(ByKind::Daemon));
        if let ItemBody::ToolCall(body) = &mut item.body {
            body.decision = call.decision;
            body.content = Some(end.content);
            body.structured_content = end.structured_content;
            body.meta = end.meta;
            body.error = end.error;
            body.effect = end.effect;
            body.blob = end.blob;
            body.interaction_id = self.carried_by(call_id);
            if let Some((repaired, original)) = end.repaired {
                body.arguments = repaired;
                body.original_arguments = Some(original);
            }
            let timing = CallTiming { approval_ms: call.approval_ms, call_ms: end.call_ms };
            body.timing = Some(timing);
        }
        item.summary = end.summary.or(item.summary);
        item.severity = Some(end.severity);
        self.note_changed_file(run_id, &item);
        self.close_item(item, end.state);
        self.join_finished_batch(run_id);
    }

    /// The interaction that carried a call itself: it is settled in the record that completes the call.
    fn carried_by(&self, call_id: &CallId) -> Option<InteractionId> {
        let carries = |kind| kind != InteractionKind::Approval;
        let mut settled = self.state.touched.settled.iter().map(|(interaction, _)| interaction);
        settled
            .find(|settled| settled.call_id == *call_id && carries(settled.body.kind()))
            .map(|settled| settled.interaction_id.clone())
    }

    fn join_finished_batch(&mut self, run_id: &RunId) {
        let Some(run) = self.state.runs.get(run_id) else { return };
        let Some(batch) = run.batch.as_ref().filter(|batch| batch.calls.iter().all(|call| call.done)) else { return };
        let branch_id = run.run.branch_id.clone();
        let assistant = Joined {
            message_id: batch.message_id.clone(),
            role: Role::Assistant,
            run_id: Some(run_id.clone()),
            items: batch.items.clone(),
            from_seq: batch.from_seq,
            provider_parts: batch.provider_parts.clone(),
        };
        let results = batch.calls.iter().map(|call| Joined {
            message_id: call.call.message_id.clone(),
            role: Role::Tool,
            run_id: Some(run_id.clone()),
            items: vec![call.call.item_id.clone()],
            from_seq: batch.from_seq,
            provider_parts: None,
        });
        let messages = std::iter::once(assistant).chain(results).collect();
        self.join(&branch_id, messages);
    }
}
