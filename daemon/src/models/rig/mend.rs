//! Gives fragments of calls that name no call back to the call they belong to, before the decoder drops them; and gives
//! a failure that stands beside an answer a line of its own, before the decoder reads the answer as a good one.
//!
//! Some gateways send the pieces of a call's arguments without index and id, or under an index of their own. The decoder
//! takes such a piece for a call without a name and drops it, and the call would be made with its arguments cut. A piece
//! is given to the one call whose arguments are still incomplete; where there is none or more than one, nobody knows
//! whose it is, and the answer fails.

use bytes::Bytes;
use serde_json::{Value, json};

/// Where calls are numbered from that came with nothing to tell them by: beyond what any provider counts to.
const OWN_NUMBERS: u64 = 1 << 20;

/// Follows the chunks of chat completions as they pass.
#[derive(Default)]
pub(super) struct Mender {
    /// The line under way, which is passed on when it ends.
    line: Vec<u8>,
    calls: Vec<Call>,
    is_lost: bool,
}

/// A call that has begun.
struct Call {
    /// How its fragments are told from those of others.
    place: Place,
    id: Option<String>,
    is_named: bool,
    arguments: String,
}

/// How the fragments of a call are told from those of others.
#[derive(Clone, PartialEq, Eq)]
enum Place {
    /// By this index.
    Index(u64),
    /// By its id alone.
    Id(String),
}

impl Call {
    fn is_open(&self) -> bool {
        serde_json::from_str::<Value>(&self.arguments).is_err()
    }

    /// Whether a fragment at this call's place begins another one.
    fn ends_before(&self, id: Option<&str>, is_named: bool, arguments: &str) -> bool {
        match (id, self.id.as_deref()) {
            (Some(id), Some(own)) if id != own => true,
            // The same id again, with a name and arguments of its own: a provider that repeats its ids.
            _ => matches!(self.place, Place::Id(_)) && is_named && !arguments.is_empty() && !self.is_open(),
        }
    }
}

impl Mender {
    /// Takes a chunk; gives the lines that ended in it.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Bytes {
        let mut passed = Vec::with_capacity(self.line.len() + chunk.len());
        for piece in chunk.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(piece);
            if matches!(piece.last(), Some(b'\n' | b'\r')) {
                self.pass(&mut passed);
            }
        }
        passed.into()
    }

    /// What is left of a body that ended within a line.
    pub(super) fn rest(&mut self) -> Bytes {
        let mut passed = Vec::new();
        self.pass(&mut passed);
        passed.into()
    }

    /// Whether there was a fragment that belongs to no call, or a call without a name.
    pub(super) const fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn pass(&mut self, passed: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        let text = std::str::from_utf8(&line).ok().filter(|line| self.is_of_interest(line));
        match text.and_then(|line| self.mended(line)) {
            Some(mended) => passed.extend_from_slice(mended.as_bytes()),
            None => passed.extend_from_slice(&line),
        }
    }

    /// Whether a line may have something to mend; all others are passed on unread.
    fn is_of_interest(&self, line: &str) -> bool {
        let ends_nameless = || self.calls.iter().any(|call| !call.is_named) && line.contains("\"finish_reason\"");
        line.contains("\"tool_calls\"") || line.contains("\"error\"") || ends_nameless()
    }

    /// The line with its fragments numbered and its failure apart, if it was necessary.
    fn mended(&mut self, line: &str) -> Option<String> {
        let data = line.strip_prefix("data:")?;
        let mut chunk: Value = serde_json::from_str(data.trim()).ok()?;
        let failure = take_failure(&mut chunk);
        let mut is_changed = failure.is_some();
        for choice in chunk.get_mut("choices")?.as_array_mut()?.iter_mut().take(1) {
            let fragments = choice.get_mut("delta").and_then(|delta| delta.get_mut("tool_calls"));
            for fragment in fragments.and_then(Value::as_array_mut).into_iter().flatten() {
                is_changed |= self.fragment(fragment);
            }
            // Whoever has no name by now will not get one, and the decoder would drop it without a word.
            let is_end = choice.get("finish_reason").is_some_and(Value::is_string);
            self.is_lost |= is_end && self.calls.iter().any(|call| !call.is_named);
        }
        let ending = &line[line.trim_end_matches(['\r', '\n']).len()..];
        let ending = if ending.is_empty() { "\n" } else { ending };
        is_changed.then(|| match failure {
            Some(failure) => format!("data: {chunk}{ending}{ending}data: {failure}{ending}"),
            None => format!("data: {chunk}{ending}"),
        })
    }

    /// Follows a fragment; whether it had to be changed.
    fn fragment(&mut self, fragment: &mut Value) -> bool {
        let text = |pointer: &str| fragment.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
        let (index, id) = (fragment.get("index").and_then(Value::as_u64), text("/id").map(str::to_owned));
        let is_named = text("/function/name").is_some();
        let arguments = fragment.pointer("/function/arguments").map(|arguments| match arguments {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        });
        let arguments = arguments.unwrap_or_default();
        let place = index.map(Place::Index).or_else(|| id.clone().map(Place::Id));
        let known = self.calls.iter_mut().rev().find(|call| place.as_ref() == Some(&call.place));
        if let Some(call) = known.filter(|call| !call.ends_before(id.as_deref(), is_named, &arguments)) {
            call.id = call.id.take().or(id);
            call.is_named |= is_named;
            call.arguments.push_str(&arguments);
            return false;
        }
        if is_named || id.is_some() {
            let is_taken = index.is_none() && self.calls.iter().any(|call| Some(&call.place) == place.as_ref());
            let own = Place::Index(OWN_NUMBERS + self.calls.len() as u64);
            let (place, is_changed) = match place {
                Some(place) if !is_taken => (place, false),
                _ => (own, true),
            };
            let is_changed = is_changed && put(fragment, &place);
            self.calls.push(Call { place, id, is_named, arguments });
            return is_changed;
        }
        if arguments.is_empty() {
            return false;
        }
        let mut open = self.calls.iter_mut().filter(|call| call.is_open());
        match (open.next(), open.next()) {
            (Some(call), None) => {
                call.arguments.push_str(&arguments);
                put(fragment, &call.place)
            }
            _ => {
                self.is_lost = true;
                false
            }
        }
    }
}

/// The failure that stands beside a chunk's choices. None of those is a good end then.
fn take_failure(chunk: &mut Value) -> Option<Value> {
    let is_failure = |error: &Value| error.is_object() || error.as_str().is_some_and(|text| !text.is_empty());
    chunk.get("error").filter(|error| is_failure(error))?;
    let choices = chunk.get_mut("choices")?.as_array_mut().filter(|choices| !choices.is_empty())?;
    for choice in choices.iter_mut().filter_map(Value::as_object_mut) {
        choice.shift_remove("finish_reason");
    }
    let error = chunk.as_object_mut()?.shift_remove("error")?;
    Some(json!({"error": error}))
}

/// Says on a fragment whose it is.
fn put(fragment: &mut Value, place: &Place) -> bool {
    match place {
        Place::Index(index) => fragment["index"] = json!(index),
        Place::Id(id) => {
            fragment["id"] = json!(id);
            if let Some(fragment) = fragment.as_object_mut() {
                fragment.shift_remove("index");
            }
        }
    }
    true
}
