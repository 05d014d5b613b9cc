//! One line that says what a call is about, the same for the approval's prompt and for the item.

use ropewalk_protocol::{Severity, SourceKind};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::ToolSpec;

#[cfg(test)]
mod tests;

/// Characters of a summary.
pub const SUMMARY_CHARACTERS: usize = 160;

/// The label (a title, or the name), then the arguments' strings and numbers: the ones the schema names in its order, then
/// the rest. One line without control characters, cut at 160 characters.
#[must_use]
pub fn summary(label: &str, arguments: &Map<String, Value>, schema: &Value) -> String {
    let mut line = Line { text: String::new(), characters: 0, full: false };
    line.add(label);
    let declared = schema["properties"].as_object();
    let in_order = declared.into_iter().flat_map(Map::keys).filter_map(|name| arguments.get(name));
    let rest = arguments.iter().filter(|(name, _)| declared.is_none_or(|names| !names.contains_key(*name)));
    for value in in_order.chain(rest.map(|(_, value)| value)) {
        line.add_value(value);
    }
    line.text
}

/// In the metadata of a result of an App tool: what came of the call, in one line for a person.
pub const RESULT_SUMMARY: &str = "dev.ropewalk/summary";

/// What an App tool says came of its call: better than what it was called with. The word of any other source is only data,
/// whatever its tools are called (APP-206).
#[must_use]
pub fn result_summary(tool: &ToolSpec, meta: Option<&Value>) -> Option<String> {
    let told = meta?.get(RESULT_SUMMARY)?.as_str().filter(|_| tool.source_kind == SourceKind::App)?;
    let mut line = Line { text: String::new(), characters: 0, full: false };
    line.add(told);
    Some(line.text).filter(|text| !text.is_empty())
}

/// In the metadata of a result of an App tool: how much attention it deserves, in a word of the wire.
pub const RESULT_SEVERITY: &str = "dev.ropewalk/severity";

/// How much attention an App tool says that its call deserves, which may be less than a failure does: a conflict is what the
/// model goes on from (APP-205). Of any other source it is only data.
#[must_use]
pub fn result_severity(tool: &ToolSpec, meta: Option<&Value>) -> Option<Severity> {
    let told = meta?.get(RESULT_SEVERITY).filter(|_| tool.source_kind == SourceKind::App)?;
    Severity::deserialize(told).ok()
}

struct Line {
    text: String,
    characters: usize,
    full: bool,
}

impl Line {
    fn add_value(&mut self, value: &Value) {
        match value {
            _ if self.full => {}
            Value::String(text) => self.add(text),
            Value::Number(number) => self.add(&number.to_string()),
            Value::Array(items) => items.iter().for_each(|item| self.add_value(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.add_value(field)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn add(&mut self, text: &str) {
        for word in text.split(is_unprintable).flat_map(str::split_whitespace) {
            let space = if self.text.is_empty() { "" } else { " " };
            for character in space.chars().chain(word.chars()) {
                if self.full {
                    return;
                }
                self.push(character);
            }
        }
    }

    fn push(&mut self, character: char) {
        if self.characters == SUMMARY_CHARACTERS {
            self.text.pop();
            self.text.push('…');
            self.full = true;
        } else {
            self.text.push(character);
            self.characters += 1;
        }
    }
}

/// Control characters, line separators, and what turns the direction of text: none may disguise what a person allows.
fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{061c}')
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
