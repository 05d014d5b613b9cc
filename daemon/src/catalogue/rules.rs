//! What texts and numbers of documents must be like, checked the same way for every noun.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::Refusal;

/// Numbers on the wire stay exact in every client's language below this.
pub(super) const MAX_INTEGER: u64 = (1 << 53) - 1;

/// A name: 1 to 120 characters on one line, not all blank.
pub(super) fn name(path: &'static str, value: &str) -> Result<(), Refusal> {
    line(path, value, 120)
}

/// A text on one line: 1 to `most` characters, not all blank, none of them a control character.
pub(super) fn line(path: &'static str, value: &str, most: usize) -> Result<(), Refusal> {
    if value.trim().is_empty() {
        return Err(Refusal::invalid(path, "empty", format!("{} must not be empty.", field(path))));
    }
    if value.chars().any(char::is_control) {
        let message = format!("{} must not contain line breaks or other control characters.", field(path));
        return Err(Refusal::invalid(path, "control_character", message));
    }
    text(path, value, most)
}

/// A text of any shape of at most `most` characters.
pub(super) fn text(path: &'static str, value: &str, most: usize) -> Result<(), Refusal> {
    let actual = value.chars().count();
    if actual <= most {
        return Ok(());
    }
    let message = format!("{} has {actual} characters; at most {most} are allowed.", field(path));
    Err(Refusal::invalid(path, "too_long", message))
}

/// A whole number within a range.
pub(super) fn within(path: &'static str, value: u64, range: RangeInclusive<u64>) -> Result<(), Refusal> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = (range.start(), range.end());
    let message = format!("{} is {value}; it must be from {least} to {most}.", field(path));
    Err(Refusal::invalid(path, "out_of_range", message))
}

/// A parameter that is needed here.
pub(super) fn required<T>(path: &'static str, value: Option<T>, whom: &str) -> Result<T, Refusal> {
    value.ok_or_else(|| Refusal::invalid(path, "required", format!("{whom} needs a {}.", field(path))))
}

/// The field a path ends at, as a person knows it.
fn field(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A value of the wire's enums as the wire spells it.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// A price: a number from 0 on.
pub(super) fn price(path: &'static str, value: f64) -> Result<(), Refusal> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    let message = format!("{} must be a number from 0 on.", field(path));
    Err(Refusal::invalid(path, "out_of_range", message))
}
