//! Puts what a schema refers to where it is referred to.

use serde_json::{Map, Value, json};

/// How many schemas may come of one; what would be beyond that is any value.
const SCHEMAS: usize = 4_096;

/// Where definitions live; they are not needed once nothing refers to them.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// The schema with no reference at its root.
pub(super) fn at_root(schema: &Value) -> Value {
    let mut root = schema.clone();
    let mut seen = Vec::new();
    while let Some(reference) = root.get("$ref").and_then(Value::as_str).map(str::to_owned) {
        let target = target(schema, &reference).filter(|_| !seen.contains(&reference)).cloned();
        if let Some(members) = root.as_object_mut() {
            members.shift_remove("$ref");
            for (name, value) in target.as_ref().and_then(Value::as_object).into_iter().flatten() {
                members.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        seen.push(reference);
    }
    root
}

/// The schema with no reference anywhere.
pub(super) fn everywhere(schema: &Value) -> Value {
    let mut inliner = Inliner { document: schema, open: Vec::new(), left: SCHEMAS };
    let mut inlined = inliner.schema(schema);
    if let Some(root) = inlined.as_object_mut() {
        for definitions in DEFINITIONS {
            root.shift_remove(definitions);
        }
    }
    inlined
}

struct Inliner<'a> {
    document: &'a Value,
    /// The references that the schema under way stands for.
    open: Vec<String>,
    left: usize,
}

impl Inliner<'_> {
    fn schema(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(members) => self.object(members),
            Value::Array(elements) => elements.iter().map(|element| self.schema(element)).collect(),
            other => other.clone(),
        }
    }

    fn object(&mut self, members: &Map<String, Value>) -> Value {
        self.left = self.left.saturating_sub(1);
        let Some(reference) = members.get("$ref").and_then(Value::as_str) else {
            let members = members.iter().filter(|(name, _)| !DEFINITIONS.contains(&name.as_str()));
            return members.map(|(name, value)| (name.clone(), self.schema(value))).collect();
        };
        let target = target(self.document, reference);
        let is_endless = self.left == 0 || self.open.iter().any(|open| open == reference);
        let mut inlined = match target.filter(|_| !is_endless) {
            Some(target) => {
                self.open.push(reference.to_owned());
                let inlined = self.schema(target);
                self.open.pop();
                inlined
            }
            None => json!({"description": format!("A value of {reference}.")}),
        };
        if let Some(inlined) = inlined.as_object_mut() {
            for (name, value) in members.iter().filter(|(name, _)| *name != "$ref") {
                let value = self.schema(value);
                if name == "description" || !inlined.contains_key(name) {
                    inlined.insert(name.clone(), value);
                }
            }
        }
        inlined
    }
}

fn target<'a>(document: &'a Value, reference: &str) -> Option<&'a Value> {
    document.pointer(reference.strip_prefix('#')?)
}
