//! A run as a person reads it: the answer on stdout, what happens on the way on stderr.

use std::collections::HashMap;

use ropewalk::RunEvent;
use ropewalk_protocol::{Item, ItemBody, ItemId, ItemState, Run, Severity, ToolCallItem, WaitingKind};
use serde_json::Value;

use super::{
    out::{Out, Style},
    seen::Seen,
    text::{of_parts, one_line, printable},
};

/// Characters of a tool call or of its result on their line.
const LINE_CHARACTERS: usize = 120;

/// Shows events of a run as they come.
pub(crate) struct Transcript {
    out: Out,
    seen: Seen,
    texts: HashMap<ItemId, Text>,
    calls: HashMap<ItemId, String>,
    /// Whether what waits for a person waits for somebody else than the one who reads this.
    tells_waiting: bool,
    /// Whether the answer is the result of the command. Else it is shown like everything on the way to it.
    answer_is_result: bool,
    /// The last text of an answer, where the result is written once at the end: until then nobody knows whether it is one.
    kept: Option<String>,
    keeps_answer: bool,
}

/// The text of an item, as far as it was shown.
struct Text {
    kind: Kind,
    shown_bytes: usize,
    ends_line: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Answer,
    Reasoning,
}

impl Transcript {
    /// One that shows on these streams and remembers which calls it has shown. `tells_waiting` makes it say when the run waits for a person.
    pub(crate) fn new(out: &Out, seen: &Seen, tells_waiting: bool) -> Self {
        Self {
            out: out.clone(),
            seen: seen.clone(),
            texts: HashMap::new(),
            calls: HashMap::new(),
            tells_waiting,
            answer_is_result: true,
            kept: None,
            keeps_answer: false,
        }
    }

    /// The same, with nothing on stdout.
    pub(crate) fn without_result(self) -> Self {
        Self { answer_is_result: false, ..self }
    }

    /// The same, with the answer on stdout once at the [end](Self::finish); text that was none is shown with everything else.
    pub(crate) fn with_result_at_the_end(self) -> Self {
        Self { keeps_answer: self.answer_is_result, ..self }
    }

    /// The run has ended, with this text as its answer, or nobody follows it any more.
    pub(crate) fn finish(&mut self, answer: Option<&str>) {
        if !self.keeps_answer {
            return;
        }
        if self.kept.as_deref() == answer {
            self.kept = None;
        }
        self.tell_kept();
        if let Some(answer) = answer.filter(|answer| !answer.is_empty()) {
            self.out.print_foreign(answer);
            self.out.print(if answer.ends_with('\n') { "" } else { "\n" });
        }
    }

    /// Text that is not the result after all.
    fn tell_kept(&mut self) {
        if let Some(text) = self.kept.take().filter(|text| !text.is_empty()) {
            self.out.aside(&printable(text.trim_end_matches('\n')));
        }
    }

    /// Shows an event.
    pub(crate) fn show(&mut self, event: &RunEvent) {
        match event {
            RunEvent::ItemStarted(item) => self.started(item),
            RunEvent::Text { item_id, offset, text } => self.more(item_id, *offset, text),
            RunEvent::ItemCompleted(item) => self.completed(item),
            RunEvent::Progress { item_id, message, fraction } => {
                self.progress(item_id, message.as_deref(), *fraction);
            }
            RunEvent::State(run) => self.waiting(run),
            _ => {}
        }
    }

    fn started(&mut self, item: &Item) {
        match &item.body {
            ItemBody::AssistantMessage { text, .. } => self.begin(item, Kind::Answer, text),
            ItemBody::Reasoning { text, .. } => self.begin(item, Kind::Reasoning, text),
            ItemBody::ToolCall(call) => {
                self.tell_kept();
                self.out.aside(&format!("→ {}", described(call)));
                self.calls.insert(item.item_id.clone(), call.tool.flat_name.clone());
                self.seen.mark(&call.call_id);
            }
            ItemBody::UserMessage { .. } | ItemBody::Notice { .. } => {}
        }
    }

