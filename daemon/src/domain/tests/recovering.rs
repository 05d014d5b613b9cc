//! Continuing runs that have ended badly: what is listed is what is accepted, in every state there is.

use ropewalk_protocol::{
    Event, Item, ItemBody, ItemState, OutcomeStatus, Recovery, Run, RunError, RunErrorKind, RunId, RunOutcome,
    RunStatus,
};
use serde_json::json;

use super::{
    bench::{Bench, Done},
    fixtures::{branch, compaction, outcome, remark, submission, told, waiting},
};
use crate::domain::{BadEnd, Change, DomainError, Effect, PauseReason, Used};

const ALL: [Recovery; 4] = [Recovery::Resume, Recovery::Retry, Recovery::Rebase, Recovery::Skip];

fn end(bench: &Bench) -> Option<&BadEnd> {
    bench.state.branches[&branch()].bad_end.as_ref()
}

fn listed(bench: &Bench) -> Vec<Recovery> {
    let state = &bench.state.branches[&branch()];
    let of_active = state.branch.active_run_id.as_ref().map(|run| bench.state.runs[run].run.recovery.clone());
    let of_end = || end(bench).map(|end| end.recovery(&state.branch));
    of_active.or_else(of_end).unwrap_or_default()
}

/// Whether it would be accepted now, in a copy of the thread as it is.
fn is_accepted(bench: &Bench, how: Recovery) -> bool {
    let mut state = bench.state.clone();
    let mut change = crate::domain::Change::new(&mut state, bench.at, &bench.world);
    let active = change.state.branches[&branch()].branch.active_run_id.clone();
    match (how, active) {
        (Recovery::Skip, _) => change.release(&branch()).0,
        (Recovery::Resume, Some(run)) => change.resume_run(&run).is_ok(),
        _ => change.continue_run(how, &branch(), None).is_ok(),
    }
}

fn agrees(bench: &Bench, expected: &[Recovery], when: &str) {
    let accepted: Vec<_> = ALL.into_iter().filter(|how| is_accepted(bench, *how)).collect();
    let mut listed = listed(bench);
    listed.sort_by_key(|how| ALL.iter().position(|other| other == how));
    assert_eq!((&*accepted, &*listed), (expected, expected), "{when}: what is accepted, and what is listed");
}

fn fails(bench: &mut Bench, run: &RunId) -> Done<()> {
    bench.change(|change| change.finish_run(run, outcome(OutcomeStatus::Failed), &|_| None))
}

fn goes_on(bench: &mut Bench, how: Recovery) -> Done<RunId> {
    let done = bench.change(|change| change.continue_run(how, &branch(), Some("op".into())));
    Done { value: done.value.unwrap(), events: done.events, effects: done.effects }
}

fn started(done: &Done<RunId>) -> &Run {
    let run = done.events.iter().find_map(|event| match event {
        Event::RunStarted { run } => Some(run),
        _ => None,
    });
    run.expect("a run begins")
}

/// A run that ends in the record that begins it, because the message its input was to follow is gone.
fn parentless(bench: &mut Bench) -> RunId {
    let submitted = submission("follow that");
    let run_id: RunId = "run-p".into();
    let template = bench.submit("first").value.run_id;
    let template = bench.state.runs[&template].run.clone();
    bench.stop(&template.run_id);
    let run = Run { run_id: run_id.clone(), message_id: "m-p".into(), ..template };
    let item = Item {
        item_id: "it-p".into(),
        run_id: Some(run_id.clone()),
        branch_id: branch(),
        state: ItemState::Completed,
        started_at: bench.at,
        ended_at: Some(bench.at),
        summary: None,
        severity: None,
        body: ItemBody::UserMessage {
            message_id: "m-p".into(),
            content: submitted.input,
            sender: None,
            delivery: ropewalk_protocol::Delivery::Turn,
        },
    };
    let error = RunError {
        kind: RunErrorKind::ParentMissing,
        message: "The message it was to follow is gone.".to_owned(),
        retryable: false,
        retry_after_ms: None,
        provider: None,
    };
    bench.change(|change| {
        change.event(Event::RunStarted { run });
        change.event(Event::ItemCompleted { item });
        let outcome = RunOutcome { error: Some(error), ..outcome(OutcomeStatus::Failed) };
        change.finish_run(&run_id, outcome, &|_| None);
    });
    run_id
}

