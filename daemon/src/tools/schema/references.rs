//! Bounds what a schema's references can cost before anything follows them.
//!
//! A validator follows references while it checks a value. Without a bound, a few lines of definitions that name each
//! other twice cost 2^n, and a definition that applies itself to the same value never ends. References are resolved by the
//! validator's own registry, so that what is counted is what it will follow.

use std::{
    collections::{HashMap, HashSet},
    error::Error,
    ptr,
    sync::Arc,
};

use jsonschema::{Draft, Registry, RegistryBuilder, Retrieve, Uri, uri};
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

/// What a schema is called that names no place of its own; the validator calls it the same.
const NAMELESS: &str = "json-schema:///";

/// Checks where the references of a schema lead, and how much they add up to.
pub(super) fn check(root: &Value) -> Result<Extent, SchemaProblem> {
    let draft = Draft::default().detect(root);
    let resource = draft.create_resource_ref(root);
    let no_place = || refused("/$id", "names no place that references could be relative to".to_owned());
    let base = uri::from_str(resource.id().unwrap_or(NAMELESS)).map_err(|_| no_place())?;
    let registry = Registry::new().retriever(Nothing).draft(draft).add(base.as_str(), resource);
    let registry = registry.and_then(RegistryBuilder::prepare).map_err(|_| {
        let reason = "has an `$id`, a reference or a `$schema` that cannot be read; nothing is fetched";
        refused("", reason.to_owned())
    })?;
    // The validator takes for granted that a schema is found under its own name.
    if !registry.contains_resource(base.as_str()) {
        return Err(no_place());
    }
    let mut walk = Walk {
        registry: &registry,
        inside: HashSet::new(),
        dynamic: HashMap::new(),
        seen: HashMap::new(),
        in_place: HashMap::new(),
    };
    let start = Spot { schema: root, base: Arc::new(base), draft };
    walk.look_around(&start);
    let extent = walk.visit(&Place { spot: start, path: String::new(), level: 1, stays: false })?;
    let mut done = HashMap::new();
    walk.in_place.keys().try_for_each(|start| find_circle(&walk.in_place, start, &mut done))?;
    Ok(extent)
}

/// Retrieves nothing: what a reference outside finds is no part of the schema, and told by that.
struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Ok(Value::Bool(false))
    }
}

/// A value in a schema, and what its references are relative to, an `$id` of its own counted.
#[derive(Clone)]
struct Spot<'a> {
    schema: &'a Value,
    base: Arc<Uri<String>>,
    draft: Draft,
}

/// A subschema, and how the walk came there.
struct Place<'a> {
    spot: Spot<'a>,
    path: String,
    level: usize,
    /// Whether it is for the same value as the subschema before it.
    stays: bool,
}

/// The same value may be reached under several bases, and its references then lead to several places.
type Node = (*const Value, Arc<Uri<String>>);

type Edges = HashMap<Node, Vec<(Node, String)>>;

struct Walk<'a> {
    registry: &'a Registry<'a>,
    /// All values of the schema.
    inside: HashSet<*const Value>,
    /// What a dynamic reference may lead to besides where it seems to, by name; the empty name is `$recursiveAnchor`.
    dynamic: HashMap<&'a str, Vec<Spot<'a>>>,
    /// The extent of each subschema; none while it is being counted.
    seen: HashMap<Node, Option<Extent>>,
    /// The steps that stay at the same value.
    in_place: Edges,
}

