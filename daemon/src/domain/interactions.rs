//! The ledger: interactions open once and settle once.

use ropewalk_protocol::{
    By, ByKind, CallId, ClientRef, Event, Interaction, InteractionBody, InteractionId, InteractionState, Outcome,
    RunId, Timestamp,
};
use serde_json::Value;

use super::{Change, Effect, Fact};

/// An interaction to open.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Its run.
    pub run_id: RunId,
    /// Its call.
    pub call_id: CallId,
    /// What is asked.
    pub body: InteractionBody,
    /// Who it is offered to.
    pub offered_to: Vec<ClientRef>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// How long a tool call may be silent.
    pub silence_ms: Option<u64>,
}

/// How an interaction ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Settlement {
    /// Which.
    pub interaction_id: InteractionId,
    /// How.
    pub outcome: Outcome,
    /// By whom.
    pub by: By,
    /// When.
    pub at: Timestamp,
    /// The answer; not for tool calls.
    pub answer: Option<Value>,
}

impl Change<'_> {
    /// Opens an interaction and has it offered.
    pub fn open_interaction(&mut self, interaction_id: &InteractionId, opening: Opening) {
        let interaction = Interaction {
            interaction_id: interaction_id.clone(),
            state: InteractionState::Open,
            thread_id: self.state.thread.thread_id.clone(),
            run_id: opening.run_id,
            call_id: opening.call_id,
            body: without_arguments(opening.body),
            attempt: 1,
            offered_to: opening.offered_to,
            opened_at: self.at,
            expires_at: opening.expires_at,
            silence_ms: opening.silence_ms,
            outcome: None,
            answer: None,
            by: None,
            settled_at: None,
            path: Vec::new(),
        };
        self.event(Event::InteractionOpened { interaction });
        self.effect(Effect::Offer(interaction_id.clone()));
    }

    /// Settles an open interaction. One that is not open stays as it is: the first settlement counts.
    pub fn settle(&mut self, settlement: Settlement) {
        if !self.state.interactions.contains_key(&settlement.interaction_id) {
            return;
        }
        self.event(Event::InteractionSettled {
            interaction_id: settlement.interaction_id.clone(),
            outcome: settlement.outcome,
            by: settlement.by.clone(),
            answer: settlement.answer.clone(),
        });
        self.effect(Effect::Settled(Box::new(settlement)));
    }
}

impl Change<'_> {
    /// Settles what is open and will not be answered any more: it is cancelled.
    pub(super) fn settle_open(&mut self, is_meant: impl Fn(&Interaction) -> bool, by: &By) {
        let open = self.state.interactions.values().filter(|interaction| is_meant(interaction));
        let open: Vec<InteractionId> = open.map(|interaction| interaction.interaction_id.clone()).collect();
        for interaction_id in open {
            let (outcome, by) = (Outcome::Cancelled, by.clone());
            self.settle(Settlement { interaction_id, outcome, by, at: self.at, answer: None });
        }
    }

    /// An open call ends `down_ms` later than it would have: for so long no daemon ran. Without effect where it has no end.
    pub fn prolong(&mut self, interaction_id: &InteractionId, down_ms: u64) {
        let expires_at = self.state.interactions.get(interaction_id).and_then(|open| open.expires_at);
        if let Some(expires_at) = expires_at.filter(|_| down_ms > 0) {
            let expires_at = expires_at.plus_millis(down_ms);
            self.fact(Fact::Prolonged { interaction_id: interaction_id.clone(), expires_at });
        }
    }

    /// An open tool call is another client's from now on and offered to it. Who had it is told that it is over for them.
    pub fn pass_on(&mut self, interaction_id: &InteractionId, to: &ClientRef) {
        let Some(open) = self.state.interactions.get(interaction_id) else { return };
        let (from, id) = (open.offered_to.clone(), interaction_id.clone());
        let by = By::client(ByKind::Client, to);
        let over = Settlement { interaction_id: id, outcome: Outcome::Cancelled, by, at: self.at, answer: None };
        self.fact(Fact::Passed { interaction_id: interaction_id.clone(), to: to.clone() });
        self.effect(Effect::Withdrawn(from, Box::new(over)));
        self.offer_again(interaction_id);
        self.effect(Effect::Offer(interaction_id.clone()));
    }

    /// An open interaction is offered again, to whom the caller knows. Returns the attempt.
    pub fn offer_again(&mut self, interaction_id: &InteractionId) -> Option<u64> {
        let attempt = self.state.interactions.get(interaction_id)?.attempt + 1;
        self.fact(Fact::Attempt { interaction_id: interaction_id.clone(), attempt });
        Some(attempt)
    }
}

/// The log has the arguments once, in the item of the call.
fn without_arguments(mut body: InteractionBody) -> InteractionBody {
    match &mut body {
        InteractionBody::ToolCall(request) => request.arguments = None,
        InteractionBody::Approval(request) => {
            request.arguments = None;
            request.original_arguments = None;
        }
        InteractionBody::Input(_) => {}
    }
    body
}
