//! Runs that are parked until somebody resumes them, and what counts against their budgets.

use ropewalk_protocol::{Event, InteractionId, OutcomeStatus, RunId, RunStatus, SubmitState, WaitingKind, WaitingOn};

use super::{
    bench::Bench,
    fixtures::{approval, calls, outcome, told, tool_call, waits_for},
};
use crate::domain::{DomainError, Effect, PauseReason, Used, World as _};

fn paused(bench: &mut Bench, reason: PauseReason) -> RunId {
    let run = bench.submit("go").value.run_id;
    let done = bench.change(|change| change.pause_run(&run, reason, "Enough.".to_owned()));
    assert_eq!(done.types(), ["itemCompleted", "runState"], "people are told why before they see that it is paused");
    assert_eq!(done.effects, [Effect::Abandon(run.clone())]);
    run
}

fn used(bench: &Bench, run: &RunId) -> Used {
    bench.state.runs[run].used(bench.at)
}

#[test]
fn ruling_15_a_paused_run_says_why_and_holds_its_branch() {
    for (reason, word) in [(PauseReason::Budget, "budget"), (PauseReason::Endpoint, "endpoint")] {
        let mut bench = Bench::new();
        let run = paused(&mut bench, reason);
        let shown = &bench.state.runs[&run].run;
        assert_eq!((shown.state, shown.reason.as_deref()), (RunStatus::Paused, Some(word)));
        assert_eq!(bench.submit("next").value.state, SubmitState::Queued);
        let again = bench.change(|change| change.pause_run(&run, reason, "Again.".to_owned()));
        assert!(again.events.is_empty(), "it is paused already");
    }
}

#[test]
fn a_paused_run_goes_on_under_its_id_and_one_that_is_not_paused_does_not() {
    let mut bench = Bench::new();
    let run = paused(&mut bench, PauseReason::Budget);
    let done = bench.change(|change| change.resume_run(&run));
    assert_eq!((done.value.clone(), done.types()), (Ok(()), vec!["runState".to_owned()]));
    assert_eq!(done.effects, [Effect::Drive(run.clone())]);
    let shown = &bench.state.runs[&run].run;
    assert_eq!((shown.state, shown.reason.as_deref()), (RunStatus::Running, None));
    let again = bench.change(|change| change.resume_run(&run));
    assert_eq!((again.value, again.events.len()), (Err(DomainError::NotPaused(RunStatus::Running)), 0));
    let unknown = bench.change(|change| change.resume_run(&"run-9".into()));
    assert_eq!(unknown.value, Err(DomainError::NoRun("run-9".into())));
}

#[test]
fn a_paused_run_survives_the_sweep_and_a_rescue_and_can_be_stopped() {
    let mut bench = Bench::new();
    let run = paused(&mut bench, PauseReason::Budget);
    assert!(bench.change(|change| change.park_run(&run)).events.is_empty());
    let swept = bench.change(|change| change.recover());
    assert_eq!((swept.events.len(), swept.effects.len()), (0, 0), "nobody drives it");
    let rescued = bench.change(|change| change.rescue(&outcome(OutcomeStatus::Failed)));
    assert_eq!((rescued.events.len(), rescued.effects.len()), (0, 0));
    assert_eq!(bench.stop(&run).types(), ["runCompleted"]);
}

#[test]
fn a_run_that_is_paused_between_its_calls_keeps_what_is_done_and_makes_the_rest_later() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["a", "b"]);
    bench.change(|change| change.complete_call(&run, &calls[0], told("a's")));
    bench.change(|change| change.pause_run(&run, PauseReason::Budget, "Enough.".to_owned()));
    assert_eq!(bench.said(), ["user: go"], "a message with calls joins with the last of their results");
    bench.change(|change| change.resume_run(&run)).value.unwrap();
    bench.change(|change| change.complete_call(&run, &calls[1], told("b's")));
    assert_eq!(bench.said()[2..], ["tool: a's", "tool: b's"]);

    bench.calls(&run, &["c"]);
    bench.change(|change| change.pause_run(&run, PauseReason::Budget, "Enough.".to_owned()));
    assert_eq!(bench.stop(&run).types(), ["itemCompleted", "runCompleted"]);
    let errors: Vec<_> = bench.chain().iter().filter_map(|message| message.message.is_error).collect();
    assert_eq!(errors, [false, false, true], "a stop answers the calls that were never made");
}

#[test]
fn what_is_used_counts_done_calls_and_tokens_and_starts_anew_with_a_resume() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["a", "b", "c"]);
    bench.change(|change| change.complete_call(&run, &calls[0], told("a's")));
    assert_eq!((used(&bench, &run).tool_calls, used(&bench, &run).tokens), (1, 13));
    bench.change(|change| change.pause_run(&run, PauseReason::Budget, "Enough.".to_owned()));
    bench.change(|change| change.resume_run(&run)).value.unwrap();
    assert_eq!(used(&bench, &run), Used { tool_calls: 0, tokens: 0, worked_ms: 0 });
    bench.change(|change| change.complete_call(&run, &calls[1], told("b's")));
    assert_eq!((used(&bench, &run).tool_calls, used(&bench, &run).tokens), (1, 0));
    assert_eq!(bench.state.runs[&run].run.tool_calls, 3, "the run itself counts on");
}

#[test]
fn time_counts_while_a_run_works_and_not_while_a_person_thinks_or_nobody_is_there() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["a", "b"]);
    assert_eq!(used(&bench, &run).worked_ms, 1_000, "a change of the bench takes a second");
    let (id, at): (InteractionId, _) = (bench.world.next_id().into(), bench.at);
    let opening = tool_call(&run, &calls[0], &id);
    bench.change(|change| {
        change.open_interaction(&id, opening);
        change.run_waits(&run, Some(waits_for(&id, at)));
    });
    bench.at = bench.at.plus_millis(10_000);
    bench.change(|change| change.complete_call(&run, &calls[0], told("a's")));
    assert_eq!(used(&bench, &run).worked_ms, 13_000, "a wait for a tool counts");

    let id: InteractionId = bench.world.next_id().into();
    let opening = approval(&run, &calls[1], &id);
    bench.change(|change| {
        change.open_interaction(&id, opening);
        change.run_waits(&run, Some(WaitingOn { kind: WaitingKind::Approval, ..waits_for(&id, at) }));
    });
    bench.at = bench.at.plus_millis(600_000);
    bench.change(|change| change.run_waits(&run, None));
    assert_eq!(used(&bench, &run).worked_ms, 14_000, "a wait for a person does not");

    bench.at = bench.at.plus_millis(3_600_000);
    bench.change(|change| change.recover());
    assert_eq!(used(&bench, &run).worked_ms, 14_000, "no daemon was there");
    bench.change(|change| change.complete_call(&run, &calls[1], told("b's")));
    assert_eq!(used(&bench, &run).worked_ms, 15_000);
}

#[test]
fn a_model_is_told_what_is_wrong_with_its_answer_and_how_often_is_counted() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    for repairs in 1..=2 {
        let done = bench.change(|change| change.repair(&run, "It is not JSON.".to_owned()));
        let Event::ItemCompleted { item } = &done.events[0] else { panic!("the note is an item") };
        assert_eq!(serde_json::to_value(item).unwrap()["sender"]["intent"], "outputRepair");
        assert_eq!(bench.state.runs[&run].repairs, repairs);
    }
    assert_eq!(bench.said()[1..], ["user: It is not JSON.", "user: It is not JSON."]);
    let stray = calls(&bench.world, &["a"]);
    bench.change(|change| change.answered(&run, stray));
}