#[test]
fn what_is_listed_is_what_is_accepted_in_every_state() {
    let mut bench = Bench::new();
    agrees(&bench, &[], "nothing has happened");
    let run = bench.submit("one").value.run_id;
    agrees(&bench, &[], "a run works");
    bench.change(|change| change.pause_run(&run, PauseReason::Budget, "Enough.".to_owned()));
    agrees(&bench, &[Recovery::Resume], "a run is paused");
    bench.change(|change| change.resume_run(&run)).value.unwrap();
    agrees(&bench, &[], "it goes on");
    bench.complete(&run, "done");
    agrees(&bench, &[], "it has completed");
    for status in [OutcomeStatus::Failed, OutcomeStatus::Stopped, OutcomeStatus::Interrupted] {
        let run = bench.submit("two").value.run_id;
        bench.change(|change| change.finish_run(&run, outcome(status), &|_| None));
        agrees(&bench, &[Recovery::Resume, Recovery::Retry], "it has ended badly with nothing behind it");
    }
    let run = bench.submit("three").value.run_id;
    bench.submit("behind");
    agrees(&bench, &[], "a run works and another waits");
    bench.stop(&run);
    agrees(&bench, &[Recovery::Resume, Recovery::Retry, Recovery::Skip], "it has ended badly and holds another");
    bench.change(|change| change.clear_queue(&branch())).value.unwrap();
    agrees(&bench, &[Recovery::Resume, Recovery::Retry], "what was held is gone");
    let next = goes_on(&mut bench, Recovery::Resume).value;
    agrees(&bench, &[], "a run continues it");
    bench.complete(&next, "done");
    agrees(&bench, &[], "and has completed");
    parentless(&mut bench);
    agrees(&bench, &[Recovery::Rebase], "an input has lost its parent");
}

#[test]
fn a_resume_asks_again_with_the_chain_as_it_is_and_carries_over_what_was_asked_for() {
    let mut bench = Bench::new();
    let asked = crate::domain::Submission {
        asked_endpoint: Some("big".into()),
        unattended: ropewalk_protocol::Unattended::Wait,
        output_schema: Some(json!({"type": "string"})),
        ..submission("go")
    };
    let run = bench.change(|change| change.submit(asked)).value.unwrap().run_id;
    let call = bench.calls(&run, &["look"]).remove(0);
    bench.change(|change| change.complete_call(&run, &call, told("seen")));
    bench.change(|change| change.repair(&run, "It is not JSON.".to_owned()));
    bench.change(|change| change.pin_tools(&run, vec!["find".to_owned()], 5));
    let said = bench.said();
    fails(&mut bench, &run);

    let done = goes_on(&mut bench, Recovery::Resume);
    assert_eq!(
        (done.types(), &done.effects),
        (vec!["runStarted".to_owned()], &vec![Effect::Drive(done.value.clone())])
    );
    let next = started(&done).clone();
    assert_eq!((&next.previous_run_id, next.state), (&Some(run.clone()), RunStatus::Running));
    assert_eq!((next.steps, next.tool_calls, next.usage.requests), (0, 0, 0), "its budgets begin anew");
    assert_eq!((next.endpoint_id.as_str(), next.unattended), ("big", ropewalk_protocol::Unattended::Wait));
    assert_eq!((next.operation_id.as_deref(), next.outcome), (Some("op"), None));
    assert_eq!(bench.said(), said);
    let state = &bench.state.runs[&done.value];
    assert_eq!((&state.output_schema, state.repairs), (&Some(json!({"type": "string"})), 0));
    assert_eq!(state.pinned, ["find"]);
    assert_eq!(state.used(bench.at), Used { tool_calls: 0, tokens: 0, worked_ms: 0 });
    fails(&mut bench, &done.value);
    let third = goes_on(&mut bench, Recovery::Retry);
    assert_eq!(bench.said(), ["user: go"], "the input of the first run is that of all that continue it");
    assert_eq!(bench.state.runs[&third.value].output_schema, Some(json!({"type": "string"})));
}

