//! What counts as a token: four bytes of text, in the window as in the usage that is reported.

use serde_json::Value;

use super::shape::Shape;

/// A token is taken for so many bytes.
pub(super) const BYTES_PER_TOKEN: usize = 4;

/// What an image or a file counts, whatever its size: providers count its pixels, not its bytes.
const MEDIA_BYTES: usize = 4_000;

/// The tokens of a request: the bytes of every name and value of its counted fields, divided by four.
pub(super) fn of_request(shape: Shape, request: &Value) -> u64 {
    of_bytes(shape.counted().iter().map(|field| bytes(&request[*field])).sum())
}

/// The tokens of so many bytes.
pub(super) fn of_bytes(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN).try_into().unwrap_or(u64::MAX)
}

fn bytes(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Bool(_) | Value::Number(_) => value.to_string().len(),
        Value::String(text) if text.starts_with("data:") => MEDIA_BYTES,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(bytes).sum(),
        Value::Object(members) if members.contains_key("media_type") => MEDIA_BYTES,
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + bytes(value)).sum(),
    }
}
