//! The demo's run as a small play: who says and does what, in order.

use ropewalk::RunEvent;
use ropewalk_protocol::{Item, ItemBody, ItemState};

use crate::cli::{
    out::{Out, Style},
    seen::Seen,
    text::{of_parts, printable},
    transcript::described,
};

/// Columns for who speaks.
const WHO: usize = 10;

/// Tells a run.
pub(super) struct Narrator {
    out: Out,
    seen: Seen,
}

impl Narrator {
    pub(super) fn new(out: &Out, seen: &Seen) -> Self {
        Self { out: out.clone(), seen: seen.clone() }
    }

    /// Tells what there is to tell about an event.
    pub(super) fn show(&mut self, event: &RunEvent) {
        match event {
            RunEvent::ItemStarted(item) => self.started(item),
            RunEvent::ItemCompleted(item) => self.completed(item),
            _ => {}
        }
    }

    fn started(&self, item: &Item) {
        if let ItemBody::ToolCall(call) = &item.body {
            say(&self.out, "model", &format!("calls {}", described(call)));
            self.seen.mark(&call.call_id);
        }
    }

    fn completed(&self, item: &Item) {
        match &item.body {
            ItemBody::UserMessage { content, .. } => say(&self.out, "you", &of_parts(content)),
            ItemBody::AssistantMessage { text, .. } if !text.is_empty() => say(&self.out, "model", text),
            ItemBody::ToolCall(call) => match (&call.error, item.state) {
                (Some(error), _) => say(&self.out, "no result", &error.message),
                (None, ItemState::Completed) => {
                    say(&self.out, "result", &of_parts(call.content.as_deref().unwrap_or_default()));
                }
                (None, _) => {}
            },
            _ => {}
        }
    }
}

/// The bell, as it is heard in this process.
pub(super) fn ring(out: &Out, sound: &str) {
    say(out, "bell", sound);
    say(out, "", "(rung by a function of this process)");
}

fn say(out: &Out, who: &str, text: &str) {
    let style = if who == "you" { Style::Cyan } else { Style::Green };
    for (position, line) in printable(text).lines().enumerate() {
        let who = if position == 0 { who } else { "" };
        out.line(&format!("{} {line}", out.paint(style, &format!("{who:WHO$}"))));
    }
}

#[cfg(test)]
mod tests;
