//! Noticing that a run goes in a circle: first the model is told, later the run is ended (K12).

use ropewalk_protocol::{ItemState, RunErrorKind, RunId, Severity};
use serde_json::{Value, json};

use super::failed;
use crate::{
    context::cut::first_characters,
    domain::{CallEnd, Notice},
    engine::Turn,
    tools::{digest::exact_digest, json, path::ModelToolCall},
};

/// Steps in a row that repeat earlier ones until the model is told so.
const NOTICED_AFTER: u64 = 3;
/// Steps in a row that repeat earlier ones until the run ends.
const STUCK_AFTER: u64 = 10;
/// Characters of a digest: two results of a run are never the same by chance.
const DIGEST_CHARACTERS: usize = 16;
/// Calls of a step that are named where it repeats.
const NAMED_CALLS: usize = 5;
/// Characters of each of them.
const NAMED_CHARACTERS: usize = 80;

/// What stands for a call with its result: a poll whose results differ is no repetition.
pub fn digest_of(call: &ModelToolCall, end: &CallEnd) -> String {
    let made_with = call.veiled.as_ref().unwrap_or(&call.arguments);
    let arguments = json::parse(made_with, usize::MAX).map_or_else(
        |_| Value::String(made_with.clone()),
        |mut arguments| {
            arguments.sort_all_objects();
            arguments
        },
    );
    let is_error = end.state != ItemState::Completed;
    let mut digest = exact_digest(&json!([call.name, arguments, is_error, end.content]));
    digest.truncate(DIGEST_CHARACTERS);
    digest
}

/// What the calls of a step are called where they repeat.
pub fn described(calls: &[ModelToolCall]) -> String {
    let mut named: Vec<String> = Vec::new();
    for call in calls {
        let made_with = call.veiled.as_ref().unwrap_or(&call.arguments);
        let name = format!("{} {}", call.name, made_with.trim());
        let name = first_characters(name.trim_end(), NAMED_CHARACTERS);
        if named.len() < NAMED_CALLS && !named.contains(&name) {
            named.push(name);
        }
    }
    named.join(", ")
}

/// What follows when the last call of a step has its result and the step repeats earlier ones.
pub fn look_for_a_circle(turn: &mut Turn<'_>, run_id: &RunId, calls: &str) {
    let row = turn.change.repeated_steps(run_id);
    if row == NOTICED_AFTER {
        let text = format!(
            "The model has repeated calls for {row} steps, with the same results as before: {calls}. It was told so. After \
             {STUCK_AFTER} such steps the run ends."
        );
        turn.change.notice(run_id, Notice { code: "loop", text, severity: Severity::Warning });
        let told = format!(
            "Your last {row} steps repeated calls that you had made before in this run, and their results were the same: \
             {calls}. Repeating them brings nothing new. Try something else, or answer with what you have."
        );
        turn.change.note(run_id, "loopNotice", told);
    }
    if row >= STUCK_AFTER {
        let message = format!(
            "The model repeated itself for {row} steps, with calls and results that it had had before: {calls}. Ask in \
             another way, or give it what it lacks."
        );
        turn.finish_run(run_id, failed(RunErrorKind::Stuck, message, true));
    }
}
