//! What happens in one run, picked from the events of its thread.

use std::{collections::HashSet, sync::Arc};

use ropewalk_protocol::{
    BranchId, By, Event, Interaction, InteractionId, Item, ItemId, MessageId, Outcome, QueueChange, QueueChanged, Run,
    RunId, ThreadEvent,
};
use serde_json::Value;

use super::RunResult;
use crate::Error;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunEvent {
    /// The run began; an input that was queued has had its turn.
    Started(Box<Run>),
    /// Its state, or what it waits for, changed.
    State(Box<Run>),
    /// An item began: a message, a tool call.
    ItemStarted(Box<Item>),
    /// More text of an open item. The completed item has the whole of it.
    Text {
        /// The item.
        item_id: ItemId,
        /// Where the text goes, in UTF-8 bytes from the start of the item's text.
        offset: u64,
        /// The text.
        text: String,
    },
    /// A tool shows life.
    Progress {
        /// The item of the call.
        item_id: ItemId,
        /// What it is doing.
        message: Option<String>,
        /// How far it has come, from 0 to 1.
        fraction: Option<f64>,
    },
    /// An item ended.
    ItemCompleted(Box<Item>),
    /// The run waits for a tool of a client, for a decision or for an answer.
    InteractionOpened(Box<Interaction>),
    /// That wait is over.
    InteractionSettled {
        /// Which interaction.
        interaction_id: InteractionId,
        /// How it ended.
        outcome: Outcome,
        /// Who or what ended it.
        by: By,
        /// The answer; not for tool calls.
        answer: Option<Value>,
    },
    /// The run ended. Nothing comes after it.
    Completed(Box<RunResult>),
}

/// Picks the events of one run.
#[derive(Debug)]
pub(super) struct Picker {
    pub(super) run_id: RunId,
    pub(super) branch_id: BranchId,
    pub(super) message_id: MessageId,
    items: HashSet<ItemId>,
    interactions: HashSet<InteractionId>,
}

impl Picker {
    pub(super) fn new(run_id: RunId, branch_id: BranchId, message_id: MessageId) -> Self {
        Self { run_id, branch_id, message_id, items: HashSet::new(), interactions: HashSet::new() }
    }

    /// The run's share of an event, if it has one; an error when the run will never begin.
    pub(super) fn pick(&mut self, event: &Arc<ThreadEvent>) -> Option<Result<RunEvent, Error>> {
        Some(Ok(match event.event.clone() {
            Event::RunStarted { run } if run.run_id == self.run_id => RunEvent::Started(Box::new(run)),
            Event::RunState { run } if run.run_id == self.run_id => RunEvent::State(Box::new(run)),
            Event::ItemStarted { item } if self.is_ours(&item) => {
                self.items.insert(item.item_id.clone());
                RunEvent::ItemStarted(Box::new(item))
            }
            Event::ItemCompleted { item } if self.is_ours(&item) => {
                self.items.remove(&item.item_id);
                RunEvent::ItemCompleted(Box::new(item))
            }
            Event::ItemDelta { item_id, offset, text } if self.items.contains(&item_id) => {
                RunEvent::Text { item_id, offset, text }
            }
            Event::ToolProgress { item_id, message, fraction, .. } if self.items.contains(&item_id) => {
                RunEvent::Progress { item_id, message, fraction }
            }
            Event::InteractionOpened { interaction } if interaction.run_id == self.run_id => {
                self.interactions.insert(interaction.interaction_id.clone());
                RunEvent::InteractionOpened(Box::new(interaction))
            }
            Event::InteractionSettled { interaction_id, outcome, by, answer }
                if self.interactions.remove(&interaction_id) =>
            {
                RunEvent::InteractionSettled { interaction_id, outcome, by, answer }
            }
            Event::RunCompleted { run_id, branch_id, outcome, usage, change_set } if run_id == self.run_id => {
                let message_id = self.message_id.clone();
                RunEvent::Completed(Box::new(RunResult { run_id, branch_id, message_id, outcome, usage, change_set }))
            }
            Event::QueueChanged(change) if self.is_removal(&change) => {
                return Some(Err(Error::RunRemoved { run_id: self.run_id.clone() }));
            }
            _ => return None,
        }))
    }

    fn is_ours(&self, item: &Item) -> bool {
        item.run_id.as_ref() == Some(&self.run_id)
    }

    fn is_removal(&self, change: &QueueChanged) -> bool {
        change.change == QueueChange::Removed && change.message_id.as_ref() == Some(&self.message_id)
    }
}
