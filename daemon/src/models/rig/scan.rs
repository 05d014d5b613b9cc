//! Watches the bytes of an answer for what its decoder does not: size, and signs of life that are data.

/// The longest event or line a provider may send, in bytes.
pub(super) const EVENT_BYTES: usize = 4 << 20;

/// The longest answer a provider may send, in bytes.
pub(super) const REPLY_BYTES: usize = 64 << 20;

/// How much of a line is needed to know what it is.
const HEAD_BYTES: usize = 16;

/// How a provider cuts its answer into records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events: an event is a few lines and ends with a blank one.
    #[default]
    Events,
    /// A JSON value a line.
    Lines,
}

/// Follows the lines and events of a stream, however it is cut into chunks.
#[derive(Default)]
pub(super) struct Scanner {
    framing: Framing,
    reply_bytes: usize,
    event_bytes: usize,
    /// The beginning of the line under way.
    head: Vec<u8>,
    /// The event under way says by its name that it only keeps the connection open.
    is_ping: bool,
    after_return: bool,
}

/// What a chunk told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// A line of data began; comments, pings and blank lines are no sign of life.
    pub(super) data: bool,
    /// The event or the answer is larger than allowed.
    pub(super) too_large: bool,
}

impl Scanner {
    pub(super) fn new(framing: Framing) -> Self {
        Self { framing, ..Self::default() }
    }

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

    /// Whether what came so far ends within an event or a line.
    pub(super) const fn is_within_record(&self) -> bool {
        self.event_bytes > 0
    }

    /// Takes one byte; whether it is the one by which a line turns out to be data.
    fn byte(&mut self, byte: u8) -> bool {
        let second_half = std::mem::replace(&mut self.after_return, byte == b'\r') && byte == b'\n';
        if second_half {
            return false;
        }
        if byte == b'\r' || byte == b'\n' {
            self.end_line();
            return false;
        }
        if self.head.len() == HEAD_BYTES {
            return false;
        }
        self.head.push(byte);
        match self.framing {
            Framing::Events => self.head == b"data:" && !self.is_ping,
            Framing::Lines => self.head.len() == 1,
        }
    }

    fn end_line(&mut self) {
        let is_blank = self.head.is_empty();
        if is_blank || self.framing == Framing::Lines {
            self.event_bytes = 0;
        }
        // Providers that name their events put the name before the data.
        self.is_ping = !is_blank && (self.is_ping || self.head == b"event: ping" || self.head == b"event:ping");
        self.head.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_seen_wherever_the_chunks_are_cut_and_comments_and_pings_are_not() {
        let stream = b": ping\n\ndata: a\r\n\r\ndata:b\n\n: data: no\ndat: no\n\nevent: ping\ndata: {}\n\n";
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
    fn every_line_of_lines_is_data_unless_it_is_blank() {
        let mut scanner = Scanner::new(Framing::Lines);
        let seen = b"\n\r\n{\"a\":1}\n{\"b\"\r\n\n".iter().filter(|byte| scanner.push(&[**byte]).data).count();
        assert_eq!(seen, 2);
    }

    #[test]
    fn an_event_a_line_and_an_answer_may_be_as_long_as_the_limit_and_no_longer() {
        let mut scanner = Scanner { event_bytes: EVENT_BYTES - 1, ..Scanner::default() };
        assert!(!scanner.push(b"x").too_large);
        assert!(scanner.push(b"x").too_large);
        let mut scanner = Scanner { event_bytes: EVENT_BYTES - 1, ..Scanner::new(Framing::Lines) };
        assert!(!scanner.push(b"\nx").too_large);
        let mut scanner = Scanner { reply_bytes: REPLY_BYTES - 3, ..Scanner::default() };
        assert!(!scanner.push(b"x\n\n").too_large);
        assert!(scanner.push(b"x").too_large);
    }
}
