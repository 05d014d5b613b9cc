//! A part of a text around a place in it.

/// At most `most` characters of a text, around the byte `at`; an ellipsis stands where something is left out.
#[must_use]
pub fn around(text: &str, at: usize, most: usize) -> String {
    let total = text.chars().count();
    if total <= most {
        return text.to_owned();
    }
    let before = text.get(..at).unwrap_or(text).chars().count();
    let from = before.saturating_sub(most / 2);
    // One mark where only one end is cut, two between them.
    let (from, shown) = match from {
        0 => (0, most.saturating_sub(1)),
        from if total - from < most => (total - most.saturating_sub(1), most.saturating_sub(1)),
        from => (from, most.saturating_sub(2)),
    };
    let middle: String = text.chars().skip(from).take(shown).collect();
    let mark = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{middle}{}", mark(from > 0), mark(from + shown < total))
}
