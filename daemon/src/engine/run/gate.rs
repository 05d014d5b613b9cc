//! What a run passes before each request of its model and before each call: room in its budgets, and an endpoint. One that
//! may not pass is parked there, with everything it has, until somebody resumes it.

use ropewalk_protocol::{RunId, Settings};

use super::report::{Over, Reporter};
use crate::{
    domain::{PauseReason, Used},
    engine::Turn,
};

/// How a run that is parked goes on.
const NEXT: &str = "The run is paused. `run/resume` lets it go on with the whole budget again, `run/stop` ends it, and \
                    `settings/update` changes the budget.";

/// Parks a run that may not ask its model again. Returns whether it did.
pub fn parks_step(turn: &mut Turn<'_>, run_id: &RunId) -> bool {
    let Some(state) = turn.state().runs.get(run_id) else { return false };
    let snapshot = turn.shared.catalogue.snapshot();
    if let Some(why) = over_budget(&snapshot.settings, state.used(turn.at())) {
        return turn.change.pause_run(run_id, PauseReason::Budget, format!("{why} {NEXT}"));
    }
    // One that has not begun to work fails with `noEndpoint` instead (ruling 29).
    let has_begun = state.run.steps > 0;
    let endpoint = snapshot.endpoints.get(&state.run.endpoint_id);
    if !has_begun || endpoint.is_some_and(|endpoint| endpoint.enabled) {
        return false;
    }
    let what = match endpoint {
        Some(endpoint) => format!("The run's endpoint {} is switched off.", endpoint.name),
        None => "The run's endpoint has been removed.".to_owned(),
    };
    let next = "The run is paused. Enable the endpoint, or choose another one for the thread, its project or as the default; \
                then `run/resume` lets it go on, and `run/stop` ends it.";
    turn.change.pause_run(run_id, PauseReason::Endpoint, format!("{what} {next}"))
}

/// Parks a run that may not make another call. Returns whether it did. What its model has said, the calls included, is
/// stored then.
pub async fn parks_call(reporter: &Reporter) -> Result<bool, Over> {
    let settings = reporter.shared().catalogue.snapshot().settings.clone();
    if settings.run_max_tool_calls.is_none() && settings.run_max_ms.is_none() {
        return Ok(false);
    }
    let why = reporter.look(move |turn, run_id| {
        let used = turn.state().runs.get(run_id)?.used(turn.at());
        over_calls(&settings, used).or_else(|| over_time(&settings, used))
    });
    let Some(why) = why.await? else { return Ok(false) };
    let text = format!("{why} {NEXT}");
    reporter.report(move |turn, run_id| turn.change.pause_run(run_id, PauseReason::Budget, text)).await
}

/// A run that has made as many calls as it may can still answer; only another call is over the budget.
fn over_budget(settings: &Settings, used: Used) -> Option<String> {
    over_tokens(settings, used).or_else(|| over_time(settings, used))
}

fn over_calls(settings: &Settings, used: Used) -> Option<String> {
    let limit = settings.run_max_tool_calls.filter(|limit| used.tool_calls >= *limit)?;
    let done = used.tool_calls;
    Some(format!("Tool calls the run has made: {done}. It would make another, and `runMaxToolCalls` is {limit}."))
}

fn over_tokens(settings: &Settings, used: Used) -> Option<String> {
    let limit = settings.run_max_tokens.filter(|limit| used.tokens >= *limit)?;
    Some(format!("The run has used {} tokens; `runMaxTokens` is {limit}.", used.tokens))
}

fn over_time(settings: &Settings, used: Used) -> Option<String> {
    let limit = settings.run_max_ms.filter(|limit| used.worked_ms >= *limit)?;
    Some(format!("The run has worked for {} ms; `runMaxMs` is {limit}.", used.worked_ms))
}
