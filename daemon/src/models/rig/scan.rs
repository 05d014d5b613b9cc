//! Watches the bytes of an event stream for what its decoder does not: size, and signs of life that are data.

/// The longest event a provider may send, in bytes.
pub(super) const EVENT_BYTES: usize = 4 << 20;

/// The longest answer a provider may send, in bytes.
pub(super) const REPLY_BYTES: usize = 64 << 20;

const DATA: &[u8] = b"data:";

/// Follows the lines and events of a stream, however it is cut into chunks.
#[derive(Default)]
pub(super) struct Scanner {
    reply_bytes: usize,
    event_bytes: usize,
    line_bytes: usize,
    is_data: bool,
    after_return: bool,
}

/// What a chunk told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// A line of data began; comments and blank lines are no sign of life.
    pub(super) data: bool,
    /// The event or the answer is larger than allowed.
    pub(super) too_large: bool,
}

impl Scanner {
    pub(super) fn push(&mut self, chunk: &[u8]) -> Seen {
        let mut seen = Seen::default();
        self.reply_bytes += chunk.len();
        for byte in chunk {
            self.event_bytes += 1;
            seen.too_large |= self.event_bytes > EVENT_BYTES;
            seen.data |= self.byte(*byte);
        }
        seen.too_large |= self.reply_bytes > REPLY_BYTES;
        seen
    }

    /// Takes one byte; whether it is the one by which a line turns out to be data.
    fn byte(&mut self, byte: u8) -> bool {
        let second_half = std::mem::replace(&mut self.after_return, byte == b'\r') && byte == b'\n';
        if second_half {
            return false;
        }
        if byte == b'\r' || byte == b'\n' {
            if self.line_bytes == 0 {
                self.event_bytes = 0;
            }
            self.line_bytes = 0;
            return false;
        }
        self.is_data = (self.line_bytes == 0 || self.is_data) && DATA.get(self.line_bytes) == Some(&byte);
        self.line_bytes += 1;
        self.is_data && self.line_bytes == DATA.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_seen_wherever_the_chunks_are_cut_and_comments_are_not() {
        let stream = b": ping\n\ndata: a\r\n\r\ndata:b\n\n: data: no\ndat: no\n\n";
        for size in 1..=stream.len() {
            let mut scanner = Scanner::default();
            let data = stream.chunks(size).filter(|chunk| scanner.push(chunk).data).count();
            assert!((1..=2).contains(&data), "{size}");
        }
        let mut scanner = Scanner::default();
        assert_eq!(stream.iter().filter(|byte| scanner.push(&[**byte]).data).count(), 2);
        assert!(!Scanner::default().push(b": ping\n\n: pong\r\n").data);
    }

    #[test]
    fn an_event_and_an_answer_may_be_as_long_as_the_limit_and_no_longer() {
        let mut scanner = Scanner { event_bytes: EVENT_BYTES - 1, ..Scanner::default() };
        assert!(!scanner.push(b"x").too_large);
        assert!(scanner.push(b"x").too_large);
        let mut scanner = Scanner { reply_bytes: REPLY_BYTES - 3, ..Scanner::default() };
        assert!(!scanner.push(b"x\n\n").too_large);
        assert!(scanner.push(b"x").too_large);
    }
}
