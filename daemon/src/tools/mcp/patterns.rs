//! Patterns in the schemas of servers: checked for being any, never evaluated here (MCP-38, MCP-136). They are written for
//! ECMAScript and may take exponential time; the server that wrote them evaluates them itself.

use jsonschema::PatternOptions;
use serde_json::{Map, Value, json};

/// Keywords whose value is a schema, or an array of schemas.
const SCHEMAS: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value holds schemas under names of its own.
const NAMED_SCHEMAS: &[&str] =
    &["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// The keywords that are not evaluated here.
const NOT_EVALUATED: &[&str] = &["pattern", "patternProperties", "propertyNames"];

/// Keywords by which a looser part makes a stricter whole.
const NOT_MONOTONE: &[&str] =
    &["else", "if", "maxContains", "not", "then", "unevaluatedItems", "unevaluatedProperties"];

/// The first pattern that is none, with its place in the schema.
#[must_use]
pub fn broken_pattern(schema: &Value) -> Option<(String, String)> {
    find(schema, "")
}

fn find(schema: &Value, at: &str) -> Option<(String, String)> {
    let Value::Object(fields) = schema else { return None };
    if let Some(Value::String(pattern)) = fields.get("pattern")
        && !compiles(pattern)
    {
        return Some((format!("{at}/pattern"), pattern.clone()));
    }
    if let Some(Value::Object(named)) = fields.get("patternProperties")
        && let Some(pattern) = named.keys().find(|pattern| !compiles(pattern))
    {
        return Some((format!("{at}/patternProperties"), pattern.clone()));
    }
    inner(fields).find_map(|(place, schema)| find(schema, &format!("{at}/{place}")))
}

/// The schemas inside a schema, with their places.
fn inner(fields: &Map<String, Value>) -> impl Iterator<Item = (String, &Value)> {
    let plain =
        SCHEMAS.iter().filter_map(|keyword| Some((*keyword, fields.get(*keyword)?))).flat_map(|(keyword, it)| {
            let many: Vec<(String, &Value)> = match it {
                Value::Array(items) => {
                    items.iter().enumerate().map(|(index, item)| (format!("{keyword}/{index}"), item)).collect()
                }
                one => vec![(keyword.to_owned(), one)],
            };
            many
        });
    let named = NAMED_SCHEMAS.iter().filter_map(|keyword| Some((*keyword, fields.get(*keyword)?.as_object()?)));
    plain.chain(named.flat_map(|(keyword, it)| it.iter().map(move |(name, it)| (format!("{keyword}/{name}"), it))))
}

/// Whether a text is a pattern of ECMAScript, look-around and back-references included. Only its compiler is asked.
fn compiles(pattern: &str) -> bool {
    let schema = json!({ "type": "string", "pattern": pattern });
    jsonschema::options().offline().with_pattern_options(PatternOptions::fancy_regex()).build(&schema).is_ok()
}

/// The schema as arguments are checked against it here: without what only its server evaluates.
///
/// What is left must never refuse what the whole schema takes. So where something is left out, what can turn "fits" into
/// "does not fit" goes as well: negations, conditions, and "exactly one of", which becomes "one of".
#[must_use]
pub fn without_patterns(schema: &Value) -> Value {
    if is_evaluated_whole(schema) { schema.clone() } else { loosened(schema) }
}

fn is_evaluated_whole(schema: &Value) -> bool {
    let Value::Object(fields) = schema else { return true };
    !NOT_EVALUATED.iter().any(|keyword| fields.contains_key(*keyword))
        && inner(fields).all(|(_, schema)| is_evaluated_whole(schema))
}

fn loosened(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let leaves_out = |keyword: &str| {
        NOT_EVALUATED.contains(&keyword)
            || NOT_MONOTONE.contains(&keyword)
            || keyword == "additionalProperties" && fields.contains_key("patternProperties")
            || keyword == "oneOf" && fields.contains_key("anyOf")
    };
    let kept = fields.iter().filter(|(keyword, _)| !leaves_out(keyword.as_str()));
    let kept = kept.map(|(keyword, value)| {
        let name = if keyword == "oneOf" { "anyOf" } else { keyword };
        (name.to_owned(), loosened_value(keyword, value))
    });
    Value::Object(kept.collect())
}

fn loosened_value(keyword: &str, value: &Value) -> Value {
    match value {
        Value::Object(named) if NAMED_SCHEMAS.contains(&keyword) => {
            named.iter().map(|(name, schema)| (name.clone(), loosened(schema))).collect()
        }
        Value::Array(items) if SCHEMAS.contains(&keyword) => items.iter().map(loosened).collect(),
        value if SCHEMAS.contains(&keyword) => loosened(value),
        value => value.clone(),
    }
}
