//! Headers a user adds to the requests of an endpoint: what a request can carry, none of ours, and nothing secret.

use std::collections::{BTreeMap, HashSet};

use super::Refusal;
use crate::tools::json;

/// Headers one endpoint adds.
const HEADERS: usize = 32;

/// Longest name of a header, in characters.
const NAME_CHARACTERS: usize = 128;

/// Longest value of a header, in characters.
const VALUE_CHARACTERS: usize = 2_048;

/// Headers whose value is a secret. An endpoint is shown to every client and stored in a log, so none of them may be in it.
const SECRET: &[&str] = &["authorization", "cookie", "helicone-auth", "proxy-authorization", "set-cookie"];

/// What the name of a header says when its value is a secret.
const SECRET_WORDS: &[&str] = &[
    "access-key",
    "access-token",
    "api-key",
    "api-token",
    "apikey",
    "auth-token",
    "authorization",
    "credential",
    "password",
    "secret",
    "subscription-key",
];

/// Headers that say how our own request and its answer are to be read.
const OURS: &[&str] = &[
    "accept",
    "accept-encoding",
    "anthropic-version",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Checks the headers of an endpoint.
///
/// # Errors
/// [`Refusal::Invalid`] with the place; the value is never part of it.
pub(super) fn check_headers(headers: &BTreeMap<String, String>) -> Result<(), Refusal> {
    if headers.len() > HEADERS {
        let message = format!("There are {} headers; at most {HEADERS} are allowed.", headers.len());
        return Err(Refusal::invalid("/headers", "too_many", message));
    }
    let mut seen = HashSet::new();
    for (name, value) in headers {
        let lower = name.to_ascii_lowercase();
        check_name(name, &lower)?;
        check_value(name, value)?;
        if !seen.insert(lower) {
            let message = format!("The header {name} is given twice; capitals make no difference in headers.");
            return Err(refused(name, "repeated", message));
        }
    }
    Ok(())
}

fn check_name(name: &str, lower: &str) -> Result<(), Refusal> {
    if name.is_empty() || name.len() > NAME_CHARACTERS || !name.bytes().all(is_token) {
        let message = format!(
            "The name of a header has 1 to {NAME_CHARACTERS} letters, digits and signs such as `-`, and no spaces."
        );
        return Err(Refusal::invalid("/headers", "not_a_header_name", message));
    }
    // `x-max-tokens` and its like hold none.
    let is_called_token = lower == "token" || lower.ends_with("-token");
    if is_called_token || SECRET.contains(&lower) || SECRET_WORDS.iter().any(|word| lower.contains(word)) {
        let message =
            format!("The header {name} would hold a secret, and headers are shown. Store the key with secret/set.");
        return Err(refused(name, "secret_header", message));
    }
    if OURS.contains(&lower) {
        let message = format!("The daemon sets the header {name} itself. Leave it out.");
        return Err(refused(name, "reserved_header", message));
    }
    Ok(())
}

fn check_value(name: &str, value: &str) -> Result<(), Refusal> {
    if value.len() > VALUE_CHARACTERS {
        let actual = value.chars().count();
        let message = format!("The header {name} has {actual} characters; at most {VALUE_CHARACTERS} are allowed.");
        return Err(refused(name, "too_long", message));
    }
    let is_visible = value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if !is_visible || value.is_empty() || value.trim() != value {
        let message = format!(
            "The value of the header {name} must be visible ASCII characters, with spaces between them at most."
        );
        return Err(refused(name, "not_a_header_value", message));
    }
    let lower = value.to_ascii_lowercase();
    if lower.starts_with("bearer ") || lower.starts_with("basic ") {
        let message =
            format!("The header {name} seems to hold a key, and headers are shown. Store the key with secret/set.");
        return Err(refused(name, "secret_header", message));
    }
    Ok(())
}

/// What RFC 9110 lets the name of a field be made of.
const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~')
}

fn refused(name: &str, reason: &'static str, message: String) -> Refusal {
    Refusal::invalid(json::join("/headers", name), reason, message)
}
