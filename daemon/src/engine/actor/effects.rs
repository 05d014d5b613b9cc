//! What follows a record once it is durable: its events reach those who follow the thread, and its effects are carried out.

use ropewalk_protocol::ItemId;

use super::{Actor, Published, shown::told};
use crate::{
    domain::Effect,
    engine::{
        operations::{acknowledge, offer_interaction, withdraw},
        run,
        turn::Ephemeral,
    },
};

impl Actor {
    pub(super) fn publish(&self, published: Vec<Published>, completed: &[ItemId]) {
        let (bus, id) = (self.handle.bus(), self.handle.id());
        let any = !published.is_empty();
        for event in published {
            match event {
                Published::Durable(seq, at, event) => bus.durable(id, seq, at, &event),
                Published::Ephemeral(at, Ephemeral::Delta { item_id, text }) => bus.delta(id, at, &item_id, &text),
                Published::Ephemeral(at, Ephemeral::Progress(event)) => {
                    if let Ok(event) = serde_json::to_string(&event) {
                        bus.progress(id, at, &event);
                    }
                }
            }
        }
        for item_id in completed {
            bus.forget_text(item_id);
        }
        if any {
            bus.wake(id);
        }
    }

    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            // Rules that forbid something may be missing: what would run waits for a daemon that knows them all.
            Effect::Drive(_) if self.handle.shared().catalogue.damage().is_some() => {}
            Effect::Drive(run_id) => run::drive(&mut self.live, &self.state, &self.handle, run_id),
            Effect::Abandon(run_id) => {
                // Those that were settled with the run have been acknowledged by now; no other is open.
                self.live.waits.retain(|_, wait| wait.run_id != run_id);
                if let Some(task) = self.live.activations.remove(&run_id).and_then(|activation| activation.task) {
                    task.abort();
                }
                self.handle.shared().quieter.notify_waiters();
            }
            Effect::Offer(interaction_id) => {
                offer_interaction(&mut self.live, &self.state, &self.handle, &interaction_id)
            }
            Effect::Settled(settlement) => acknowledge(&mut self.live, &told(*settlement)),
            Effect::Withdrawn(from, settlement) => withdraw(&mut self.live, &from, &told(*settlement)),
        }
    }
}
