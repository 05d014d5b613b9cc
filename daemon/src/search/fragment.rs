//! A part of a text around a place in it.

/// At most `most` characters of a text, around the byte `at`; an ellipsis stands where something is left out.
#[must_use]
pub fn around(text: &str, at: usize, most: usize) -> String {
    let total = text.chars().count();
    if total <= most {
        return text.to_owned();
    }
    let before = text.get(..at).unwrap_or(text).chars().count();
    let from = before.saturating_sub(most / 2).min(total - most);
    let is_late = from > 0;
    let shown = most - usize::from(is_late);
    let is_early = from + most < total;
    let middle: String = text.chars().skip(from + usize::from(is_late)).take(shown - usize::from(is_early)).collect();
    let mark = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{middle}{}", mark(is_late), mark(is_early))
}
