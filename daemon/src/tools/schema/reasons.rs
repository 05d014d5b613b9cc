//! Says what is wrong with a schema or a value in words a model or a person can act on, never repeating the value.

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use ropewalk_protocol::Problem;
use serde_json::{Map, Value};

use super::{MAX_PROBLEMS, SchemaProblem};
use crate::{context::cut::first_characters, tools::json};

/// Characters of a reason; an `enum` or a pattern can be as long as the schema.
const REASON_CHARACTERS: usize = 300;

/// Why a schema did not compile. The place is the keyword at fault.
pub(super) fn of_schema(error: &ValidationError<'_>) -> SchemaProblem {
    let path = error.instance_path().as_str().to_owned();
    let reason = match error.kind() {
        Kind::Format { format } if format == "regex" => {
            "is no regular expression of the linear-time kind (without look-around and back-references)".to_owned()
        }
        Kind::Referencing(_) => {
            "has a reference or a `$schema` that leads outside of it; nothing is fetched".to_owned()
        }
        _ => reason_of(error),
    };
    SchemaProblem::Refused { path, reason }
}

/// What is wrong with a value: one problem, or one for each property that should not be there. `root` is the whole value.
pub(super) fn of_value(error: &ValidationError<'_>, root: &Value) -> Vec<Problem> {
    let path = error.instance_path().as_str();
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unknown(path, unexpected.iter())
        }
        // Where a schema names no properties at all, the validator tells neither their names nor how many there are.
        Kind::FalseSchema if error.schema_path().as_str().ends_with("/additionalProperties") => {
            unknown(path, root.pointer(path).and_then(Value::as_object).into_iter().flat_map(Map::keys))
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![problem(json::join(path, name), "is missing".to_owned())]
        }
        _ => vec![problem(path.to_owned(), reason_of(error))],
    }
}

fn unknown<'a>(path: &str, names: impl Iterator<Item = &'a String>) -> Vec<Problem> {
    let problem = |name: &String| {
        problem(json::join(path, &first_characters(name, 80)), "is no known property; leave it out".to_owned())
    };
    names.take(MAX_PROBLEMS).map(problem).collect()
}

fn problem(path: String, reason: String) -> Problem {
    Problem { path, reason: first_characters(&reason, REASON_CHARACTERS) }
}

fn reason_of(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Type { kind } => format!("must be {}", types(kind)),
        Kind::Enum { options } => format!("must be one of {}", listed(options)),
        Kind::Constant { expected_value } => format!("must be {expected_value}"),
        Kind::Pattern { pattern } => format!("must match the pattern {pattern}"),
        Kind::Format { format } => format!("must have the format {format}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("must have at least {limit} properties"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} properties"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::AdditionalItems { limit } => format!("must have at most {limit} items"),
        Kind::UnevaluatedItems { .. } => "has items that are not allowed".to_owned(),
        Kind::UniqueItems => "must have no two equal items".to_owned(),
        Kind::Contains => "lacks an item that must be there".to_owned(),
        Kind::FalseSchema => "is not allowed here".to_owned(),
        Kind::PropertyNames { .. } => "has a property whose name is not allowed".to_owned(),
        Kind::OneOfMultipleValid { .. } => "fits more than one of the shapes of which it must fit one".to_owned(),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => none_fits(context, error),
        _ => "is not allowed by the schema".to_owned(),
    }
}

/// An optional value is often written as "a type or null": then the types say more than "none of the shapes".
fn none_fits(shapes: &[Vec<ValidationError<'static>>], whole: &ValidationError<'_>) -> String {
    let only_type = |errors: &Vec<ValidationError<'static>>| match errors.as_slice() {
        [error] if error.instance_path() == whole.instance_path() => match error.kind() {
            Kind::Type { kind } => Some(types(kind)),
            Kind::Constant { expected_value } => Some(expected_value.to_string()),
            Kind::Enum { options } => Some(format!("one of {}", listed(options))),
            _ => None,
        },
        _ => None,
    };
    let wanted: Option<Vec<String>> = shapes.iter().map(only_type).collect();
    match wanted {
        Some(wanted) if !wanted.is_empty() => format!("must be {}", wanted.join(" or ")),
        _ => "fits none of the shapes it may have".to_owned(),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => type_name(*one).to_owned(),
        TypeKind::Multiple(several) => several.iter().map(type_name).collect::<Vec<_>>().join(" or "),
    }
}

const fn type_name(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "a list",
        JsonType::Object => "an object",
    }
}

fn listed(options: &Value) -> String {
    let options = options.as_array().map_or(&[][..], Vec::as_slice);
    options.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
