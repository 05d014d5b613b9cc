//! The budget of a result: what of it enters the model's context, cut visibly where it is too much.

use ropewalk_protocol::{BlobRef, Part, limits};

use super::results::{part_characters, text_characters};
use crate::context::tokens::{IMAGE_TOKENS, content_tokens};

#[cfg(test)]
mod tests;

/// Of what is kept, this part is kept of the end: errors and sums stand there.
const TAIL_DIVISOR: u64 = 4;
/// What is kept at least, whatever the window: the marker and some words beside it.
const FEWEST_CHARACTERS: u64 = 400;
/// How often a cut is made shorter until its tokens fit as well.
const ATTEMPTS: usize = 16;

/// Whether [`cut_content`] leaves text of a content out.
#[must_use]
pub fn is_cut(content: &[Part], tokens: Option<u64>) -> bool {
    match tokens {
        None => !fits(content, None),
        Some(budget) => !fits(&without_surplus_images(content.to_vec(), budget), tokens),
    }
}

/// Cuts a content to [`limits::RESULT_CHARACTERS`] and, where the window is known, to `tokens`. Kept are the beginning and the
/// end, and between them a marker that says how much was kept and where the rest is. What fits comes back as it is.
#[must_use]
pub fn cut_content(content: Vec<Part>, tokens: Option<u64>, rest: Option<&BlobRef>) -> Vec<Part> {
    let content = match tokens {
        Some(tokens) => without_surplus_images(content, tokens),
        None => content,
    };
    if fits(&content, tokens) {
        return content;
    }
    let total = text_characters(&content);
    let place = rest.map_or_else(
        || "the rest was not kept, ask for less".to_owned(),
        |blob| format!("the whole is kept as blob {}", blob.blob_id),
    );
    let mut limit = total.min(limits::RESULT_CHARACTERS);
    if let Some(tokens) = tokens {
        let has = content_tokens(&content);
        limit = limit.min(total.saturating_mul(tokens) / has.max(1)).max(FEWEST_CHARACTERS);
    }
    for _ in 0..ATTEMPTS {
        let cut = cut_to(content.clone(), total, limit, &place);
        let fits = tokens.is_none_or(|tokens| content_tokens(&cut) <= tokens);
        if fits || limit <= FEWEST_CHARACTERS {
            return cut;
        }
        limit = (limit * 3 / 4).max(FEWEST_CHARACTERS);
    }
    cut_to(content, total, FEWEST_CHARACTERS, &place)
}

fn fits(content: &[Part], tokens: Option<u64>) -> bool {
    let total = text_characters(content);
    let has_room = || tokens.is_none_or(|tokens| content_tokens(content) <= tokens);
    total <= limits::RESULT_CHARACTERS && (total <= FEWEST_CHARACTERS || has_room())
}

fn cut_to(content: Vec<Part>, total: u64, limit: u64, place: &str) -> Vec<Part> {
    let longest_marker = marker(total, total, place).chars().count() as u64;
    let kept = limit.saturating_sub(longest_marker);
    let (head, tail_from) = (kept - kept / TAIL_DIVISOR, total - kept / TAIL_DIVISOR);
    let mut fitting = Vec::with_capacity(content.len() + 2);
    let (mut gap, mut at) = (None, 0);
    for part in content {
        let length = part_characters(&part);
        let (from, to) = (at, at + length);
        at = to;
        if length == 0 || to <= head || from >= tail_from {
            fitting.push(part);
            continue;
        }
        let Part::Text { text } = part else {
            gap.get_or_insert(fitting.len());
            continue;
        };
        let (first, last) = (head.saturating_sub(from), to.saturating_sub(tail_from));
        if first > 0 {
            fitting.push(Part::text(characters(&text, 0, first)));
        }
        gap.get_or_insert(fitting.len());
        if last > 0 {
            fitting.push(Part::text(characters(&text, length - last, last)));
        }
    }
    let told = marker(text_characters(&fitting), total, place);
    let behind = fitting.split_off(gap.unwrap_or(fitting.len()));
    // What was one text stays one: the marker joins what is before it, and the end joins the marker.
    for (place, part) in std::iter::once(Part::text(told)).chain(behind).enumerate() {
        match (fitting.last_mut(), part) {
            (Some(Part::Text { text }), Part::Text { text: more }) if place < 2 => text.push_str(&more),
            (_, part) => fitting.push(part),
        }
    }
    fitting
}

fn marker(kept: u64, total: u64, place: &str) -> String {
    format!("\n[cut: {kept} of {total} characters; {place}]\n")
}

/// Images have a price of their own: those beyond the budget are named and not sent.
fn without_surplus_images(content: Vec<Part>, tokens: u64) -> Vec<Part> {
    let mut left = tokens;
    let mut keep = |part: Part| match part {
        Part::Image { media_type, .. } if left < IMAGE_TOKENS => {
            Part::text(format!("(an image of type {media_type}, not kept: it does not fit into the model's window)"))
        }
        image @ Part::Image { .. } => {
            left -= IMAGE_TOKENS;
            image
        }
        other => other,
    };
    content.into_iter().map(&mut keep).collect()
}

fn characters(text: &str, from: u64, count: u64) -> String {
    let size = |number| usize::try_from(number).unwrap_or(usize::MAX);
    text.chars().skip(size(from)).take(size(count)).collect()
}
