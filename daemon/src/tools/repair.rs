//! Repairs two slips that models make with top-level arguments, towards what the schema declares and never further.
//!
//! An object or list that came as its JSON text is parsed, unless the schema would take a string there; a word in the wrong
//! case becomes the one word of the enumeration it matches. `"5"` stays `"5"`: what a value looks like decides nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{arguments::ARGUMENT_LEVELS, json};

#[cfg(test)]
mod tests;

/// References in a row that are followed; a schema that has more is left alone.
const HOPS: usize = 16;

/// The arguments as they were meant, or none when there is nothing to repair. The result still has to be checked.
#[must_use]
pub fn repair(arguments: &Map<String, Value>, schema: &Value) -> Option<Map<String, Value>> {
    let mut repaired = arguments.clone();
    let mut changed = false;
    for (name, value) in &mut repaired {
        let Some(property) = schema.get("properties").and_then(|properties| properties.get(name)) else { continue };
        let Some(text) = value.as_str() else { continue };
        let shape = Shape::of(property, schema, HOPS);
        if let Some(better) = parsed(text, &shape).or_else(|| recased(text, &shape)) {
            *value = better;
            changed = true;
        }
    }
    changed.then_some(repaired)
}

fn parsed(text: &str, shape: &Shape) -> Option<Value> {
    let types = shape.types.as_ref()?;
    if types.contains("string") {
        return None;
    }
    let value = json::parse(text, ARGUMENT_LEVELS - 1).ok()?;
    let fits = (value.is_object() && types.contains("object")) || (value.is_array() && types.contains("array"));
    fits.then_some(value)
}

fn recased(text: &str, shape: &Shape) -> Option<Value> {
    let words = shape.words.as_ref()?;
    if words.contains(text) {
        return None;
    }
    let lower = text.to_lowercase();
    let mut matching = words.iter().filter(|word| word.to_lowercase() == lower);
    match (matching.next(), matching.next()) {
        (Some(word), None) => Some(Value::from(word.as_str())),
        _ => None,
    }
}

/// What a schema says of types and words; none where it says nothing.
#[derive(Default)]
struct Shape {
    /// The types it takes.
    types: Option<BTreeSet<String>>,
    /// All strings it takes, where it lists them.
    words: Option<BTreeSet<String>>,
}

impl Shape {
    fn of(schema: &Value, root: &Value, hops: usize) -> Self {
        let mut shape = Self::default();
        if hops == 0 {
            return shape;
        }
        let target =
            schema["$ref"].as_str().and_then(|path| path.strip_prefix('#')).and_then(|path| root.pointer(path));
        if let Some(target) = target {
            shape.narrow(Self::of(target, root, hops - 1));
        }
        shape.narrow(Self { types: types_of(&schema["type"]), words: None });
        if let Some(values) = schema["enum"].as_array() {
            shape.narrow(Self::listing(values.iter()));
        }
        if let Some(value) = schema.get("const") {
            shape.narrow(Self::listing(std::iter::once(value)));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema[keyword].as_array() {
                shape.narrow(Self::any(branches.iter().map(|branch| Self::of(branch, root, hops - 1))));
            }
        }
        for branch in schema["allOf"].as_array().into_iter().flatten() {
            shape.narrow(Self::of(branch, root, hops - 1));
        }
        shape
    }

    fn listing<'a>(values: impl Iterator<Item = &'a Value> + Clone) -> Self {
        let words = values.clone().filter_map(Value::as_str).map(str::to_owned).collect();
        Self { types: Some(values.map(|value| type_of(value).to_owned()).collect()), words: Some(words) }
    }

    /// What fits one of these.
    fn any(branches: impl Iterator<Item = Self>) -> Self {
        let mut all = Self { types: Some(BTreeSet::new()), words: Some(BTreeSet::new()) };
        for branch in branches {
            let takes_strings = branch.types.as_ref().is_none_or(|types| types.contains("string"));
            all.words = match (all.words, branch.words) {
                (Some(words), Some(more)) => Some(&words | &more),
                (Some(words), None) if !takes_strings => Some(words),
                _ => None,
            };
            all.types = all.types.zip(branch.types).map(|(types, more)| &types | &more);
        }
        all
    }

    /// What fits this and the other.
    fn narrow(&mut self, other: Self) {
        let both = |a: Option<BTreeSet<String>>, b: Option<BTreeSet<String>>| match (a, b) {
            (Some(a), Some(b)) => Some(&a & &b),
            (a, b) => a.or(b),
        };
        self.types = both(self.types.take(), other.types);
        self.words = both(self.words.take(), other.words);
    }
}

fn types_of(declared: &Value) -> Option<BTreeSet<String>> {
    match declared {
        Value::String(one) => Some(BTreeSet::from([one.clone()])),
        Value::Array(several) => Some(several.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        _ => None,
    }
}

const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
