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
}

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
        Self { stdout: Stream::new(Stdout, stdout, !no_color), stderr: Stream::new(Stderr, stderr, !no_color) }
    }

    /// Writes text that is part of the result, as it is.
    pub(crate) fn print(&self, text: &str) {
        self.stdout.write(text);
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
pub(crate) mod testing {
    //! Streams whose text can be looked at.

    use super::*;

    /// What was written to a stream.
    #[derive(Clone, Default)]
    pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

    impl Written {
        /// All of it.
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// An [`Out`] with what it writes to stdout and to stderr; as terminals without style, or as pipes.
    pub(crate) fn captured(is_terminal: bool) -> (Out, Written, Written) {
        let (stdout, stderr) = (Written::default(), Written::default());
        let out = Out {
            stdout: Stream::new(stdout.clone(), is_terminal, false),
            stderr: Stream::new(stderr.clone(), is_terminal, false),
        };
        (out, stdout, stderr)
    }

    /// As [`captured`], with style.
    pub(crate) fn styled() -> (Out, Written, Written) {
        let (stdout, stderr) = (Written::default(), Written::default());
        let out =
            Out { stdout: Stream::new(stdout.clone(), true, true), stderr: Stream::new(stderr.clone(), true, true) };
        (out, stdout, stderr)
    }
}
