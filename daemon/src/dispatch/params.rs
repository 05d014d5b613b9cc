//! Reads parameters into their type, or says where they do not fit and why, without repeating what was sent.

use ropewalk_protocol::RpcError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

/// How long parameters may be, and how many fields an object have, for the one at fault to be searched.
const SEARCHED_BYTES: usize = 1 << 20;
const SEARCHED_FIELDS: usize = 16;

/// Reads `text`, `{}` when there is none.
///
/// # Errors
/// `invalidParams` with the path of the first thing that does not fit.
pub(crate) fn read<T: DeserializeOwned>(text: Option<&str>) -> Result<T, RpcError> {
    let text = text.unwrap_or("{}");
    // Following the path costs on every field, so it is followed only once something is known to be wrong.
    serde_json::from_str(text).or_else(|_| read_with_path(text))
}

fn read_with_path<T: DeserializeOwned>(text: &str) -> Result<T, RpcError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let mut path = pointer(error.path());
        let problem = Problem::of(&error.inner().to_string());
        let params = serde_json::from_str(text).unwrap_or_default();
        if matches!(problem.reason, "wrong_type" | "invalid_value") && text.len() <= SEARCHED_BYTES {
            path.extend(field_at_fault::<T>(&params, &path).map(|field| format!("/{}", escaped(&field))));
        }
        refusal(path, problem, &params)
    })
}

/// serde forgets the path inside of an enum with a tag. The field of the object at `path` at fault is the one without
/// which something else is wrong, or nothing.
fn field_at_fault<T: DeserializeOwned>(params: &Value, path: &str) -> Option<String> {
    let complaint = |params: Value| serde_json::from_value::<T>(params).err().map(|error| error.to_string());
    let object = params.pointer(path)?.as_object()?;
    let tag = tag_of(object)?;
    let complaint_now = complaint(params.clone());
    let mut fields = object.keys().filter(|field| *field != tag).take(SEARCHED_FIELDS);
    let at_fault = fields.find(|field| {
        // The order of the others is kept, so that the first of several faults stays the first.
        let others = object.iter().filter(|(name, _)| name != field).map(|(name, value)| (name.clone(), value.clone()));
        let mut without = params.clone();
        if let Some(place) = without.pointer_mut(path) {
            *place = Value::Object(others.collect());
        }
        complaint(without) != complaint_now
    });
    Some(at_fault.map_or(tag, String::as_str).to_owned())
}

/// The tag of an object that may be one of an enum's shapes.
fn tag_of(object: &serde_json::Map<String, Value>) -> Option<&'static str> {
    ["type", "kind"].into_iter().find(|tag| object.contains_key(*tag))
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// What serde says, without the value it says it of.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    reason: &'static str,
    /// The field it is about, when that is not the last of the path.
    field: Option<String>,
    /// What was expected instead, in words of ours.
    expected: Option<String>,
}

impl Problem {
    fn of(message: &str) -> Self {
        let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
        let expected = || message.rsplit_once(", expected ").map(|(_, expected)| in_our_words(expected));
        if let Some(rest) = message.strip_prefix("unknown field `") {
            let field = rest.rsplit_once("`, expected ").or_else(|| rest.rsplit_once("`, there are"));
            return Self {
                reason: "unknown_field",
                field: field.map(|(name, _)| name.to_owned()),
                expected: expected(),
            };
        }
        if let Some(rest) = message.strip_prefix("missing field `") {
            return Self { reason: "required", field: Some(rest.trim_end_matches('`').to_owned()), expected: None };
        }
        let reason = if message.starts_with("invalid type: ") || message.starts_with("invalid length ") {
            "wrong_type"
        } else if message.starts_with("unknown variant `") {
            "unknown_value"
        } else {
            "invalid_value"
        };
        Self { reason, field: None, expected: expected() }
    }
}

fn refusal(mut path: String, problem: Problem, params: &Value) -> RpcError {
    if let Some(field) = &problem.field {
        let token = format!("/{}", escaped(field));
        if problem.reason == "required" || !path.ends_with(&token) {
            path.push_str(&token);
        }
    } else if problem.reason == "unknown_value" {
        // An enum with a tag is reported at its object; the value that is not known is the tag's.
        let tag = params.pointer(&path).and_then(Value::as_object).and_then(tag_of);
        path.extend(tag.map(|tag| format!("/{tag}")));
    }
    let place = if path.is_empty() { "the parameters".to_owned() } else { path.clone() };
    let what = match problem.reason {
        "unknown_field" => format!("There is no field {place}"),
        "required" => format!("{place} is missing"),
        "wrong_type" => format!("{place} has the wrong type"),
        "unknown_value" => format!("{place} has a value that is not known"),
        _ => format!("{place} has a value that is not allowed"),
    };
    let message = match &problem.expected {
        Some(expected) => format!("{what}; expected {expected}."),
        None => format!("{what}."),
    };
    RpcError::invalid_params(path, problem.reason, capitalised(&message))
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&escaped(key));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}

/// serde speaks of Rust's types; whoever sent JSON knows objects, lists and numbers.
fn in_our_words(expected: &str) -> String {
    let expected = expected.trim();
    match expected.split(' ').next() {
        Some("struct" | "map" | "internally" | "adjacently") => "an object".to_owned(),
        Some("sequence") => "a list".to_owned(),
        Some("variant") => "one of its words".to_owned(),
        Some("u8" | "u16" | "u32" | "u64" | "usize") => "a whole number that is not negative".to_owned(),
        Some("i8" | "i16" | "i32" | "i64" | "isize") => "a whole number".to_owned(),
        Some("f32" | "f64") => "a number".to_owned(),
        _ => expected.replace('`', ""),
    }
}

fn capitalised(sentence: &str) -> String {
    let mut characters = sentence.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests;
