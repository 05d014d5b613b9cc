//! Checks arguments and results against the JSON Schema a tool came with, within bounds on size, depth and time.

use std::fmt;

use jsonschema::{PatternOptions, Validator};
use ropewalk_protocol::{Problem, limits};
use serde_json::Value;
use thiserror::Error;

use super::json;

mod cache;
mod reasons;
mod references;

pub use cache::SchemaCache;
#[cfg(test)]
mod tests;

/// Problems that are told at once; a model that gets more of them does no better.
pub const MAX_PROBLEMS: usize = 5;

/// Why a schema is not taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SchemaProblem {
    /// More bytes than [`limits::SCHEMA_BYTES`].
    #[error("has {0} bytes")]
    TooManyBytes(u64),
    /// More levels of nesting than [`limits::SCHEMA_LEVELS`].
    #[error("has {0} levels of nesting")]
    TooManyLevels(u64),
    /// It is no schema we can check with.
    #[error("{path} {reason}")]
    Refused {
        /// Where, as a JSON Pointer into the schema.
        path: String,
        /// What is wrong there.
        reason: String,
    },
}

/// A schema made ready for checking. Make it once per digest: making one takes far longer than checking with it.
pub struct Schema(Validator);

impl Schema {
    /// Makes a schema ready: draft by `$schema`, else 2020-12. Nothing is ever fetched, references lead inside the schema
    /// only, and patterns are of the linear-time kind.
    ///
    /// # Errors
    /// When the schema is too large, is no valid schema of its draft, has a pattern with look-around or back-references,
    /// or references that lead outside, round in a circle, or to more work than anybody would want.
    pub fn compile(schema: &Value) -> Result<Self, SchemaProblem> {
        let bytes = schema.to_string().len() as u64;
        if bytes > limits::SCHEMA_BYTES {
            return Err(SchemaProblem::TooManyBytes(bytes));
        }
        let levels = json::levels(schema) as u64;
        if levels > limits::SCHEMA_LEVELS {
            return Err(SchemaProblem::TooManyLevels(levels));
        }
        references::check(schema)?;
        jsonschema::options()
            .offline()
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map(Self)
            .map_err(|error| reasons::of_schema(&error))
    }

    /// Checks a value.
    ///
    /// # Errors
    /// What is wrong with it: at most five problems, each with the path of a property and a reason that never repeats the
    /// value.
    pub fn check(&self, value: &Value) -> Result<(), Vec<Problem>> {
        let problems: Vec<Problem> =
            self.0.iter_errors(value).flat_map(|error| reasons::of_value(&error, value)).take(MAX_PROBLEMS).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}