#[test]
fn ruling_14_a_retry_puts_the_head_on_its_input_and_what_came_of_it_stays_in_the_log() {
    let mut bench = Bench::new();
    let before = bench.submit("before").value.run_id;
    bench.complete(&before, "yes");
    let submitted = bench.submit("go").value;
    let run = submitted.run_id;
    let call = bench.calls(&run, &["look"]).remove(0);
    bench.change(|change| change.complete_call(&run, &call, told("seen")));
    bench.begin_text(&run);
    bench.change(|change| change.finish_run(&run, outcome(OutcomeStatus::Failed), &|_| Some("Half".to_owned())));
    assert_eq!(bench.said().len(), 6);
    let log = bench.log.len();

    let done = goes_on(&mut bench, Recovery::Retry);
    assert_eq!(done.types(), ["branchUpdated", "runStarted"]);
    let Event::BranchUpdated { branch: shown } = &done.events[0] else { panic!("the head moves first") };
    assert_eq!(shown.head_message_id.as_ref(), Some(&submitted.message_id));
    assert_eq!(started(&done).message_id, submitted.message_id);
    assert_eq!(bench.said(), ["user: before", "assistant: yes", "user: go"]);
    assert_eq!(bench.log.len(), log + 1, "nothing was taken out of the log");
    bench.complete(&done.value, "there");
    assert_eq!(bench.said()[2..], ["user: go", "assistant: there"]);
}

#[test]
fn k37_what_people_remarked_since_the_input_is_no_part_of_what_came_of_it_and_is_said_again() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    bench.change(|change| change.remark(remark("not on production", Some(&run)))).value.unwrap();
    bench.change(|change| change.deliver_remarks(&run));
    let call = bench.calls(&run, &["look"]).remove(0);
    bench.change(|change| change.remark(remark("it is slow today", None))).value.unwrap();
    bench.change(|change| change.complete_call(&run, &call, told("seen")));
    bench.change(|change| change.note(&run, "outputRepair", "It is not JSON.".to_owned()));
    fails(&mut bench, &run);
    let aside = bench.change(|change| change.remark(remark("the key is right now", None))).value.unwrap();
    assert_eq!(bench.said().len(), 7);
    let remarked = ["user: go", "user: not on production", "user: it is slow today", "user: the key is right now"];
    let done = goes_on(&mut bench, Recovery::Retry);
    assert_eq!(done.types(), ["branchUpdated", "runStarted"]);
    let Event::BranchUpdated { branch: shown } = &done.events[0] else { panic!("the head moves first") };
    assert_eq!(shown.head_message_id.as_ref(), Some(&aside.message_id));
    assert_eq!(bench.said(), remarked);

    let call = bench.calls(&done.value, &["look"]).remove(0);
    bench.change(|change| change.complete_call(&done.value, &call, told("seen")));
    fails(&mut bench, &done.value);
    let resumed = goes_on(&mut bench, Recovery::Resume).value;
    assert_eq!(bench.said().len(), 6);
    fails(&mut bench, &resumed);
    let again = goes_on(&mut bench, Recovery::Retry).value;
    assert_eq!(bench.said(), remarked, "and once, however often it is tried");
    bench.complete(&again, "done");
    let next = bench.submit("next").value.run_id;
    fails(&mut bench, &next);
    goes_on(&mut bench, Recovery::Retry);
    assert_eq!(bench.said()[4..], ["assistant: done", "user: next"], "each input has its own");
}

#[test]
fn ruling_1_a_run_that_continues_another_releases_what_is_held_and_goes_before_it() {
    for how in [Recovery::Resume, Recovery::Retry] {
        let mut bench = Bench::new();
        let run = bench.submit("one").value.run_id;
        let behind = bench.submit("two").value.run_id;
        bench.stop(&run);
        let done = goes_on(&mut bench, how);
        let moved = vec!["branchUpdated".to_owned(); usize::from(how == Recovery::Retry)];
        assert_eq!(done.types(), [moved, vec!["queue released".to_owned(), "runStarted".to_owned()]].concat());
        assert_eq!(waiting(&bench), std::slice::from_ref(&behind));
        let ended = bench.complete(&done.value, "done");
        assert_eq!(ended.types()[3..], ["queue started", "runStarted", "itemCompleted"]);
        assert!(bench.state.runs.contains_key(&behind));
    }
}

