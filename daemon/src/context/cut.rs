//! Cutting texts to a budget, visibly: whoever reads what is left is told how much is missing and where it is.

use super::tokens::{prefix_within, text_tokens};

/// What stands between a text and its note.
const SEPARATOR_TOKENS: u64 = 2;

/// A text within its budget, and whether it was cut for that. `place` says where the rest is.
#[must_use]
pub fn within(text: &str, tokens: u64, place: &str) -> (String, bool) {
    if text_tokens(text) <= tokens {
        return (text.to_owned(), false);
    }
    let total = text.chars().count();
    // The longest the note can be, so that text and note fit together.
    let room = tokens.saturating_sub(text_tokens(&note(total, total, place)) + SEPARATOR_TOKENS);
    let kept = &text[..prefix_within(text, room)];
    let note = note(kept.chars().count(), total, place);
    let separator = if kept.is_empty() { "" } else { "\n" };
    (format!("{kept}{separator}{note}"), true)
}

/// The first characters of a text, with a sign where it was cut.
#[must_use]
pub fn first_characters(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn note(kept: usize, total: usize, place: &str) -> String {
    format!("[cut: {} of {} characters; {place}]", grouped(kept as u64), grouped(total as u64))
}

/// A number with a comma behind each thousand.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
