//! The demo's tool: a ship's bell that hangs in this process, and that nobody rings unasked.

use ropewalk::{Tool, ToolError};
use ropewalk_protocol::ApprovalWish;
use schemars::JsonSchema;
use serde::Deserialize;

use super::narrator;
use crate::cli::out::Out;

/// What it takes to ring a bell.
#[derive(Deserialize, JsonSchema)]
pub(super) struct RingBell {
    /// How many bells: one for each half hour of the watch, eight at its end.
    #[schemars(range(min = 1, max = 8))]
    bells: u8,
}

/// The tool: declaration and handler. It wishes that a person is asked before each call.
pub(super) fn ring_bell(out: &Out) -> Tool {
    let out = out.clone();
    Tool::new("ring_bell")
        .description("Ring the ship's bell, so that everybody on board hears how much of the watch is over.")
        .input::<RingBell>()
        .approval(ApprovalWish::Ask)
        .handler(move |RingBell { bells }, _| {
            let out = out.clone();
            async move {
                let time = time_of_watch(bells)?;
                narrator::ring(&out, &sound(bells));
                Ok::<_, ToolError>(time)
            }
        })
}

/// Bells are struck in pairs: five are `ding-ding  ding-ding  ding`.
fn sound(bells: u8) -> String {
    let pairs = usize::from(bells / 2);
    let strokes = std::iter::repeat_n("ding-ding", pairs).chain((bells % 2 == 1).then_some("ding"));
    strokes.collect::<Vec<_>>().join("  ")
}

/// What the bells say. The schema keeps other numbers away; a handler checks all the same.
fn time_of_watch(bells: u8) -> Result<String, ToolError> {
    const WORDS: [&str; 8] = ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"];
    let word = bells.checked_sub(1).and_then(|position| WORDS.get(usize::from(position)));
    let word = word.ok_or_else(|| ToolError::with_code("no_such_bells", "A watch has one to eight bells."))?;
    let (hours, half) = (bells / 2, if bells % 2 == 1 { " and a half" } else { "" });
    let plural = if bells == 1 { "" } else { "s" };
    Ok(match bells {
        8 => "Eight bells: the watch is over, the next one comes on deck.".to_owned(),
        1 => "One bell: the watch is half an hour old.".to_owned(),
        _ => format!("{word} bell{plural}: the watch is {hours}{half} hours old."),
    })
}

#[cfg(test)]
mod tests;