#[test]
fn a_bad_end_after_a_bad_end_is_continued_from_the_later_one_and_nothing_is_continued_twice() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value.run_id;
    fails(&mut bench, &first);
    let second = bench.submit("two").value.run_id;
    let refused = bench.change(|change| change.continue_run(Recovery::Retry, &branch(), None));
    assert_eq!((refused.value, refused.events.len()), (Err(DomainError::NotRecoverable), 0), "the branch is busy");
    fails(&mut bench, &second);
    let done = goes_on(&mut bench, Recovery::Retry);
    assert_eq!(started(&done).previous_run_id, Some(second));
    assert_eq!(bench.said(), ["user: one", "user: two"], "what ended before it stays");
    let elsewhere = bench.change(|change| change.continue_run(Recovery::Retry, &"b-9".into(), None)).value;
    assert_eq!(elsewhere, Err(DomainError::NoBranch("b-9".into())));
    let skip = bench.change(|change| change.continue_run(Recovery::Skip, &branch(), None)).value;
    assert_eq!(skip, Err(DomainError::NotRecoverable), "a skip continues nothing");
}

#[test]
fn ruling_14_a_rebase_puts_the_input_on_the_head_under_its_own_message() {
    let mut bench = Bench::new();
    let run = parentless(&mut bench);
    assert_eq!(bench.said(), ["user: first"], "the input has not joined");
    let done = goes_on(&mut bench, Recovery::Rebase);
    assert_eq!(done.types(), ["branchUpdated", "runStarted"]);
    let Event::BranchUpdated { branch: shown } = &done.events[0] else { panic!("the head moves first") };
    assert_eq!(shown.head_message_id.as_deref(), Some("m-p"));
    assert_eq!(started(&done).previous_run_id, Some(run));
    assert_eq!(bench.said(), ["user: first", "user: follow that"]);
    fails(&mut bench, &done.value);
    agrees(&bench, &[Recovery::Resume, Recovery::Retry], "it is in the chain now");
    goes_on(&mut bench, Recovery::Retry);
    assert_eq!(bench.said(), ["user: first", "user: follow that"]);
}

#[test]
fn a_retry_whose_input_was_summarised_has_its_own_words_again() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    for _ in 0..2 {
        let call = bench.calls(&run, &["look"]).remove(0);
        bench.change(|change| change.complete_call(&run, &call, told("seen")));
    }
    let covers = bench.state.branches[&branch()].head.clone().unwrap();
    bench.change(|change| change.compact(&run, compaction(covers, "They looked.")));
    assert_eq!(bench.said().len(), 1);
    bench.change(|change| change.note(&run, "outputRepair", "Go on.".to_owned()));
    fails(&mut bench, &run);
    goes_on(&mut bench, Recovery::Retry);
    assert_eq!(bench.said(), ["user: go"]);

    let mut bench = Bench::new();
    let before = bench.submit("before").value.run_id;
    bench.complete(&before, "yes");
    let covers = bench.state.branches[&branch()].head.clone().unwrap();
    let run = bench.submit("go").value.run_id;
    bench.change(|change| change.compact(&run, compaction(covers, "They said yes.")));
    fails(&mut bench, &run);
    goes_on(&mut bench, Recovery::Retry);
    assert_eq!(bench.said(), ["user: They said yes.", "user: go"], "a summary of what came before stays");
}

#[test]
fn k17_calls_a_stop_left_without_a_result_say_whether_they_were_made() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["write", "look"]);
    let begun = crate::domain::Fact::Begun { run_id: run.clone(), call_id: calls[0].clone() };
    bench.change(|change| change.fact(begun));
    let done = bench.stop(&run);
    let effects = done.events.iter().filter_map(|event| match event {
        Event::ItemCompleted { item } => Some(serde_json::to_value(item).unwrap()["effect"].clone()),
        _ => None,
    });
    assert_eq!(effects.collect::<Vec<_>>(), [json!("unknown"), json!("none")]);
    goes_on(&mut bench, Recovery::Resume);
    let told: Vec<String> = bench.said().into_iter().filter(|said| said.starts_with("tool: ")).collect();
    assert!(told[0].contains("whether it took effect is unknown") && told[1].contains("It was not made"), "{told:?}");
}

#[test]
fn k50_a_run_whose_branch_is_gone_is_interrupted_and_says_so() {
    let mut bench = Bench::new();
    bench.submit("go");
    // A deletion ends the runs of its branch in its own record, so no log of ours says this.
    let mut state = bench.state.clone();
    state.branches.clear();
    let mut change = Change::new(&mut state, bench.at, &bench.world);
    change.recover();
    let Some(Event::RunCompleted { outcome, .. }) = change.events.last() else { panic!("it ends") };
    assert_eq!((outcome.status, outcome.reason.as_deref()), (OutcomeStatus::Interrupted, Some("branch_deleted")));
    assert!(state.runs.is_empty());
}
