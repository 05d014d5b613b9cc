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
    let stream = |written: &Written| Stream::new(written.clone(), is_terminal, false);
    let out = Out::over(stream(&stdout), stream(&stderr));
    (out, stdout, stderr)
}

/// As [`captured`], with style.
pub(crate) fn styled() -> (Out, Written, Written) {
    let (stdout, stderr) = (Written::default(), Written::default());
    let stream = |written: &Written| Stream::new(written.clone(), true, true);
    let out = Out::over(stream(&stdout), stream(&stderr));
    (out, stdout, stderr)
}
