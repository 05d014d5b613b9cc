//! The person at the terminal: one question at a time, and a line for an answer.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal},
    sync::Arc,
};

use futures::{FutureExt, future::BoxFuture};
use tokio::sync::{Mutex, MutexGuard, mpsc};

use super::out::{Out, Style};

/// Whom a command can ask. Clones are the same person.
#[derive(Clone)]
pub(crate) struct Person {
    lines: Arc<Mutex<Box<dyn Lines>>>,
    out: Out,
}

/// Where answers come from.
pub(crate) trait Lines: Send {
    /// Forgets what was typed before there was a question: it was no answer to it.
    fn forget(&mut self);

    /// The next line, without its end; none when the input is over.
    fn next(&mut self) -> BoxFuture<'_, Option<String>>;
}

impl Person {
    /// The person at the terminal of this process, if somebody is there: questions can be read, and answers typed.
    pub(crate) fn find(out: &Out) -> Option<Self> {
        if !out.notes_are_read() {
            return None;
        }
        Some(Self::new(Terminal::open()?, out))
    }

    pub(crate) fn new(lines: impl Lines + 'static, out: &Out) -> Self {
        Self { lines: Arc::new(Mutex::new(Box::new(lines))), out: out.clone() }
    }

    /// Waits for the person's attention, and keeps it until the result is dropped. What was typed before is forgotten.
    pub(crate) async fn attention(&self) -> Attention<'_> {
        let mut lines = self.lines.lock().await;
        lines.forget();
        self.out.hold();
        Attention { lines, out: &self.out, is_asking: false }
    }
}

/// The attention of the person. While it lives, nothing else is written to the terminal.
pub(crate) struct Attention<'a> {
    lines: MutexGuard<'a, Box<dyn Lines>>,
    out: &'a Out,
    is_asking: bool,
}

impl Attention<'_> {
    /// Shows text.
    pub(crate) fn show(&self, text: &str) {
        self.out.say_now(&format!("{text}\n"));
    }

    /// What the text is painted with.
    pub(crate) const fn out(&self) -> &Out {
        self.out
    }

    /// Asks and reads a line; none when the person has ended the input.
    pub(crate) async fn ask(&mut self, prompt: &str) -> Option<String> {
        self.out.say_now(prompt);
        self.is_asking = true;
        let line = self.lines.next().await;
        self.is_asking = false;
        if line.is_none() {
            // Ctrl-D leaves the cursor behind the prompt.
            self.show("");
        }
        line.map(|line| line.trim().to_owned())
    }
}

impl Drop for Attention<'_> {
    /// A question that is dropped before its answer is not asked any more: somebody else answered, or the run ended.
    fn drop(&mut self) {
        if self.is_asking {
            self.show(&self.out.paint_note(Style::Dim, "\n  (no answer is needed any more)"));
        }
        self.out.release();
    }
}

/// The terminal of the process. A thread of its own reads it, because a read cannot be given up: an answer that comes
/// when nobody waits for it any more must not keep the process, nor count for the next question.
struct Terminal {
    wanted: std::sync::mpsc::Sender<()>,
    lines: mpsc::UnboundedReceiver<Option<String>>,
    is_reading: bool,
    flush: fn(),
}

impl Terminal {
    fn open() -> Option<Self> {
        #[cfg(unix)]
        if let Ok(terminal) = File::open("/dev/tty") {
            return Some(Self::reading(BufReader::new(terminal), forget_typed));
        }
        io::stdin().is_terminal().then(|| Self::reading(BufReader::new(io::stdin()), || {}))
    }

    fn reading(mut input: impl BufRead + Send + 'static, flush: fn()) -> Self {
        let (wanted, wishes) = std::sync::mpsc::channel();
        // One line is read for each wish, so no more than one ever waits here.
        let (found, lines) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            while wishes.recv().is_ok() {
                let mut line = String::new();
                let line = matches!(input.read_line(&mut line), Ok(1..)).then_some(line);
                if found.send(line).is_err() {
                    break;
                }
            }
        });
        Self { wanted, lines, is_reading: false, flush }
    }
}

impl Lines for Terminal {
    fn forget(&mut self) {
        (self.flush)();
        while self.lines.try_recv().is_ok() {
            self.is_reading = false;
        }
    }

    fn next(&mut self) -> BoxFuture<'_, Option<String>> {
        async {
            if !self.is_reading {
                self.is_reading = self.wanted.send(()).is_ok();
            }
            let line = self.lines.recv().await.flatten();
            self.is_reading = false;
            line
        }
        .boxed()
    }
}

/// Drops what the terminal holds for us, whole lines and begun ones.
#[cfg(unix)]
fn forget_typed() {
    if let Ok(terminal) = File::open("/dev/tty") {
        let _ = rustix::termios::tcflush(terminal, rustix::termios::QueueSelector::IFlush);
    }
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests;
