//! Messages as text, for whoever summarises them: nothing in it can be taken for an instruction or break a pairing.

use ropewalk_protocol::{Message, Part, Role};

use super::cut::{first_characters, grouped};

/// The fewest characters a message keeps in a digest.
const DIGEST_CHARACTERS: usize = 60;

/// A message as text, each line quoted. Calls and results are told in words.
#[must_use]
pub fn transcribed(message: &Message, characters: usize) -> String {
    let said = spoken(message);
    let total = said.chars().count();
    let mut text = format!("{}:", who(message));
    let kept = first_characters(&said, characters);
    for line in kept.lines() {
        text.push_str("\n| ");
        text.push_str(line);
    }
    if total > characters {
        text.push_str(&format!("\n[cut: {} of {} characters]", grouped(characters as u64), grouped(total as u64)));
    }
    text.push('\n');
    text
}

/// The first characters of each message, all in at most `characters` of them: what takes the place of a summary that could
/// not be made. Of too many messages the oldest are only counted.
#[must_use]
pub fn digest<'a>(messages: impl ExactSizeIterator<Item = &'a Message>, characters: usize) -> String {
    let count = messages.len();
    let each = (characters / count.max(1)).max(DIGEST_CHARACTERS);
    let told = (characters / each).min(count);
    let mut lines = vec!["[Nobody summarised these messages. The first words of each of them:]".to_owned()];
    if told < count {
        lines.push(format!("[The oldest {} are left out.]", grouped((count - told) as u64)));
    }
    for message in messages.skip(count - told) {
        let words = spoken(message).split_whitespace().collect::<Vec<_>>().join(" ");
        let who = who(message);
        let room = each.saturating_sub(who.len() + 6);
        lines.push(format!("- {who}: {}", first_characters(&words, room)));
    }
    lines.join("\n")
}

fn who(message: &Message) -> &'static str {
    match message.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool if message.is_error == Some(true) => "Result of a call that failed",
        Role::Tool => "Result of a call",
    }
}

fn spoken(message: &Message) -> String {
    let parts = message.content.iter().map(|part| match part {
        Part::Text { text } => text.clone(),
        Part::Image { media_type, .. } => format!("(an image, {media_type})"),
        Part::Audio { media_type, .. } => format!("(a sound, {media_type})"),
        Part::Resource { resource_id } => format!("(resource {resource_id})"),
        Part::Review { review_id } => format!("(review {review_id})"),
        Part::ResourceLink { uri, name } => format!("({name}: {uri})"),
    });
    let calls = message.tool_calls.iter().map(|call| format!("(calls {} with {})", call.flat_name, call.arguments));
    parts.chain(calls).collect::<Vec<_>>().join("\n")
}
