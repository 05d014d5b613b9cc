//! The one place that writes to stdout and stderr, and the only one that knows whether they are terminals.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Arc, Mutex, PoisonError},
};

use serde::Serialize;

use super::text::printable;

/// How a piece of text is shown where there is style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Bold,
    Dim,
    Green,
    Red,
    Yellow,
    Cyan,
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Cyan => "36",
        }
    }
}

/// Where the command line writes: results to stdout, everything about them to stderr. Clones write to the same place.
///
/// Writing never fails for the caller: whoever closes the other end of a pipe has seen enough.
#[derive(Clone)]
pub(crate) struct Out {
    stdout: Arc<Stream>,
    stderr: Arc<Stream>,
    held: Arc<Mutex<Option<Held>>>,
}

/// What was written while a question stands at the terminal, in order.
#[derive(Default)]
struct Held {
    pieces: Vec<(Arc<Stream>, String)>,
    bytes: usize,
}

/// The most that is held back; what is more tears the question, and that is better than losing it.
const HELD_BYTES: usize = 262_144;

struct Stream {
    writer: Mutex<Box<dyn Write + Send>>,
    is_terminal: bool,
    is_styled: bool,
}

impl Stream {
    fn new(writer: impl Write + Send + 'static, is_terminal: bool, is_styled: bool) -> Arc<Self> {
        Arc::new(Self { writer: Mutex::new(Box::new(writer)), is_terminal, is_styled: is_terminal && is_styled })
    }

    fn write(&self, text: &str) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writer.write_all(text.as_bytes()).and_then(|()| writer.flush());
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.is_styled { format!("\x1b[{}m{text}\x1b[0m", style.code()) } else { text.to_owned() }
    }
}

impl Out {
    /// The streams of the process; styled where they are terminals, unless `NO_COLOR` is set.
    pub(crate) fn of_process(no_color: bool) -> Self {
        let stdout = io::stdout().is_terminal();
        let stderr = io::stderr().is_terminal();
        Self::over(Stream::new(Stdout, stdout, !no_color), Stream::new(Stderr, stderr, !no_color))
    }

    fn over(stdout: Arc<Stream>, stderr: Arc<Stream>) -> Self {
        Self { stdout, stderr, held: Arc::default() }
    }

    /// Holds back what is written until [`release`](Self::release): a question stands at the terminal, and nothing should
    /// be written into it.
    pub(crate) fn hold(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
    }

    /// Writes what was held back, and everything else at once again.
    pub(crate) fn release(&self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.take().into_iter().flat_map(|held| held.pieces).for_each(|(stream, text)| stream.write(&text));
    }

    fn write(&self, stream: &Arc<Stream>, text: &str) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_mut().filter(|held| held.bytes + text.len() <= HELD_BYTES) {
            Some(held) => {
                held.bytes += text.len();
                held.pieces.push((Arc::clone(stream), text.to_owned()));
            }
            None => stream.write(text),
        }
    }

    /// Writes text that is part of the result, as it is.
    pub(crate) fn print(&self, text: &str) {
        self.write(&self.stdout, text);
    }

    /// Writes a line of the result.
    pub(crate) fn line(&self, text: &str) {
        self.print(&format!("{text}\n"));
    }

    /// Writes text somebody else wrote: on a terminal without what would control it.
    pub(crate) fn print_foreign(&self, text: &str) {
        if self.stdout.is_terminal { self.print(&printable(text)) } else { self.print(text) }
    }

    /// Writes a result for programs: readable at a terminal, one line elsewhere.
    pub(crate) fn json(&self, value: &impl Serialize) {
        if !self.stdout.is_terminal {
            return self.json_line(value);
        }
        self.line(&printable(&serde_json::to_string_pretty(value).expect("results have string keys")));
    }

    /// Writes a value on one line.
    pub(crate) fn json_line(&self, value: &impl Serialize) {
        self.line(&serde_json::to_string(value).expect("results have string keys"));
    }

    /// Says something about the work, on stderr.
    pub(crate) fn note(&self, text: &str) {
        self.say(&format!("{text}\n"));
    }

    /// As [`note`](Self::note), without a line break.
    pub(crate) fn say(&self, text: &str) {
        self.write(&self.stderr, text);
    }

    /// As [`say`](Self::say), also while everything else is held back.
    pub(crate) fn say_now(&self, text: &str) {
        self.stderr.write(text);
    }

    /// Says something about the work, dimly.
    pub(crate) fn aside(&self, text: &str) {
        self.note(&self.paint_note(Style::Dim, text));
    }

    /// Text in a style, for stdout.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        self.stdout.paint(style, text)
    }

    /// Text in a style, for stderr.
    pub(crate) fn paint_note(&self, style: Style, text: &str) -> String {
        self.stderr.paint(style, text)
    }

    /// Whether a person reads the result as it comes.
    pub(crate) fn results_are_read(&self) -> bool {
        self.stdout.is_terminal
    }

    /// Whether a person reads what is noted.
    pub(crate) fn notes_are_read(&self) -> bool {
        self.stderr.is_terminal
    }

    /// Whether what is noted has style.
    pub(crate) fn notes_are_styled(&self) -> bool {
        self.stderr.is_styled
    }
}

/// The process's stdout, locked for each write only.
struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}

/// The process's stderr, locked for each write only.
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stderr().lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests;
