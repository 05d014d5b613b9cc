//! Checks arguments and results against the JSON Schema a tool came with, within bounds on size, depth and time.

use std::{fmt, thread};

use jsonschema::{PatternOptions, Validator};
use ropewalk_protocol::{Problem, limits};
use serde_json::Value;
use thiserror::Error;

use self::references::Extent;
use super::json;

mod cache;
mod reasons;
mod references;
#[cfg(test)]
mod tests;

pub use cache::SchemaCache;

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

/// Steps that finding all errors of a value may take; beyond it only whether there are any is found out.
const MAX_STEPS: f64 = 65_536.0;

/// Subschemas one inside the other, levels of the value counted, that any stack of ours has room for.
const SHALLOW: usize = 400;

/// A stack with room for the deepest schema on the deepest value. Only what is used of it is ever backed by memory.
const DEEP_STACK_BYTES: usize = 64 << 20;

/// A schema made ready for checking. Make it once per digest: making one takes far longer than checking with it.
pub struct Schema {
    validator: Validator,
    extent: Extent,
}

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
        let extent = references::check(schema)?;
        let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
        let validator = options.build(schema).map_err(|error| reasons::of_schema(&error))?;
        Ok(Self { validator, extent })
    }

    /// Checks a value.
    ///
    /// # Errors
    /// What is wrong with it: at most five problems, each with the path of a property and a reason that never repeats the
    /// value.
    pub fn check(&self, value: &Value) -> Result<(), Vec<Problem>> {
        let levels = 1 + json::levels(value);
        let is_recursive = self.extent.recursions > 0;
        if is_recursive && levels * self.extent.levels > SHALLOW {
            return on_a_deep_stack(|| self.check_here(value, levels));
        }
        self.check_here(value, levels)
    }

    /// Whether a value fits is found out with every part looked at once. Its errors are not: a recursive schema with several
    /// ways to itself looks at an inner part once for each combination of them.
    fn check_here(&self, value: &Value, levels: usize) -> Result<(), Vec<Problem>> {
        if self.validator.is_valid(value) {
            return Ok(());
        }
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let steps = (self.extent.recursions as f64).powf(levels as f64);
        let told: Vec<Problem> = if steps > MAX_STEPS {
            Vec::new()
        } else {
            let errors = self.validator.iter_errors(value);
            errors.flat_map(|error| reasons::of_value(&error, value)).take(MAX_PROBLEMS).collect()
        };
        if told.is_empty() {
            let reason = "does not fit the schema, and is nested too deep to say where".to_owned();
            return Err(vec![Problem { path: String::new(), reason }]);
        }
        Err(told)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("extent", &self.extent).finish_non_exhaustive()
    }
}

/// A recursive schema goes as deep as the value and as the schema itself, one multiplied by the other. An overflow would end
/// the daemon, so such a check gets a thread of its own; without one the value counts as not checked.
fn on_a_deep_stack(check: impl FnOnce() -> Result<(), Vec<Problem>> + Send) -> Result<(), Vec<Problem>> {
    let not_checked = || {
        let reason = "is nested too deep to be checked".to_owned();
        Err(vec![Problem { path: String::new(), reason }])
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(DEEP_STACK_BYTES).spawn_scoped(scope, check);
        thread.map_or_else(|_| not_checked(), |thread| thread.join().unwrap_or_else(|_| not_checked()))
    })
}
