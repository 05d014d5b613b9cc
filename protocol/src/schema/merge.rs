//! Two descriptions of the same types become one set of definitions: shared where they agree, two names where not.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::Direction;

/// What a definition is called where the daemon reads it and it differs from what it writes.
const READ_SUFFIX: &str = "Input";
const PREFIX: &str = "#/$defs/";
/// Stands for [`PREFIX`] in what is read until it is known which names differ.
const READ_PREFIX: &str = "#/$read/";

/// Marks the references of a schema that is read by the daemon, so that [`definitions`] can tell them from the others.
pub(super) fn mark(mut schema: Value, sent: Direction) -> Value {
    if sent == Direction::ToDaemon {
        references(&mut schema, &mut |name| format!("{READ_PREFIX}{name}"));
    }
    schema
}

/// Adds `$defs` to the document and points every reference at the definition that is meant.
pub(super) fn definitions(document: &mut Value, mut read: Map<String, Value>, written: Map<String, Value>) {
    let different = different(&read, &written);
    for schema in read.values_mut() {
        references(schema, &mut |name| format!("{PREFIX}{}", read_name(name, &different)));
    }
    marked(document, &different);
    let mut all = written;
    for (name, schema) in read {
        all.insert(read_name(&name, &different), schema);
    }
    all.sort_keys();
    document["$defs"] = Value::Object(all);
}

/// The names whose definitions differ, or refer to one that does.
fn different(read: &Map<String, Value>, written: &Map<String, Value>) -> BTreeSet<String> {
    let shared = |name: &&String| written.contains_key(*name);
    let mut names: BTreeSet<String> =
        read.keys().filter(shared).filter(|name| read[*name] != written[*name]).cloned().collect();
    loop {
        let mut more = Vec::new();
        for name in read.keys().filter(shared).filter(|name| !names.contains(*name)) {
            let mut refers = false;
            references(&mut read[name].clone(), &mut |target| {
                refers |= names.contains(target);
                format!("{PREFIX}{target}")
            });
            if refers {
                more.push(name.clone());
            }
        }
        if more.is_empty() {
            return names;
        }
        names.extend(more);
    }
}

fn read_name(name: &str, different: &BTreeSet<String>) -> String {
    if different.contains(name) { format!("{name}{READ_SUFFIX}") } else { name.to_owned() }
}

/// Resolves the references that [`mark`] marked.
fn marked(value: &mut Value, different: &BTreeSet<String>) {
    each_reference(value, &mut |target| {
        target.strip_prefix(READ_PREFIX).map(|name| format!("{PREFIX}{}", read_name(name, different)))
    });
}

/// Rewrites every reference to a definition.
fn references(value: &mut Value, rewrite: &mut dyn FnMut(&str) -> String) {
    each_reference(value, &mut |target| target.strip_prefix(PREFIX).map(&mut *rewrite));
}

fn each_reference(value: &mut Value, rewrite: &mut dyn FnMut(&str) -> Option<String>) {
    match value {
        Value::Object(map) => {
            if let Some(target) = map.get("$ref").and_then(Value::as_str).and_then(&mut *rewrite) {
                map["$ref"] = json!(target);
            }
            map.values_mut().for_each(|child| each_reference(child, rewrite));
        }
        Value::Array(items) => items.iter_mut().for_each(|child| each_reference(child, rewrite)),
        _ => {}
    }
}
