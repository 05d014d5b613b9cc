//! Bounds what a schema's references can cost before anything follows them.
//!
//! A validator follows references while it checks a value. Without a bound, a few lines of definitions that name each
//! other twice cost 2^n, and a definition that applies itself to the same value never ends.

use std::collections::HashMap;

use serde_json::Value;

use super::SchemaProblem;
use crate::tools::json;

/// Subschemas of a schema, each counted as often as references lead to it.
const EXPANDED_NODES: u64 = 10_000;

/// Subschemas one inside the other, references followed.
const EXPANDED_LEVELS: usize = 256;

/// Keywords whose value is one schema, or a list of them, for another value than the one at hand.
const DEEPER: [&str; 8] = [
    "additionalProperties",
    "additionalItems",
    "items",
    "prefixItems",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is one schema, or a list of them, for the value at hand.
const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// Keywords whose value is a map of schemas, and whether those are for the value at hand.
const MAPS: [(&str, bool); 4] =
    [("properties", false), ("patternProperties", false), ("dependentSchemas", true), ("dependencies", true)];

/// Keywords that name another schema for the value at hand.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// How much a schema comes to when its references are followed, recursive ones once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Subschemas.
    pub(super) nodes: u64,
    /// Subschemas one inside the other.
    pub(super) levels: usize,
    /// Places where it begins anew inside itself; how often that happens depends on the value's own depth.
    pub(super) recursions: u64,
}

const LEAF: Extent = Extent { nodes: 1, levels: 1, recursions: 0 };

const RECURSION: Extent = Extent { nodes: 1, levels: 1, recursions: 1 };

/// Checks where the references of a schema lead, and how much they add up to.
pub(super) fn check(root: &Value) -> Result<Extent, SchemaProblem> {
    let mut walk = Walk { root, seen: HashMap::new(), in_place: HashMap::new() };
    let extent = walk.visit(&Place { schema: root, base: root, path: String::new(), level: 1, stays: false })?;
    let mut done = HashMap::new();
    walk.in_place.keys().try_for_each(|start| find_circle(&walk.in_place, *start, &mut done))?;
    Ok(extent)
}

/// A subschema, and how the walk came there.
struct Place<'a> {
    schema: &'a Value,
    /// What its references are relative to.
    base: &'a Value,
    path: String,
    level: usize,
    /// Whether it is for the same value as the subschema before it.
    stays: bool,
}

type Edges = HashMap<*const Value, Vec<(*const Value, String)>>;

struct Walk<'a> {
    root: &'a Value,
    /// The extent of each subschema; none while it is being counted.
    seen: HashMap<*const Value, Option<Extent>>,
    /// The steps that stay at the same value.
    in_place: Edges,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, place: &Place<'a>) -> Result<Extent, SchemaProblem> {
        let Value::Object(keywords) = place.schema else { return Ok(LEAF) };
        let here: *const Value = place.schema;
        if let Some(seen) = self.seen.get(&here) {
            return Ok(seen.unwrap_or(RECURSION));
        }
        self.seen.insert(here, None);
        let base = if keywords.get("$id").is_some_and(|id| !is_fragment(id)) { place.schema } else { place.base };
        let mut extent = LEAF;
        for step in self.steps(place, base)? {
            if step.stays {
                self.in_place.entry(here).or_default().push((step.schema, step.path.clone()));
            }
            let inner =
                if step.level > EXPANDED_LEVELS { Extent { levels: step.level, ..LEAF } } else { self.visit(&step)? };
            extent.nodes = extent.nodes.saturating_add(inner.nodes);
            extent.levels = extent.levels.max(1 + inner.levels);
            extent.recursions = extent.recursions.saturating_add(inner.recursions);
            if extent.nodes > EXPANDED_NODES {
                let reason = format!("comes to more than {EXPANDED_NODES} subschemas when its references are followed");
                return Err(refused(&place.path, reason));
            }
            if extent.levels > EXPANDED_LEVELS {
                let reason =
                    format!("goes more than {EXPANDED_LEVELS} subschemas deep when its references are followed");
                return Err(refused(&place.path, reason));
            }
        }
        self.seen.insert(here, Some(extent));
        Ok(extent)
    }

    /// The subschemas one step from here.
    fn steps(&self, place: &Place<'a>, base: &'a Value) -> Result<Vec<Place<'a>>, SchemaProblem> {
        let mut steps = Vec::new();
        let mut add = |schema: &'a Value, base: &'a Value, path: String, stays: bool| {
            steps.push(Place { schema, base, path, level: place.level + 1, stays });
        };
        for (keywords, stays) in [(&DEEPER[..], false), (&IN_PLACE[..], true)] {
            for keyword in keywords {
                let path = json::join(&place.path, keyword);
                match &place.schema[*keyword] {
                    Value::Array(schemas) => {
                        for (index, schema) in schemas.iter().enumerate() {
                            add(schema, base, json::join(&path, &index.to_string()), stays);
                        }
                    }
                    schema @ Value::Object(_) => add(schema, base, path, stays),
                    _ => {}
                }
            }
        }
        for (keyword, stays) in MAPS {
            let path = json::join(&place.path, keyword);
            for (name, schema) in place.schema[keyword].as_object().into_iter().flatten() {
                add(schema, base, json::join(&path, name), stays);
            }
        }
        for keyword in REFERENCES {
            let Some(reference) = place.schema[keyword].as_str() else { continue };
            let path = json::join(&place.path, keyword);
            let target = self.resolve(reference, base).ok_or_else(|| {
                let reason =
                    "leads to no place inside this schema (`#/…` or the name of an anchor); nothing is fetched";
                refused(&path, reason.to_owned())
            })?;
            add(target, base, path, true);
        }
        Ok(steps)
    }

    fn resolve(&self, reference: &str, base: &'a Value) -> Option<&'a Value> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return base.pointer(&percent_decoded(fragment)?);
        }
        find_anchor(base, fragment).or_else(|| find_anchor(self.root, fragment))
    }
}

/// Looks for a way from a subschema to itself that never leaves the value at hand. `done` tells what has been looked at, and
/// whether that is finished.
fn find_circle(edges: &Edges, at: *const Value, done: &mut HashMap<*const Value, bool>) -> Result<(), SchemaProblem> {
    if done.contains_key(&at) {
        return Ok(());
    }
    done.insert(at, false);
    for (next, path) in edges.get(&at).into_iter().flatten() {
        if done.get(next) == Some(&false) {
            let reason = "leads back to itself without going deeper into the value";
            return Err(refused(path, reason.to_owned()));
        }
        find_circle(edges, *next, done)?;
    }
    done.insert(at, true);
    Ok(())
}

fn is_fragment(id: &Value) -> bool {
    id.as_str().is_none_or(|id| id.starts_with('#'))
}

fn find_anchor<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    match schema {
        Value::Object(keywords) => {
            let named = |keyword: &str| keywords.get(keyword).and_then(Value::as_str);
            let is_it = named("$anchor") == Some(name)
                || named("$dynamicAnchor") == Some(name)
                || ["$id", "id"].iter().any(|id| named(id).and_then(|id| id.strip_prefix('#')) == Some(name));
            if is_it { Some(schema) } else { keywords.values().find_map(|value| find_anchor(value, name)) }
        }
        Value::Array(items) => items.iter().find_map(|value| find_anchor(value, name)),
        _ => None,
    }
}

/// A pointer in a reference is a fragment of a URI, where some characters are written as `%` and two hex digits.
fn percent_decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

fn refused(path: &str, reason: String) -> SchemaProblem {
    SchemaProblem::Refused { path: path.to_owned(), reason }
}
