//! From types to closed JSON Schemas, and from JSON to arguments that hold nothing undeclared.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::result::ToolError;

/// The closed schema of a type as it is read.
pub(super) fn of<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12())
}

/// The closed schema of a type as it is written.
pub(crate) fn of_output<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn generate<T: JsonSchema>(mut settings: SchemaSettings) -> Value {
    // Models and their providers read inlined schemas more reliably than references; only recursion keeps them.
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(root) = &mut schema {
        root.remove("title");
    }
    close(&mut schema);
    open_extended(&mut schema);
    schema
}

/// Closes every object level that says itself what it consists of. Maps stay open.
fn close(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    for (keyword, value) in object.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties" | "$defs" | "patternProperties", Value::Object(members)) => {
                members.values_mut().for_each(close);
            }
            ("items" | "additionalProperties" | "contains" | "not", value) => close(value),
            ("prefixItems" | "anyOf" | "oneOf" | "allOf", Value::Array(members)) => members.iter_mut().for_each(close),
            _ => {}
        }
    }
    let says_what_else = ["additionalProperties", "unevaluatedProperties", "patternProperties"]
        .iter()
        .any(|key| object.contains_key(*key));
    if is_object(object) && !says_what_else {
        let closing = if compose(object) { "unevaluatedProperties" } else { "additionalProperties" };
        object.insert(closing.to_owned(), Value::Bool(false));
    }
}

fn is_object(schema: &Map<String, Value>) -> bool {
    schema.contains_key("properties")
        || match schema.get("type") {
            Some(Value::Array(types)) => types.iter().any(|name| name == "object"),
            name => name.and_then(Value::as_str) == Some("object"),
        }
}

/// Opens the definitions that some object extends by a reference beside its own properties: closed, each would refuse
/// what the other declares.
fn open_extended(schema: &mut Value) {
    let mut extended = Vec::new();
    collect_extended(schema, &mut extended);
    for pointer in extended {
        if let Some(Value::Object(definition)) = schema.pointer_mut(&pointer) {
            definition.remove("additionalProperties");
        }
    }
}

fn collect_extended(schema: &Value, extended: &mut Vec<String>) {
    match schema {
        Value::Object(object) => {
            if let (Some(Value::String(target)), true) = (object.get("$ref"), is_object(object)) {
                extended.extend(target.strip_prefix('#').map(str::to_owned));
            }
            object.values().for_each(|value| collect_extended(value, extended));
        }
        Value::Array(values) => values.iter().for_each(|value| collect_extended(value, extended)),
        _ => {}
    }
}

/// Opens the parts a composed object consists of, as each knows only its own properties. Says whether there are any.
fn compose(schema: &mut Map<String, Value>) -> bool {
    let mut composed = schema.contains_key("$ref");
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let Some(Value::Array(parts)) = schema.get_mut(keyword) else { continue };
        composed = true;
        for part in parts.iter_mut().filter_map(Value::as_object_mut) {
            for closing in ["additionalProperties", "unevaluatedProperties"] {
                if part.get(closing) == Some(&Value::Bool(false)) {
                    part.remove(closing);
                }
            }
        }
    }
    composed
}

/// Reads arguments and refuses what the type does not declare, also where serde would pass over it.
pub(super) fn read_arguments<A: DeserializeOwned>(arguments: Value) -> Result<A, ToolError> {
    let mut undeclared = Vec::new();
    let mut track = serde_path_to_error::Track::new();
    let reader = serde_path_to_error::Deserializer::new(arguments, &mut track);
    let read = serde_ignored::deserialize(reader, |path| undeclared.push(undeclared_pointer(&path)));
    match read {
        Err(error) => Err(invalid(&wrong_pointer(&track.path()), &error.to_string())),
        Ok(_) if !undeclared.is_empty() => {
            undeclared.truncate(5);
            Err(invalid(&undeclared.join(", "), "the tool declares no such property"))
        }
        Ok(arguments) => Ok(arguments),
    }
}

fn invalid(path: &str, reason: &str) -> ToolError {
    let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
    ToolError::with_code("invalid_arguments", format!("The arguments do not fit the tool: {place}{reason}."))
}

fn undeclared_pointer(path: &serde_ignored::Path<'_>) -> String {
    use serde_ignored::Path;
    match path {
        Path::Root => String::new(),
        Path::Seq { parent, index } => format!("{}/{index}", undeclared_pointer(parent)),
        Path::Map { parent, key } => format!("{}/{}", undeclared_pointer(parent), escape(key)),
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => {
            undeclared_pointer(parent)
        }
    }
}

fn wrong_pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => format!("/{}", escape(key)),
            Segment::Enum { variant } => format!("/{}", escape(variant)),
            Segment::Unknown => String::new(),
        })
        .collect()
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