impl<'a> Walk<'a> {
    /// Takes note of every value, and of what is named for dynamic references.
    fn look_around(&mut self, spot: &Spot<'a>) {
        self.inside.insert(ptr::from_ref(spot.schema));
        match spot.schema {
            Value::Array(items) => {
                for item in items {
                    self.look_around(&Spot { schema: item, ..spot.clone() });
                }
            }
            Value::Object(keywords) => {
                // Where this is no schema, its `$id` need not be one.
                let here = self.entered(spot).unwrap_or_else(|| spot.clone());
                if let Some(Value::String(name)) = keywords.get("$dynamicAnchor") {
                    self.dynamic.entry(name).or_default().push(here.clone());
                }
                if keywords.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
                    self.dynamic.entry("").or_default().push(here.clone());
                }
                for value in keywords.values() {
                    self.look_around(&Spot { schema: value, ..here.clone() });
                }
            }
            _ => {}
        }
    }

    fn visit(&mut self, place: &Place<'a>) -> Result<Extent, SchemaProblem> {
        if !place.spot.schema.is_object() {
            return Ok(LEAF);
        }
        let here = place.spot.node();
        if let Some(seen) = self.seen.get(&here) {
            return Ok(seen.unwrap_or(RECURSION));
        }
        self.seen.insert(here.clone(), None);
        let mut extent = LEAF;
        for step in self.steps(place)? {
            if step.stays {
                self.in_place.entry(here.clone()).or_default().push((step.spot.node(), step.path.clone()));
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
    fn steps(&self, place: &Place<'a>) -> Result<Vec<Place<'a>>, SchemaProblem> {
        let here = place.spot.schema;
        let mut inner = Vec::new();
        for (keywords, stays) in [(&DEEPER[..], false), (&IN_PLACE[..], true)] {
            for keyword in keywords {
                let path = json::join(&place.path, keyword);
                match &here[*keyword] {
                    Value::Array(schemas) => {
                        for (index, schema) in schemas.iter().enumerate() {
                            inner.push((schema, json::join(&path, &index.to_string()), stays));
                        }
                    }
                    schema @ Value::Object(_) => inner.push((schema, path, stays)),
                    _ => {}
                }
            }
        }
        for (keyword, stays) in MAPS {
            let path = json::join(&place.path, keyword);
            for (name, schema) in here[keyword].as_object().into_iter().flatten() {
                inner.push((schema, json::join(&path, name), stays));
            }
        }
        let mut steps = Vec::new();
        for (schema, path, stays) in inner {
            let outer = Spot { schema, ..place.spot.clone() };
            let spot = self.entered(&outer).ok_or_else(|| {
                refused(&json::join(&path, "$id"), "is no name that references could be relative to".to_owned())
            })?;
            steps.push(Place { spot, path, level: place.level + 1, stays });
        }
        for keyword in REFERENCES {
            let Some(reference) = here[keyword].as_str() else { continue };
            let path = json::join(&place.path, keyword);
            let found = self.resolve(reference, &place.spot).ok_or_else(|| {
                let reason = "leads to no place inside this schema (`#/…`, the name of an anchor, or an `$id` in it); \
                              nothing is fetched";
                refused(&path, reason.to_owned())
            })?;
            let name = if keyword == "$recursiveRef" { Some("") } else { anchor_in(reference) };
            let others = name.and_then(|name| self.dynamic.get(name)).into_iter().flatten().cloned();
            let spots = std::iter::once(found).chain(others);
            steps.extend(spots.map(|spot| Place { spot, path: path.clone(), level: place.level + 1, stays: true }));
        }
        Ok(steps)
    }

    /// A spot with its own `$id` and `$schema` counted, whose base is still that of what it stands in; none when the `$id`
    /// cannot be read.
    fn entered(&self, spot: &Spot<'a>) -> Option<Spot<'a>> {
        let draft = spot.draft.detect(spot.schema);
        let resource = draft.create_resource_ref(spot.schema);
        if resource.id().is_none() {
            return Some(Spot { draft, ..spot.clone() });
        }
        let inner = self.registry.resolver((*spot.base).clone()).in_subresource(resource).ok()?;
        Some(Spot { schema: spot.schema, base: inner.base_uri(), draft })
    }

    /// Where a reference leads, if that is inside the schema.
    fn resolve(&self, reference: &str, from: &Spot<'a>) -> Option<Spot<'a>> {
        let resolved = self.registry.resolver((*from.base).clone()).lookup(reference).ok()?;
        let (schema, resolver, draft) = resolved.into_inner();
        self.inside.contains(&ptr::from_ref(schema)).then(|| Spot { schema, base: resolver.base_uri(), draft })
    }
}

impl Spot<'_> {
    fn node(&self) -> Node {
        (ptr::from_ref(self.schema), Arc::clone(&self.base))
    }
}

/// Looks for a way from a subschema to itself that never leaves the value at hand. `done` tells what has been looked at, and
/// whether that is finished.
fn find_circle(edges: &Edges, at: &Node, done: &mut HashMap<Node, bool>) -> Result<(), SchemaProblem> {
    if done.contains_key(at) {
        return Ok(());
    }
    done.insert(at.clone(), false);
    for (next, path) in edges.get(at).into_iter().flatten() {
        if done.get(next) == Some(&false) {
            let reason = "leads back to itself without going deeper into the value";
            return Err(refused(path, reason.to_owned()));
        }
        find_circle(edges, next, done)?;
    }
    done.insert(at.clone(), true);
    Ok(())
}

/// The name of an anchor that a reference ends in.
fn anchor_in(reference: &str) -> Option<&str> {
    let (_, fragment) = reference.rsplit_once('#')?;
    (!fragment.is_empty() && !fragment.starts_with('/')).then_some(fragment)
}

fn refused(path: &str, reason: String) -> SchemaProblem {
    SchemaProblem::Refused { path: path.to_owned(), reason }
}
