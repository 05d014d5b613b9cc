//! Offering interactions: to whom, with what, and how often.

use std::sync::Arc;

use ropewalk_protocol::{
    ApprovalAsk, Capabilities, ClientRef, InputAsk, Interaction, InteractionBody, InteractionId, InteractionKind,
    InteractionSettledParams, Method, ToolCall,
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    domain::ThreadState,
    engine::{
        AttachedClient, Offer, ThreadHandle, Turn,
        live::{Live, Offered},
    },
};

/// Whether a client with these capabilities can settle interactions of this kind.
pub fn is_able(kind: InteractionKind, capabilities: Capabilities) -> bool {
    match kind {
        InteractionKind::Approval => capabilities.approvals,
        InteractionKind::Input => capabilities.input,
        InteractionKind::ToolCall => false,
    }
}

/// The request of an interaction, as it is offered for the `attempt`th time.
pub fn request(body: &InteractionBody, attempt: u64) -> Option<(&'static str, Arc<RawValue>)> {
    let (method, params) = match body {
        InteractionBody::ToolCall(request) => {
            let mut request = request.clone();
            request.attempt = attempt;
            (ToolCall::NAME, as_raw(&request))
        }
        InteractionBody::Approval(request) => {
            let mut request = request.clone();
            request.attempt = attempt;
            (ApprovalAsk::NAME, as_raw(&request))
        }
        InteractionBody::Input(request) => {
            let mut request = request.clone();
            request.attempt = attempt;
            (InputAsk::NAME, as_raw(&request))
        }
    };
    params.map(|params| (method, Arc::from(params)))
}

fn as_raw(request: &impl Serialize) -> Option<Box<RawValue>> {
    to_raw_value(request).ok()
}

/// The interactions that are open, oldest first.
pub fn open_interaction_ids(state: &ThreadState) -> Vec<InteractionId> {
    state.interactions.keys().cloned().collect()
}

/// Offers an interaction that was just opened to everyone who may settle it.
pub fn offer_interaction(live: &mut Live, state: &ThreadState, thread: &ThreadHandle, interaction_id: &InteractionId) {
    let clients: Vec<Arc<dyn AttachedClient>> =
        live.attached.values().map(|attached| attached.client.clone()).collect();
    for client in clients {
        offer_to(live, state, thread, interaction_id, &client);
    }
}

/// Offers an open interaction to a client that comes late or is asked once more: with a higher attempt, which is written
/// down first so that it grows beyond the life of the daemon.
pub fn offer_again(turn: &mut Turn<'_>, interaction_id: &InteractionId, client: &Arc<dyn AttachedClient>) {
    let waited_for = turn.live.waits.get(interaction_id).is_some_and(|wait| wait.claim.is_none());
    let open = turn.state().interactions.get(interaction_id);
    if waited_for && open.is_some_and(|open| may_settle(turn.live, open, client)) {
        turn.change.offer_again(interaction_id);
        turn.offers.push((interaction_id.clone(), client.clone()));
    }
}

impl ThreadHandle {
    /// Offers an interaction, if it is still open, to a client that could not be asked when it should have been.
    pub async fn offer_once_more(&self, client: Arc<dyn AttachedClient>, interaction_id: InteractionId) {
        self.post(move |turn| offer_again(turn, &interaction_id, &client)).await;
    }
}

/// Offers an open interaction to a client, if it may settle it and somebody waits for it.
pub fn offer_to(
    live: &mut Live,
    state: &ThreadState,
    thread: &ThreadHandle,
    interaction_id: &InteractionId,
    client: &Arc<dyn AttachedClient>,
) {
    let Some(interaction) = state.interactions.get(interaction_id) else { return };
    if !may_settle(live, interaction, client) {
        return;
    }
    let Some(wait) = live.waits.get_mut(interaction_id).filter(|wait| wait.claim.is_none()) else { return };
    let attempt = interaction.attempt;
    let Some((method, params)) = request(&wait.body, attempt) else { return };
    let offered = wait.offered.entry(client.connection()).or_default();
    if offered.attempt >= attempt {
        // Two reasons to ask it again have shared a record, and one request is enough.
        return;
    }
    *offered = Offered { not_i: false, attempt, ..*offered };
    live.asked.entry(interaction_id.clone()).or_default().insert(client.connection());
    // Silence is counted from the offer that can end it.
    wait.life.send_replace(thread.shared().clock.now());
    let offer = Offer { interaction_id: interaction_id.clone(), method, params, attempt };
    client.offer(offer, thread.clone());
}

/// Who had an interaction that goes on with somebody else is told that it is over for them.
pub fn withdraw(live: &mut Live, from: &[ClientRef], params: &InteractionSettledParams) {
    let Some(wait) = live.waits.get_mut(&params.interaction_id) else { return };
    let attached = &live.attached;
    wait.offered.retain(|connection, _| {
        let had_it = attached.get(connection).filter(|attached| from.contains(attached.client.client_ref()));
        if let Some(attached) = had_it {
            attached.client.settled(params);
            if let Some(asked) = live.asked.get_mut(&params.interaction_id) {
                asked.remove(connection);
            }
        }
        had_it.is_none()
    });
}

fn may_settle(live: &Live, interaction: &Interaction, client: &Arc<dyn AttachedClient>) -> bool {
    let kind = interaction.body.kind();
    if kind == InteractionKind::ToolCall {
        let owner: Option<&ClientRef> = interaction.offered_to.first();
        return owner == Some(client.client_ref())
            && live.attached.get(&client.connection()).is_some_and(|attached| attached.holds_tools);
    }
    let subscribed = live.attached.get(&client.connection()).is_some_and(|attached| attached.subscribed);
    subscribed && is_able(kind, client.capabilities())
}
