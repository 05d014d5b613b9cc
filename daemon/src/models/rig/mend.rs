//! Gives fragments of calls that name no call back to the call they belong to, before the decoder drops them; gives a
//! failure that stands beside an answer a line of its own, before the decoder reads the answer as a good one; and notes
//! that the output limit was reached, which the decoder forgets when another reason for the end follows.
//!
//! Some gateways send the pieces of a call's arguments without index and id, or under an index of their own. The decoder
//! takes such a piece for a call without a name and drops it, and the call would be made with its arguments cut. A piece
//! is given to the one call whose arguments are still incomplete; where there is none or more than one, nobody knows
//! whose it is, and the answer fails.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Shape, openness::Openness};

/// Where calls are numbered from that came with nothing to tell them by: beyond what any provider counts to.
const OWN_NUMBERS: u64 = 1 << 20;

/// Follows the chunks of chat completions, or of Gemini, as they pass.
pub(super) struct Mender {
    shape: Shape,
    /// The line under way, which is passed on when it ends.
    line: Vec<u8>,
    calls: Vec<Call>,
    is_lost: bool,
    is_cut: bool,
}

/// A call that has begun.
struct Call {
    /// How its fragments are told from those of others.
    place: Place,
    id: Option<String>,
    is_named: bool,
    arguments: Openness,
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
    /// Whether a fragment at this call's place begins another one.
    fn ends_before(&self, id: Option<&str>, is_named: bool, arguments: &str) -> bool {
        match (id, self.id.as_deref()) {
            (Some(id), Some(own)) if id != own => true,
            // The same id again, with a name and arguments of its own: a provider that repeats its ids.
            _ => matches!(self.place, Place::Id(_)) && is_named && !arguments.is_empty() && !self.arguments.is_open(),
        }
    }
}

impl Mender {
    /// For answers of this shape; `None` where there is nothing to mend.
    pub(super) fn of(shape: Shape) -> Option<Self> {
        let mender = Self { shape, line: Vec::new(), calls: Vec::new(), is_lost: false, is_cut: false };
        matches!(shape, Shape::Chat | Shape::Gemini).then_some(mender)
    }

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

    /// Whether the provider named its output limit as the reason for the end, whatever it named after that.
    pub(super) const fn is_cut(&self) -> bool {
        self.is_cut
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
        if self.shape == Shape::Gemini {
            return line.contains("\"MAX_TOKENS\"");
        }
        let ends_nameless = || self.calls.iter().any(|call| !call.is_named) && line.contains("\"finish_reason\"");
        ["\"tool_calls\"", "\"error\"", "\"length\""].iter().any(|word| line.contains(word)) || ends_nameless()
    }

    /// The line with its fragments numbered and its failure apart, if it was necessary.
    fn mended(&mut self, line: &str) -> Option<String> {
        // Some servers put a byte order mark before their first line.
        let data = line.trim_start_matches('\u{feff}').strip_prefix("data:")?;
        let mut chunk: Value = serde_json::from_str(data.trim()).ok()?;
        if self.shape == Shape::Gemini {
            self.is_cut |= chunk.pointer("/candidates/0/finishReason").is_some_and(|reason| reason == "MAX_TOKENS");
            return None;
        }
        self.is_cut |= chunk.pointer("/choices/0/finish_reason").is_some_and(|reason| reason == "length");
        if chunk.get("object").is_some_and(|object| object == "error") && chunk.get("error").is_none() {
            return Some(format!("data: {}{}", json!({"error": chunk}), line_end(line)));
        }
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
        let ending = line_end(line);
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
            call.arguments.push(&arguments);
            return false;
        }
        if let (None, false, Some(_)) = (index, is_named, &id) {
            // The id of a call that came without one.
            let mut open = self.calls.iter_mut().filter(|call| call.id.is_none() && call.arguments.is_open());
            if let (Some(call), None) = (open.next(), open.next()) {
                call.id = id;
                call.arguments.push(&arguments);
                return put(fragment, &call.place);
            }
        }
        if is_named || id.is_some() {
            let is_taken = index.is_none() && self.calls.iter().any(|call| Some(&call.place) == place.as_ref());
            let own = Place::Index(OWN_NUMBERS + self.calls.len() as u64);
            let (place, is_changed) = match place {
                Some(place) if !is_taken => (place, false),
                _ => (own, true),
            };
            let is_changed = is_changed && put(fragment, &place);
            let arguments = Openness::of(&arguments);
            self.calls.push(Call { place, id, is_named, arguments });
            return is_changed;
        }
        if arguments.is_empty() {
            return false;
        }
        let mut open = self.calls.iter_mut().filter(|call| call.arguments.is_open());
        match (open.next(), open.next()) {
            (Some(call), None) => {
                call.arguments.push(&arguments);
                put(fragment, &call.place)
            }
            _ => {
                self.is_lost = true;
                false
            }
        }
    }
}

/// What a line ends with.
fn line_end(line: &str) -> &str {
    let end = &line[line.trim_end_matches(['\r', '\n']).len()..];
    if end.is_empty() { "\n" } else { end }
}

/// The failure that stands beside a chunk's choices or within one. None of those is a good end then.
fn take_failure(chunk: &mut Value) -> Option<Value> {
    let is_failure = |error: &Value| error.is_object() || error.as_str().is_some_and(|text| !text.is_empty());
    let beside = chunk.get("error").filter(|error| is_failure(error)).cloned();
    let choices = chunk.get_mut("choices")?.as_array_mut().filter(|choices| !choices.is_empty())?;
    let within = choices.iter().find_map(|choice| choice.get("error").filter(|error| is_failure(error))).cloned();
    let error = beside.or(within)?;
    for choice in choices.iter_mut().filter_map(Value::as_object_mut) {
        choice.shift_remove("finish_reason");
    }
    chunk.as_object_mut()?.shift_remove("error");
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
