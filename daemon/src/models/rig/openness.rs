//! Tells whether a JSON text that comes in pieces is still incomplete, at the price of each piece alone: reading all of it
//! again for every piece would cost the square of its length.

/// How far a JSON text has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Openness {
    has_begun: bool,
    depth: usize,
    in_string: bool,
    after_backslash: bool,
}

impl Openness {
    /// A text that begins so.
    pub(super) fn of(text: &str) -> Self {
        let mut openness = Self::default();
        openness.push(text);
        openness
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, piece: &str) {
        for byte in piece.bytes() {
            self.has_begun |= !byte.is_ascii_whitespace();
            if self.in_string {
                self.in_string = self.after_backslash || byte != b'"';
                self.after_backslash = byte == b'\\' && !self.after_backslash;
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Whether more has to come. What is no JSON at all counts as whole: it is told when it is read.
    pub(super) const fn is_open(&self) -> bool {
        !self.has_begun || self.in_string || self.depth > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_open_until_its_last_bracket_however_it_is_cut() {
        let text = r#" {"a\\\"}":["{",{"b":"\\"}]}"#;
        for size in 1..=text.len() {
            let mut openness = Openness::default();
            let mut seen = 0;
            for piece in text.as_bytes().chunks(size) {
                assert!(openness.is_open(), "{size} {seen}");
                openness.push(std::str::from_utf8(piece).unwrap());
                seen += piece.len();
            }
            assert!(!openness.is_open(), "{size}");
        }
        assert!(Openness::of("  ").is_open());
        assert!(!Openness::of("{}}").is_open());
        assert!(!Openness::of("null").is_open());
    }
}
