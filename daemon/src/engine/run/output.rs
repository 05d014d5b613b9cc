//! Final answers as data: the model is told the schema, its answer is read and checked, and it may mend it twice.

use ropewalk_protocol::{OutcomeStatus, Problem, RunErrorKind, RunId, RunOutcome};
use serde_json::Value;

use super::{
    failed,
    report::{Over, Reporter},
    step::Stepped,
};
use crate::{
    domain::RunState,
    engine::Turn,
    tools::{
        Schema,
        arguments::ARGUMENT_LEVELS,
        json::{self, JsonProblem},
    },
};

#[cfg(test)]
mod tests;

/// How often a model is told what is wrong with its final answer.
const REPAIRS: u64 = 2;

/// What follows from a final answer.
#[derive(Debug, PartialEq)]
pub enum Judged {
    /// The run ends so.
    Ends(Box<RunOutcome>),
    /// The model is told this, and asked again.
    Repairs(String),
}

impl Judged {
    /// Whether it ends the run well.
    pub fn is_good_end(&self) -> bool {
        matches!(self, Self::Ends(outcome) if outcome.status == OutcomeStatus::Completed)
    }

    /// Writes down what follows, after the answer itself.
    pub fn write(self, turn: &mut Turn<'_>, run_id: &RunId) -> Stepped {
        match self {
            Self::Ends(outcome) => {
                turn.finish_run(run_id, *outcome);
                Stepped::Ended
            }
            Self::Repairs(text) => {
                turn.change.repair(run_id, text);
                Stepped::Again
            }
        }
    }
}

/// What the model is told of the schema, beside its other instructions. The same for every provider: their own strict modes
/// know fewer schemas than JSON Schema has, and would have to be given another one (K02).
pub fn instruction(state: &RunState) -> Option<String> {
    let schema = state.output_schema.as_ref()?;
    Some(format!(
        "Your final answer, the one without tool calls, must be a single JSON value that fits this JSON Schema. Answer with \
         the value alone: no other text before or after it, and no code fence.\n{schema}"
    ))
}

/// Looks at a final answer. `wants_data` is whether the run was asked for one that fits a schema: most are not, and cost their
/// thread nothing here.
pub async fn judge(reporter: &Reporter, text: String, wants_data: bool) -> Result<Judged, Over> {
    if !wants_data {
        return Ok(Judged::Ends(Box::new(completed(text, None))));
    }
    let wanted = reporter.look(|turn, run_id| {
        let state = turn.state().runs.get(run_id);
        state.and_then(|state| Some((state.output_schema.clone()?, state.repairs)))
    });
    Ok(match wanted.await? {
        None => Judged::Ends(Box::new(completed(text, None))),
        Some((schema, repairs)) => judge_by(&schema, repairs, text),
    })
}

fn judge_by(schema: &Value, repairs: u64, text: String) -> Judged {
    let problems = match Schema::compile(schema) {
        Ok(schema) => match read(&text).and_then(|value| check(&schema, value)) {
            Ok(value) => return Judged::Ends(Box::new(completed(text, Some(value)))),
            Err(problems) => problems,
        },
        // It was checked when it was submitted, so this is another version of the daemon.
        Err(problem) => {
            let message = format!("The schema of the answer cannot be used any more: it {problem}.");
            return Judged::Ends(Box::new(failed(RunErrorKind::Internal, message, false)));
        }
    };
    let problems = listed(&problems);
    if repairs < REPAIRS {
        return Judged::Repairs(format!(
            "Your answer does not fit the JSON Schema: {problems}. Answer again, with the whole JSON value and nothing else."
        ));
    }
    let message = format!(
        "The final answer does not fit the output schema, after {REPAIRS} repairs: {problems}. The answer is in the thread. \
         Ask again, with another model or a simpler schema."
    );
    Judged::Ends(Box::new(failed(RunErrorKind::OutputInvalid, message, true)))
}

/// Reads an answer as JSON: the value alone, or in one fence of `json`.
fn read(text: &str) -> Result<Value, Vec<Problem>> {
    let text = text.trim();
    if text.is_empty() {
        return Err(vec![whole("is empty")]);
    }
    let inside = fenced(text).unwrap_or(text);
    json::parse(inside, ARGUMENT_LEVELS).map_err(|problem| match problem {
        JsonProblem::Syntax { .. } => vec![whole(format!("is not JSON alone: {problem}"))],
        JsonProblem::Refused { path, reason } => vec![Problem { path, reason: reason.to_owned() }],
    })
}

/// What is inside of a fence, of `json` or of nothing named, that is all of the text.
fn fenced(text: &str) -> Option<&str> {
    let (opening, rest) = text.split_once('\n')?;
    let language = opening.strip_prefix("```")?.trim();
    (language.is_empty() || language.eq_ignore_ascii_case("json")).then_some(())?;
    rest.strip_suffix("```")
}

fn check(schema: &Schema, value: Value) -> Result<Value, Vec<Problem>> {
    schema.check(&value).map(|()| value)
}

fn whole(reason: impl Into<String>) -> Problem {
    Problem { path: String::new(), reason: reason.into() }
}

fn listed(problems: &[Problem]) -> String {
    let described = |problem: &Problem| match problem.path.as_str() {
        "" => format!("it {}", problem.reason),
        path => format!("{path} {}", problem.reason),
    };
    problems.iter().map(described).collect::<Vec<_>>().join("; ")
}

const fn completed(text: String, structured: Option<Value>) -> RunOutcome {
    RunOutcome { status: OutcomeStatus::Completed, text: Some(text), structured, reason: None, by: None, error: None }
}
