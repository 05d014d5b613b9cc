//! What rules and approvals bind to: a digest of everything about a tool that decides what a call of it means.

use ropewalk_protocol::Annotations;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

#[cfg(test)]
mod tests;

/// SHA-256 in lower-case hex over the canonical JSON of schemas and annotations (ruling 27).
///
/// Name, title and description are not part of it: a changed text shows as an update and takes no permission away.
#[must_use]
pub fn tool_digest(input_schema: &Value, output_schema: Option<&Value>, annotations: &Annotations) -> String {
    digest(&Identity { input_schema, output_schema, annotations })
}

/// SHA-256 in lower-case hex over the canonical JSON of anything.
#[must_use]
pub fn digest<T: Serialize>(value: &T) -> String {
    hex(&Sha256::digest(canonical(value)))
}

/// SHA-256 in lower-case hex over a value exactly as we write it: what a decision on shown arguments binds to.
///
/// Canonical JSON would not do: it reads numbers as doubles, so two integers beyond 2^53 can look alike.
#[must_use]
pub fn exact_digest(value: &Value) -> String {
    hex(&Sha256::digest(value.to_string()))
}

/// The canonical JSON of RFC 8785. Integers beyond 2^53 are rounded to doubles, as it wants.
///
/// # Panics
/// On a map with keys that are no text, or a number that is not finite; JSON values have neither.
#[must_use]
pub fn canonical<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(value).expect("what is digested is made of JSON values")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Identity<'a> {
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a Value>,
    annotations: &'a Annotations,
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String never fails");
        text
    })
}
