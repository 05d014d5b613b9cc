//! Reading files as text, within bounds.

use std::{borrow::Cow, io::Read, path::Path};

use cap_std::fs::File;

use super::Stop;
use crate::files::refusal::Refusal;

/// Bytes of a file that is read whole.
pub const WHOLE_BYTES: u64 = 16 << 20;

const CHUNK: u64 = 1 << 16;

/// A name or path as it is told on a line of its own. One that could end the line, or turn the direction of reading, stands
/// between quotes and is spelled out, as does one that begins with a quote.
pub fn on_a_line(name: &str) -> Cow<'_, str> {
    let is_odd = |character: char| {
        character.is_control()
            || matches!(character, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{061c}')
            || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if name.starts_with('"') || name.chars().any(is_odd) { format!("{name:?}").into() } else { name.into() }
}

/// Reads a file whole, as text.
///
/// # Errors
/// When it is larger than 16 MiB, binary or not UTF-8.
pub fn whole(file: File, path: &Path, stop: &Stop) -> Result<String, Refusal> {
    let bytes = bytes(file, WHOLE_BYTES, path, stop)?
        .ok_or_else(|| Refusal::asked(format!("\"{}\" is larger than {WHOLE_BYTES} bytes", path.display())))?;
    as_text(bytes, path)
}

/// Reads a file whole; none when it has more bytes than the limit, whatever its size is said to be.
pub fn bytes(file: File, limit: u64, path: &Path, stop: &Stop) -> Result<Option<Vec<u8>>, Refusal> {
    let mut bytes = Vec::new();
    let mut source = file.take(limit + 1);
    loop {
        stop.check()?;
        let read = source.by_ref().take(CHUNK).read_to_end(&mut bytes).map_err(|error| Refusal::io(path, error))?;
        if read == 0 {
            break;
        }
    }
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Bytes as text.
///
/// # Errors
/// When they are binary or not UTF-8.
pub fn as_text(bytes: Vec<u8>, path: &Path) -> Result<String, Refusal> {
    if bytes.contains(&0) {
        return Err(Refusal::asked(format!("\"{}\" is binary: it cannot be used as text", path.display())));
    }
    String::from_utf8(bytes)
        .map_err(|_| Refusal::asked(format!("\"{}\" is not UTF-8: it cannot be used as text", path.display())))
}
