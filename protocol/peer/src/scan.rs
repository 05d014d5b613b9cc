//! Finds in valid JSON what JSON values cannot hold faithfully: repeated keys, lone surrogates, numbers out of range;
//! and nesting beyond a limit.

use std::{borrow::Cow, collections::HashSet};

/// How many keys of one object are compared one by one before a set is made of them.
const COMPARED_KEYS: usize = 16;

/// What cannot be represented, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// A JSON Pointer.
    pub(crate) path: String,
    /// `repeated_key`, `lone_surrogate` or `number_out_of_range`.
    pub(crate) reason: &'static str,
}

/// How deep `json` is nested, if deeper than `max`.
pub(crate) fn too_deep(json: &str, max: usize) -> Option<usize> {
    let bytes = json.as_bytes();
    // Most messages have fewer brackets than there may be levels, which is quick to see.
    memchr::memchr2_iter(b'{', b'[', bytes).nth(max)?;
    let (mut depth, mut deepest, mut at) = (0_usize, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = string_end(bytes, at),
            _ => {}
        }
        at += 1;
    }
    (deepest > max).then_some(deepest)
}

/// The first thing in `json` that cannot be represented. `json` must be valid JSON.
pub(crate) fn flaw(json: &str) -> Option<Flaw> {
    let bytes = json.as_bytes();
    let mut scan = Scan { frames: Vec::new(), keys: Vec::new() };
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => scan.open(bytes[at] == b'{'),
            b'}' | b']' => scan.close(),
            b',' => scan.comma(),
            b'"' => {
                let end = string_end(bytes, at);
                if let Some(reason) = scan.string(&json[at..=end]) {
                    return Some(Flaw { path: scan.path(), reason });
                }
                at = end;
            }
            b'-' | b'0'..=b'9' => {
                let length = bytes[at..].iter().position(|byte| !is_of_number(*byte)).unwrap_or(bytes.len() - at);
                if !is_number_in_range(&json[at..at + length]) {
                    return Some(Flaw { path: scan.path(), reason: "number_out_of_range" });
                }
                at += length - 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

struct Scan<'a> {
    frames: Vec<Level<'a>>,
    /// The keys seen in each open object, outer ones first.
    keys: Vec<Cow<'a, str>>,
}

struct Level<'a> {
    is_object: bool,
    /// Where its keys begin in `Scan::keys`.
    first_key: usize,
    /// All its keys, once there are many.
    many: HashSet<Cow<'a, str>>,
    /// The position in an array.
    index: usize,
    wants_key: bool,
}

impl<'a> Scan<'a> {
    fn open(&mut self, is_object: bool) {
        let first_key = self.keys.len();
        self.frames.push(Level { is_object, first_key, many: HashSet::new(), index: 0, wants_key: is_object });
    }

    fn close(&mut self) {
        if let Some(level) = self.frames.pop() {
            self.keys.truncate(level.first_key);
        }
    }

    fn comma(&mut self) {
        if let Some(level) = self.frames.last_mut() {
            level.index += 1;
            level.wants_key = level.is_object;
        }
    }

    /// Takes a string with its quotes; what is wrong with it.
    fn string(&mut self, quoted: &'a str) -> Option<&'static str> {
        let inner = &quoted[1..quoted.len() - 1];
        let has_escapes = memchr::memchr(b'\\', inner.as_bytes()).is_some();
        let text = if has_escapes && (self.wants_key() || inner.contains("\\u")) {
            match serde_json::from_str::<String>(quoted) {
                Ok(text) => Cow::Owned(text),
                // The text is valid JSON; a surrogate without its other half is all that can be wrong with a string.
                Err(_) => return Some("lone_surrogate"),
            }
        } else {
            Cow::Borrowed(inner)
        };
        (self.wants_key() && !self.key(text)).then_some("repeated_key")
    }

    fn wants_key(&self) -> bool {
        self.frames.last().is_some_and(|level| level.wants_key)
    }

    /// Notes a key; false when the object has it already.
    fn key(&mut self, key: Cow<'a, str>) -> bool {
        let Some(level) = self.frames.last_mut() else { return true };
        level.wants_key = false;
        let own = &self.keys[level.first_key..];
        let is_new = if own.len() < COMPARED_KEYS {
            !own.contains(&key)
        } else {
            if level.many.is_empty() {
                level.many.extend(own.iter().cloned());
            }
            level.many.insert(key.clone())
        };
        self.keys.push(key);
        is_new
    }

    /// Where the scan is, as a JSON Pointer.
    fn path(&self) -> String {
        let mut path = String::new();
        for (depth, level) in self.frames.iter().enumerate() {
            if !level.is_object {
                path.push_str(&format!("/{}", level.index));
                continue;
            }
            let own_end = self.frames.get(depth + 1).map_or(self.keys.len(), |inner| inner.first_key);
            if level.wants_key || own_end == level.first_key {
                continue;
            }
            path.push('/');
            path.push_str(&self.keys[own_end - 1].replace('~', "~0").replace('/', "~1"));
        }
        path
    }
}

/// The position of the closing quote of the string that opens at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut from = at + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[from..]) {
        let position = from + found;
        if bytes[position] == b'"' {
            return position;
        }
        from = position + 2;
    }
    bytes.len() - 1
}

const fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Whether a number fits i64 or u64, or, written as a fraction, f64.
fn is_number_in_range(number: &str) -> bool {
    if number.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return number.parse::<f64>().is_ok_and(f64::is_finite);
    }
    number.len() < 19 || number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok()
}