    fn completed(&mut self, item: &Item) {
        match &item.body {
            ItemBody::AssistantMessage { text, incomplete, .. } => self.end(item, Kind::Answer, text, *incomplete),
            ItemBody::Reasoning { text, incomplete, .. } => self.end(item, Kind::Reasoning, text, *incomplete),
            ItemBody::ToolCall(call) => {
                self.calls.remove(&item.item_id);
                self.out.note(&ending(&self.out, item, call));
            }
            ItemBody::Notice { text, .. } => {
                let style = if item.severity == Some(Severity::Error) { Style::Red } else { Style::Yellow };
                self.tell_kept();
                self.out.note(&format!("{} {}", self.out.paint_note(style, "!"), printable(text)));
            }
            ItemBody::UserMessage { .. } => {}
        }
    }

    fn begin(&mut self, item: &Item, kind: Kind, text: &str) {
        self.texts.insert(item.item_id.clone(), Text { kind, shown_bytes: 0, ends_line: true });
        self.more(&item.item_id, 0, text);
    }

    /// Shows what of the text has not been shown: whoever comes back after a pause is given it once more.
    fn more(&mut self, item_id: &ItemId, offset: u64, text: &str) {
        let Some(item) = self.texts.get_mut(item_id) else { return };
        let seen = item.shown_bytes.saturating_sub(usize::try_from(offset).unwrap_or(usize::MAX));
        let Some(new) = text.get(seen..).filter(|new| !new.is_empty()) else { return };
        item.shown_bytes += new.len();
        item.ends_line = new.ends_with('\n');
        match item.kind {
            Kind::Answer if self.keeps_answer => {}
            Kind::Answer if self.answer_is_result => self.out.print_foreign(new),
            Kind::Answer | Kind::Reasoning => self.out.say(&self.out.paint_note(Style::Dim, &printable(new))),
        }
    }

    fn end(&mut self, item: &Item, kind: Kind, text: &str, incomplete: bool) {
        if !self.texts.contains_key(&item.item_id) {
            self.begin(item, kind, "");
        }
        self.more(&item.item_id, 0, text);
        let shown = self.texts.remove(&item.item_id);
        if kind == Kind::Answer && self.keeps_answer {
            self.tell_kept();
            self.kept = Some(text.to_owned());
            if incomplete {
                self.tell_kept();
                self.out.aside("(cut off here)");
            }
            return;
        }
        if shown.is_some_and(|text| text.shown_bytes > 0 && !text.ends_line) {
            match kind {
                Kind::Answer if self.answer_is_result => self.out.print("\n"),
                Kind::Answer | Kind::Reasoning => self.out.say("\n"),
            }
        }
        if incomplete {
            self.out.aside("(cut off here)");
        }
    }

    fn progress(&self, item_id: &ItemId, message: Option<&str>, fraction: Option<f64>) {
        let Some(tool) = self.calls.get(item_id).filter(|_| self.out.notes_are_read()) else { return };
        let share = fraction.map(|fraction| format!(" {:.0} %", fraction * 100.0)).unwrap_or_default();
        let message = message.map(|message| format!(" {}", one_line(message, LINE_CHARACTERS))).unwrap_or_default();
        self.out.aside(&format!("  {}{share}{message}", printable(tool)));
    }

    fn waiting(&self, run: &Run) {
        let Some(waiting) = run.waiting_on.as_ref().filter(|_| self.tells_waiting) else { return };
        let what = match waiting.kind {
            WaitingKind::Approval => "an approval",
            WaitingKind::Input => "an answer",
            _ => return,
        };
        self.out.aside(&format!("… waiting for {what}; any attached client can give it"));
    }
}

/// A call on one line.
pub(crate) fn described(call: &ToolCallItem) -> String {
    let arguments = match &call.arguments {
        Value::Null => String::new(),
        arguments => format!(" {arguments}"),
    };
    one_line(&format!("{}{arguments}", call.tool.flat_name), LINE_CHARACTERS)
}

/// The end of a call on one line.
fn ending(out: &Out, item: &Item, call: &ToolCallItem) -> String {
    let said = match (&call.error, &call.content) {
        (Some(error), _) => format!("{}: {}", error.code, error.message),
        (None, Some(content)) => of_parts(content),
        (None, None) => String::new(),
    };
    let (mark, style) = match item.state {
        ItemState::Completed => ("✓", Style::Green),
        ItemState::Refused | ItemState::Cancelled | ItemState::Undeliverable => ("–", Style::Yellow),
        _ => ("✗", Style::Red),
    };
    let text = one_line(&format!("{} {said}", call.tool.flat_name), LINE_CHARACTERS);
    format!("{} {}", out.paint_note(style, mark), out.paint_note(Style::Dim, &text))
}

#[cfg(test)]
mod tests;
