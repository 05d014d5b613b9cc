//! What rules and approvals bind to: a digest of everything about a tool that decides what a call of it means.

use ropewalk_protocol::{Annotations, CallId};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::ToolSpec;

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

/// Stands for one call of one tool: another order of the same arguments is the same call. With `only` it is this call alone: two
/// calls with secrets are never the same one, as secrets are in no digest, because what is short can be guessed from it.
#[must_use]
pub fn call_digest(tool: &ToolSpec, shown: &Map<String, Value>, only: Option<&CallId>) -> String {
    let mut arguments = Value::Object(shown.clone());
    arguments.sort_all_objects();
    let mut call = vec![json!(tool.source), json!(tool.rule_name()), json!(tool.digest), arguments];
    call.extend(only.map(|only| json!(only)));
    exact_digest(&Value::Array(call))
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
