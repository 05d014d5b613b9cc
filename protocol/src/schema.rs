//! The schema bundle: one JSON Schema document of everything on the wire, made from the types themselves.
//!
//! Other languages, the documentation and the handshake's `schemaHash` all come from it, so nothing can be on the wire
//! that is not described.

mod merge;
mod nulls;
mod tidy;

use std::{fmt::Write, sync::OnceLock};

use schemars::{
    SchemaGenerator,
    generate::{Contract, SchemaSettings},
};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

pub(crate) use nulls::NULL_CLEARS;

use crate::{Direction, ERROR_CODES, Event, Limits, METHODS, NOTIFICATIONS, PROTOCOL_VERSION, RequestId, RpcError};

/// The bundle: a JSON Schema 2020-12 document.
///
/// `$defs` has every type. `methods` maps a name to `{direction, mutates, description, params, result}` and
/// `notifications` to `{direction, description, params}`, where `params` and `result` are references into `$defs` and
/// `direction` is `toDaemon` or `toClient`. `errors` maps a kind to its code, `limits` a limit to its value.
///
/// What the daemon reads is described as it accepts it (fields with a default may be absent), what it writes as it
/// promises it: with room for new fields. A type that differs between the two has `Input` after its name where it is
/// read. `null` is named only where it means something; an optional field that is null is read as absent.
#[must_use]
pub fn bundle() -> Value {
    static BUNDLE: OnceLock<Value> = OnceLock::new();
    BUNDLE.get_or_init(generate).clone()
}

/// What `initialize` answers as `schemaHash`: SHA-256, in lower-case hex, over the RFC 8785 canonical form of the bundle.
#[must_use]
pub fn schema_hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| {
        let canonical = serde_json_canonicalizer::to_vec(&bundle()).expect("a JSON value has a canonical form");
        Sha256::digest(canonical).iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("a string can be written to");
            hex
        })
    })
}

/// The two descriptions of the types: as the daemon reads them and as it writes them.
struct Generators {
    read: SchemaGenerator,
    written: SchemaGenerator,
}

impl Generators {
    fn new() -> Self {
        let generator = |contract| {
            SchemaSettings::draft2020_12()
                .with(|settings| {
                    settings.contract = contract;
                    settings.meta_schema = None;
                })
                .into_generator()
        };
        Self { read: generator(Contract::Deserialize), written: generator(Contract::Serialize) }
    }

    /// The generator of what a sender in this direction sends.
    const fn of(&mut self, sent: Direction) -> &mut SchemaGenerator {
        match sent {
            Direction::ToDaemon => &mut self.read,
            Direction::ToClient => &mut self.written,
        }
    }
}

fn generate() -> Value {
    let mut generators = Generators::new();
    let mut methods = Map::new();
    for entry in METHODS {
        let params = (entry.params)(generators.of(entry.direction)).to_value();
        let result = (entry.result)(generators.of(answered(entry.direction))).to_value();
        methods.insert(
            entry.name.to_owned(),
            json!({
                "direction": direction_name(entry.direction),
                "mutates": entry.mutates,
                "description": sentence(entry.doc),
                "params": merge::mark(params, entry.direction),
                "result": merge::mark(result, answered(entry.direction)),
            }),
        );
    }
    let mut notifications = Map::new();
    for entry in NOTIFICATIONS {
        let params = (entry.params)(generators.of(entry.direction)).to_value();
        notifications.insert(
            entry.name.to_owned(),
            json!({
                "direction": direction_name(entry.direction),
                "description": sentence(entry.doc),
                "params": merge::mark(params, entry.direction),
            }),
        );
    }
    // Envelopes and events are reached through no parameter or result of their own name.
    let written = &mut generators.written;
    written.subschema_for::<RpcError>();
    written.subschema_for::<RequestId>();
    written.subschema_for::<Event>();

    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("urn:ropewalk:protocol:{PROTOCOL_VERSION}"),
        "title": "The wire of Ropewalk",
        "protocolVersion": PROTOCOL_VERSION,
        "methods": methods,
        "notifications": notifications,
        "errors": errors(),
        "limits": Limits::default(),
    });
    let mut read = generators.read.take_definitions(true);
    let mut written = generators.written.take_definitions(true);
    read.values_mut().for_each(nulls::absent_instead);
    written.values_mut().for_each(nulls::absent_instead);
    written.values_mut().for_each(tidy::open);
    merge::definitions(&mut document, read, written);
    tidy::tidy(&mut document);
    document
}

const fn answered(request: Direction) -> Direction {
    match request {
        Direction::ToDaemon => Direction::ToClient,
        Direction::ToClient => Direction::ToDaemon,
    }
}

const fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::ToDaemon => "toDaemon",
        Direction::ToClient => "toClient",
    }
}

/// A doc comment as one line.
fn sentence(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The wire's kinds and their codes.
fn errors() -> Map<String, Value> {
    ERROR_CODES.iter().map(|(kind, code)| (camel_case(kind), json!(code))).collect()
}

fn camel_case(pascal: &str) -> String {
    let mut characters = pascal.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
