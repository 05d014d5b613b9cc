//! Reads what a model wrote as the arguments of a call.

use ropewalk_protocol::{Problem, limits};
use serde_json::{Map, Value};

use super::{
    CallFailure,
    json::{self, JsonProblem},
};

#[cfg(test)]
mod tests;

/// Levels of nesting of the arguments. Every message that carries arguments has up to eight levels around them and must
/// itself stay within [`limits::MAX_DEPTH`].
pub const ARGUMENT_LEVELS: usize = limits::MAX_DEPTH as usize - 8;

/// Why arguments are not taken. Neither holds any of the refused text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentProblem {
    /// They are no JSON: what is wrong and where.
    InvalidJson(String),
    /// They are JSON, but not the arguments of a call.
    Invalid(Problem),
}

impl From<ArgumentProblem> for CallFailure {
    fn from(problem: ArgumentProblem) -> Self {
        match problem {
            ArgumentProblem::InvalidJson(reason) => Self::InvalidJson { reason },
            ArgumentProblem::Invalid(problem) => Self::InvalidArguments { problems: vec![problem] },
        }
    }
}

/// Reads the arguments. Nothing, blanks and `null` are `{}`: models leave out what they have no use for.
///
/// # Errors
/// When the text is over the limit, no JSON, no object, or cannot be kept as it is (a repeated key, an integer beyond 64
/// bits).
pub fn parse_arguments(text: &str) -> Result<Map<String, Value>, ArgumentProblem> {
    let characters = text.chars().count() as u64;
    if characters > limits::ARGUMENT_CHARACTERS {
        let limit = limits::ARGUMENT_CHARACTERS;
        return Err(invalid("", format!("have {characters} characters; at most {limit} are allowed")));
    }
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match json::parse(text, ARGUMENT_LEVELS) {
        Ok(Value::Null) => Ok(Map::new()),
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(invalid("", "must be a JSON object")),
        Err(JsonProblem::Refused { path, reason }) => Err(invalid(&path, reason)),
        Err(problem @ JsonProblem::Syntax { .. }) => Err(ArgumentProblem::InvalidJson(problem.to_string())),
    }
}

fn invalid(path: &str, reason: impl Into<String>) -> ArgumentProblem {
    ArgumentProblem::Invalid(Problem { path: path.to_owned(), reason: reason.into() })
}
