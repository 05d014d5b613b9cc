//! What the beginning of a line tells when the line is too long to be read.

use ropewalk_protocol::RequestId;

use crate::envelope;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sniffed {
    /// The id, when it stands there whole and is one.
    pub(crate) id: Option<RequestId>,
    /// Whether it is an answer: a result or an error, and no method so far.
    pub(crate) is_answer: bool,
}

/// Looks at the members of the message whose text begins with `head`.
pub(crate) fn sniff(head: &[u8]) -> Sniffed {
    let head = String::from_utf8_lossy(head);
    let mut sniffed = Sniffed::default();
    let mut has_method = false;
    let mut rest = Rest(head.as_bytes());
    if rest.take(b'{').is_none() {
        return sniffed;
    }
    while let Some(key) = rest.value() {
        if rest.take(b':').is_none() {
            break;
        }
        match key {
            b"\"result\"" | b"\"error\"" => sniffed.is_answer = true,
            b"\"method\"" => has_method = true,
            _ => {}
        }
        let Some(value) = rest.value() else { break };
        if key == b"\"id\"" {
            sniffed.id = std::str::from_utf8(value).ok().and_then(|text| envelope::read_id(text).ok());
        }
        if rest.take(b',').is_none() {
            break;
        }
    }
    sniffed.is_answer &= !has_method;
    sniffed
}

/// What has not been looked at. Each part is found only when it is there to its end.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, expected: u8) -> Option<()> {
        self.0 = self.0.trim_ascii_start().strip_prefix(&[expected])?;
        Some(())
    }

    fn value(&mut self) -> Option<&'a [u8]> {
        self.0 = self.0.trim_ascii_start();
        let end = match self.0.first()? {
            b'"' => string_end(self.0)?,
            b'{' | b'[' => nested_end(self.0)?,
            _ => self.0.iter().position(|byte| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace())?,
        };
        let (value, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(value)
    }
}

fn string_end(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn nested_end(text: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        match text.get(at)? {
            b'"' => at += string_end(&text[at..])? - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}
