//! Closes the last event of a body. Some servers end right behind its data, and decoders drop an event that no blank line
//! ends: the answer would count as cut although the reason for its end had arrived.

use bytes::Bytes;
use serde::de::IgnoredAny;

/// The event under way. What bounds an event bounds it.
#[derive(Default)]
pub(super) struct LastEvent(Vec<u8>);

impl LastEvent {
    /// Takes a chunk in which the event under way begins at `start`, or goes on if it has no beginning in it.
    pub(super) fn push(&mut self, chunk: &[u8], start: Option<usize>) {
        if start.is_some() {
            self.0.clear();
        }
        self.0.extend_from_slice(&chunk[start.unwrap_or(0)..]);
    }

    /// What is missing at the end of a body that nothing broke. An event that is cut is left open, and so dropped.
    pub(super) fn missing(&self) -> Option<Bytes> {
        let text = std::str::from_utf8(&self.0).ok()?;
        let data =
            text.split(['\r', '\n']).filter_map(|line| line.strip_prefix("data:")).collect::<Vec<_>>().join("\n");
        let is_whole = data.trim() == "[DONE]" || serde_json::from_str::<IgnoredAny>(&data).is_ok();
        // A decoder cannot know whether a last return is the end of a line or half of it, so nothing open is closed too.
        (is_whole || text.trim().is_empty()).then_some(Bytes::from_static(b"\n\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_whole_is_closed() {
        for (body, is_closed) in [
            ("data: {}", true),
            ("data: {\"a\":\ndata: 1}\n", true),
            ("event: x\r\ndata:[DONE]\r\n", true),
            ("", true),
            ("data: {", false),
            ("data: {}}", false),
            ("event: x\n", false),
            ("dat", false),
        ] {
            let mut last = LastEvent::default();
            last.push(b"data: gone\n\n", Some(12));
            body.as_bytes().chunks(3).for_each(|chunk| last.push(chunk, None));
            assert_eq!(last.missing().is_some(), is_closed, "{body}");
        }
    }
}
