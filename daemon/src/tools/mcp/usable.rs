//! Which tools of a server can be used at all. One that cannot is shown with its reason, and hides no other.

use ropewalk_protocol::limits::{SCHEMA_BYTES, SCHEMA_LEVELS};
use serde_json::Value;
use thiserror::Error;

use super::{ListedTool, patterns::broken_pattern, without_patterns};
use crate::tools::{
    json,
    schema::{Schema, SchemaProblem},
};

/// Characters of a name that can be shown and called.
const NAME_CHARACTERS: usize = 128;

/// Characters of a broken pattern that are shown.
const PATTERN_CHARACTERS: usize = 80;

/// Why a tool cannot be used. As text: a stable word, a colon, and a sentence without its full stop.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unusable {
    /// Its name cannot be shown.
    #[error("bad_name: its name must be 1 to {NAME_CHARACTERS} characters without control characters")]
    BadName,
    /// Another tool of the server has the same name.
    #[error("repeated_name: the server lists more than one tool of this name")]
    RepeatedName,
    /// It is no tool for calls.
    #[error("task_required: it can be called as a task only, which this version cannot do")]
    TaskRequired,
    /// A schema is too large.
    #[error("schema_too_large: its {which} schema has {bytes} bytes; at most {SCHEMA_BYTES} are allowed")]
    SchemaTooLarge {
        /// `input` or `output`.
        which: &'static str,
        /// Bytes of it as JSON in UTF-8.
        bytes: u64,
    },
    /// A schema is nested too deep.
    #[error("schema_too_deep: its {which} schema has {levels} levels of nesting; at most {SCHEMA_LEVELS} are allowed")]
    SchemaTooDeep {
        /// `input` or `output`.
        which: &'static str,
        /// How deep it is.
        levels: u64,
    },
    /// A schema is not one of an object.
    #[error("schema_not_object: the type of its {which} schema must be \"object\"")]
    SchemaNotObject {
        /// `input` or `output`.
        which: &'static str,
    },
    /// A pattern of a schema is none.
    #[error("bad_pattern: the pattern at {at} of its {which} schema is no regular expression: {pattern}")]
    BadPattern {
        /// `input` or `output`.
        which: &'static str,
        /// Where in the schema.
        at: String,
        /// The beginning of it.
        pattern: String,
    },
    /// A schema cannot be checked with.
    #[error("bad_schema: its {which} schema cannot be used: {at} {reason}")]
    BadSchema {
        /// `input` or `output`.
        which: &'static str,
        /// Where in the schema.
        at: String,
        /// What is wrong there.
        reason: String,
    },
}

/// Whether a tool can be used as its server describes it.
///
/// # Errors
/// Why it cannot; that another tool has the same name is for whoever sees them all.
pub fn check_usable(tool: &ListedTool) -> Result<(), Unusable> {
    let characters = tool.name.chars().count();
    if !(1..=NAME_CHARACTERS).contains(&characters) || tool.name.chars().any(char::is_control) {
        return Err(Unusable::BadName);
    }
    if tool.needs_task {
        return Err(Unusable::TaskRequired);
    }
    check_schema("input", &tool.input_schema)?;
    tool.output_schema.as_deref().map_or(Ok(()), |schema| check_schema("output", schema))
}

fn check_schema(which: &'static str, schema: &Value) -> Result<(), Unusable> {
    let bytes = json::bytes_of(schema);
    if bytes > SCHEMA_BYTES {
        return Err(Unusable::SchemaTooLarge { which, bytes });
    }
    let levels = json::levels(schema) as u64;
    if levels > SCHEMA_LEVELS {
        return Err(Unusable::SchemaTooDeep { which, levels });
    }
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(Unusable::SchemaNotObject { which });
    }
    if let Some((at, pattern)) = broken_pattern(schema) {
        let pattern = pattern.chars().take(PATTERN_CHARACTERS).collect();
        return Err(Unusable::BadPattern { which, at, pattern });
    }
    Schema::compile(&without_patterns(schema)).map(drop).map_err(|problem| match problem {
        SchemaProblem::TooManyBytes(bytes) => Unusable::SchemaTooLarge { which, bytes },
        SchemaProblem::TooManyLevels(levels) => Unusable::SchemaTooDeep { which, levels },
        SchemaProblem::Refused { path, reason } => Unusable::BadSchema { which, at: path, reason },
    })
}
