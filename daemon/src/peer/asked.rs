//! What a client is asked and has not answered yet, and what it will be asked once it has an answer or reads again.

use std::collections::BTreeMap;

use ropewalk_protocol::InteractionId;
use tokio::task::JoinHandle;

use crate::engine::{Offer, ThreadHandle};

/// The requests to one client.
#[derive(Default)]
pub(super) struct Asked {
    /// Who waits for the answers, for each request of an interaction.
    waiting: BTreeMap<InteractionId, Vec<JoinHandle<()>>>,
    /// Interactions it was not asked because it had left too much unread, oldest first.
    later: BTreeMap<InteractionId, ThreadHandle>,
    /// Requests that wait for an answer of ours which comes before them.
    held: BTreeMap<InteractionId, (Offer, ThreadHandle)>,
}

impl Asked {
    /// Notes a request. Where `former_counts` is false, answers to earlier requests of the interaction are ignored from
    /// now on.
    pub(super) fn add(&mut self, id: InteractionId, task: JoinHandle<()>, former_counts: bool) {
        self.waiting.retain(|_, tasks| {
            tasks.retain(|task| !task.is_finished());
            !tasks.is_empty()
        });
        let tasks = self.waiting.entry(id).or_default();
        if !former_counts {
            tasks.drain(..).for_each(|task| task.abort());
        }
        tasks.push(task);
    }

    /// Notes what is to be asked later; whether it is the first that waits so.
    pub(super) fn add_later(&mut self, id: InteractionId, thread: ThreadHandle) -> bool {
        let is_first = self.later.is_empty();
        self.later.insert(id, thread);
        is_first
    }

    /// What was to be asked later.
    pub(super) fn take_later(&mut self) -> BTreeMap<InteractionId, ThreadHandle> {
        std::mem::take(&mut self.later)
    }

    /// Whether requests are kept back.
    pub(super) fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// Keeps a request back, in the place of an older one of its interaction; whether it is the first that is.
    pub(super) fn hold(&mut self, offer: Offer, thread: ThreadHandle) -> bool {
        let is_first = self.held.is_empty();
        self.held.insert(offer.interaction_id.clone(), (offer, thread));
        is_first
    }

    /// A request that was kept back, the oldest interaction first.
    pub(super) fn take_held(&mut self) -> Option<(Offer, ThreadHandle)> {
        self.held.pop_first().map(|(_, held)| held)
    }

    /// Forgets an interaction; whether the client knows of it.
    pub(super) fn forget(&mut self, id: &InteractionId) -> bool {
        let tasks = self.waiting.remove(id).unwrap_or_default();
        let was_asked = !tasks.is_empty();
        tasks.into_iter().for_each(|task| task.abort());
        let was_to_be_asked = self.later.remove(id).is_some() | self.held.remove(id).is_some();
        !was_to_be_asked || was_asked
    }

    /// Forgets everything; who still waits for an answer, or takes one in at this moment.
    pub(super) fn end(&mut self) -> Vec<JoinHandle<()>> {
        self.later.clear();
        self.held.clear();
        std::mem::take(&mut self.waiting).into_values().flatten().collect()
    }
}
