//! Reads JSON that is stored, forwarded or digested: what our types cannot hold is refused instead of changed.

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    fmt, io,
};

use serde::{
    Serialize,
    de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

#[cfg(test)]
mod tests;

/// Why a text is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonProblem {
    /// It is no JSON, or holds a lone surrogate or a number outside of 64-bit floats.
    #[error("{reason}, at line {line}, column {column}")]
    Syntax {
        /// What is wrong there, in a few words.
        reason: String,
        /// The line, from 1.
        line: usize,
        /// The byte in that line, from 1.
        column: usize,
    },
    /// It is JSON, but a key is repeated, an integer needs more than 64 bits, or it is nested too deep.
    #[error("{path} {reason}")]
    Refused {
        /// Where, as a JSON Pointer; empty for the whole.
        path: String,
        /// What is wrong there, in words that follow "this".
        reason: &'static str,
    },
}

/// Reads a text as one JSON value of at most `levels` levels of nesting; a scalar has none.
///
/// # Errors
/// When the text is no JSON, or means something that [`Value`] would silently change.
pub fn parse(text: &str, levels: usize) -> Result<Value, JsonProblem> {
    let reading = Reading {
        path: RefCell::default(),
        numbers: Cell::new(0),
        oversized: oversized_integers(text),
        levels,
        refused: RefCell::default(),
    };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = Node(&reading).deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| {
        reading.refused.take().unwrap_or_else(|| JsonProblem::Syntax {
            reason: words_of(&error),
            line: error.line(),
            column: error.column(),
        })
    })
}

/// A path with one more step, escaped as RFC 6901 wants it.
#[must_use]
pub fn join(path: &str, step: &str) -> String {
    format!("{path}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// How many bytes a value has as JSON, counted without making it.
#[must_use]
pub fn bytes_of(value: &impl Serialize) -> u64 {
    let mut count = ByteCount(0);
    // Counting never fails; a value that is no JSON fails again where it is written.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

struct ByteCount(u64);

impl io::Write for ByteCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How many levels of objects and lists a value has.
#[must_use]
pub fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

/// The message without its place, which is told apart.
fn words_of(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

/// The ordinals of the numbers that are integers and fit neither `i64` nor `u64`.
///
/// `serde_json` hands those to a visitor as floats, like `1e20`, so the digits have to be looked at beforehand.
fn oversized_integers(text: &str) -> HashSet<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut ordinal, mut oversized) = (0, 0, HashSet::new());
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                let length = bytes[at..].iter().take_while(|b| b"0123456789+-.eE".contains(b)).count();
                let token = &text[at..at + length];
                let is_integer = token.strip_prefix('-').unwrap_or(token).bytes().all(|byte| byte.is_ascii_digit());
                if is_integer && token.parse::<i64>().is_err() && token.parse::<u64>().is_err() {
                    oversized.insert(ordinal);
                }
                ordinal += 1;
                at += length;
            }
            _ => at += 1,
        }
    }
    oversized
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

struct Reading {
    path: RefCell<Vec<String>>,
    numbers: Cell<usize>,
    oversized: HashSet<usize>,
    levels: usize,
    refused: RefCell<Option<JsonProblem>>,
}

impl Reading {
    fn refuse<E: de::Error>(&self, reason: &'static str) -> E {
        let path = self.path.borrow().iter().fold(String::new(), |path, step| join(&path, step));
        *self.refused.borrow_mut() = Some(JsonProblem::Refused { path, reason });
        E::custom(reason)
    }

    fn enter<E: de::Error>(&self) -> Result<(), E> {
        if self.path.borrow().len() < self.levels { Ok(()) } else { Err(self.refuse("is nested too deep")) }
    }

    fn count_number<E: de::Error>(&self) -> Result<(), E> {
        let ordinal = self.numbers.get();
        self.numbers.set(ordinal + 1);
        if self.oversized.contains(&ordinal) {
            return Err(self.refuse("is an integer of more than 64 bits"));
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Node<'a>(&'a Reading);

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        self.0.count_number()?;
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        self.0.count_number()?;
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        self.0.count_number()?;
        Number::from_f64(value).map(Value::Number).ok_or_else(|| self.0.refuse("is no finite number"))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        self.0.enter()?;
        let mut items = Vec::new();
        loop {
            self.0.path.borrow_mut().push(items.len().to_string());
            match seq.next_element_seed(self)? {
                Some(item) => items.push(item),
                None => break,
            }
            self.0.path.borrow_mut().pop();
        }
        self.0.path.borrow_mut().pop();
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        self.0.enter()?;
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            self.0.path.borrow_mut().push(key.clone());
            if fields.contains_key(&key) {
                return Err(self.0.refuse("is a repeated key"));
            }
            let value = map.next_value_seed(self)?;
            self.0.path.borrow_mut().pop();
            fields.insert(key, value);
        }
        Ok(Value::Object(fields))
    }
}
