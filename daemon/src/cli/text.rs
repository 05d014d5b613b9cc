//! Text on its way to a terminal: nothing in it may steer the terminal, and a line stays a line.

use std::fmt::Write;

use ropewalk_protocol::{Part, Timestamp};

/// The text with everything spelled out that would control a terminal or turn the direction of reading: who is asked to
/// approve something has to see what it is.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            _ if character.is_control() || turns_direction(character) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// Bidirectional embeddings, overrides, isolates and marks.
const fn turns_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{061c}')
}

/// The text on one line of at most so many characters, printable.
pub(crate) fn one_line(text: &str, characters: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    cut(&printable(&words.join(" ")), characters)
}

/// The text, or as much of it as fits, with a sign that there is more.
pub(crate) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some(_) => text.chars().take(characters.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A word as a shell reads it back: as it is where it is plain, else between quotes.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./:@%+,=".contains(character);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The texts of parts, a line each, and names for what is no text.
pub(crate) fn of_parts(parts: &[Part]) -> String {
    let shown: Vec<_> = parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => text.clone(),
            Part::Image { media_type, data } | Part::Audio { media_type, data } => {
                format!("[{media_type}, {}]", bytes(decoded_length(data)))
            }
            Part::Resource { resource_id } => format!("[resource {resource_id}]"),
            Part::Review { review_id } => format!("[review {review_id}]"),
            Part::ResourceLink { uri, name } => format!("[{name}: {uri}]"),
        })
        .collect();
    shown.join("\n")
}

/// How many bytes are behind a text in base64.
fn decoded_length(data: &str) -> u64 {
    let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count();
    (data.len() / 4 * 3).saturating_sub(padding) as u64
}

/// How long ago a moment was, in its largest unit.
pub(crate) fn ago(moment: Timestamp, now: Timestamp) -> String {
    let seconds = now.millis_since(moment) / 1_000;
    match seconds {
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// A number of milliseconds in words: `15 min`, `2.5 s`, `never` for none.
pub(crate) fn duration(ms: Option<u64>) -> String {
    match ms {
        None => "never".to_owned(),
        Some(ms) if ms >= 60_000 && ms.is_multiple_of(60_000) => format!("{} min", ms / 60_000),
        Some(ms) if ms.is_multiple_of(1_000) => format!("{} s", ms / 1_000),
        Some(ms) => format!("{ms} ms"),
    }
}

/// A number of bytes in its largest unit.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: &[(&str, u64)] = &[("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) => format!("{}.{} {unit}", bytes / size, bytes % size * 10 / size),
        None => format!("{bytes} bytes"),
    }
}

/// Rows in columns two spaces apart; the last column is not padded.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// What a deletion did, or would do.
pub(crate) fn deleted(removed: &ropewalk_protocol::Removed) -> String {
    let rehearsed = if removed.dry_run { " Nothing was deleted: this was a rehearsal." } else { "" };
    format!("{}{rehearsed}", removed.effect)
}

#[cfg(test)]
mod tests;
