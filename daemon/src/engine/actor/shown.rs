//! What others are shown of a change once it is durable: lists that have to be read anew, and the end of an interaction.

use ropewalk_protocol::{DataKind, Event, InteractionSettledParams};

use crate::domain::{Change, Fact, Settlement};

/// What lists show of a change: kinds and ids.
pub(super) fn changes(change: &Change<'_>) -> Vec<(DataKind, String)> {
    let thread_id = &change.state.thread.thread_id;
    let of = |event: &Event| match event {
        Event::ThreadUpdated { .. } | Event::BranchUpdated { .. } | Event::BranchDeleted { .. } => {
            Some((DataKind::Thread, thread_id.to_string()))
        }
        Event::QueueChanged(_) => Some((DataKind::Queue, thread_id.to_string())),
        Event::RunStarted { run } | Event::RunState { run } => Some((DataKind::Run, run.run_id.to_string())),
        Event::RunCompleted { run_id, .. } => Some((DataKind::Run, run_id.to_string())),
        Event::InteractionOpened { interaction } => {
            Some((DataKind::Interaction, interaction.interaction_id.to_string()))
        }
        Event::InteractionSettled { interaction_id, .. } => Some((DataKind::Interaction, interaction_id.to_string())),
        Event::ToolsChanged(_) => Some((DataKind::Tool, thread_id.to_string())),
        // A message that no run answers: an aside on an idle branch.
        Event::ItemCompleted { item } if item.run_id.is_none() => Some((DataKind::Thread, thread_id.to_string())),
        _ => None,
    };
    let is_about_reading = |fact: &Fact| matches!(fact, Fact::Read { .. } | Fact::Unseen { .. });
    let read = change.facts.iter().any(is_about_reading).then(|| (DataKind::Thread, thread_id.to_string()));
    change.events.iter().filter_map(of).chain(read).collect()
}

/// What clients are told of a settlement.
pub(super) fn told(settlement: Settlement) -> InteractionSettledParams {
    let Settlement { interaction_id, outcome, by, at, answer } = settlement;
    InteractionSettledParams { interaction_id, outcome, by, at, answer }
}
