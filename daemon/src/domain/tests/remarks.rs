//! Asides and steers: they wait for a step boundary of the run under way, and none is lost or said twice.

use ropewalk_protocol::{Delivery, Event, ItemBody, OutcomeStatus, RunId, SubmitState, limits::QUEUE_ENTRIES};

use super::{
    bench::{Bench, Done},
    fixtures::{branch, line, outcome, remark, submission, told, waiting},
};
use crate::domain::{DomainError, Remarked};

fn aside(bench: &mut Bench, text: &str) -> Done<Result<Remarked, DomainError>> {
    bench.change(|change| change.remark(remark(text, None)))
}

fn steer(bench: &mut Bench, text: &str, run: &RunId) -> Done<Result<Remarked, DomainError>> {
    bench.change(|change| change.remark(remark(text, Some(run))))
}

/// How the user messages of some events were delivered, and to which runs.
fn deliveries<T>(done: &Done<T>) -> Vec<(Delivery, Option<RunId>)> {
    let of = |event: &Event| match event {
        Event::ItemCompleted { item } => match &item.body {
            ItemBody::UserMessage { delivery, .. } => Some((*delivery, item.run_id.clone())),
            _ => None,
        },
        _ => None,
    };
    done.events.iter().filter_map(of).collect()
}

#[test]
fn ruling_13_on_an_idle_branch_an_aside_is_an_item_at_once_and_a_steer_is_refused() {
    let mut bench = Bench::new();
    let done = aside(&mut bench, "by the way");
    let remarked = done.value.as_ref().unwrap();
    assert_eq!((remarked.state, &remarked.run_id), (SubmitState::Recorded, &None));
    assert_eq!((done.types(), deliveries(&done)), (vec!["itemCompleted".to_owned()], vec![(Delivery::Aside, None)]));
    let refused = steer(&mut bench, "faster", &"run-1".into());
    assert_eq!((refused.value, refused.events.len()), (Err(DomainError::NothingToSteer), 0));
    let run = bench.submit("go").value.run_id;
    bench.complete(&run, "done");
    assert_eq!(bench.said(), ["user: by the way", "user: go", "assistant: done"]);
    let elsewhere = crate::domain::Remark { branch_id: "b-9".into(), ..remark("x", None) };
    let refused = bench.change(|change| change.remark(elsewhere));
    assert_eq!(refused.value, Err(DomainError::NoBranch("b-9".into())));
}

#[test]
fn ruling_13_while_calls_are_worked_off_a_remark_waits_and_joins_behind_their_results() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["look", "find"]);
    let steered = steer(&mut bench, "only the open ones", &run);
    assert_eq!(steered.types(), ["queue added"]);
    assert_eq!(steered.value.unwrap().run_id, Some(run.clone()), "the run it waits for");
    assert_eq!(aside(&mut bench, "it is slow today").value.unwrap().state, SubmitState::Queued);
    let early = bench.change(|change| change.deliver_remarks(&run));
    assert!(early.events.is_empty(), "never between calls and their results");
    for call in &calls {
        bench.change(|change| change.complete_call(&run, call, told("seen")));
    }
    let done = bench.change(|change| change.deliver_remarks(&run));
    assert_eq!(done.types(), ["queue started", "itemCompleted", "queue started", "itemCompleted"]);
    let both = [(Delivery::Steer, Some(run.clone())), (Delivery::Aside, Some(run.clone()))];
    assert_eq!(deliveries(&done), both);
    assert!(bench.change(|change| change.deliver_remarks(&run)).events.is_empty(), "once");
    bench.complete(&run, "done");
    let said = ["tool: seen", "tool: seen", "user: only the open ones", "user: it is slow today", "assistant: done"];
    assert_eq!(bench.said()[2..], said);
}

#[test]
fn ruling_13_a_steer_of_another_run_is_refused_with_the_one_under_way() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let next = bench.submit("next").value.run_id;
    let refused = steer(&mut bench, "faster", &next);
    assert_eq!((refused.value, refused.events.len()), (Err(DomainError::OtherRun(run)), 0));
}

#[test]
fn a_remark_passes_the_inputs_that_wait_for_their_turn() {
    let mut bench = Bench::new();
    let run = bench.submit("one").value.run_id;
    let second = bench.submit("two").value.run_id;
    aside(&mut bench, "by the way").value.unwrap();
    assert_eq!(line(&bench).len(), 2);
    bench.change(|change| change.deliver_remarks(&run));
    assert_eq!(
        (bench.said(), waiting(&bench)),
        (vec!["user: one".to_owned(), "user: by the way".to_owned()], vec![second])
    );
}

#[test]
fn a_run_that_ends_first_leaves_what_waited_for_it_recorded_behind_its_end() {
    for status in [OutcomeStatus::Completed, OutcomeStatus::Failed, OutcomeStatus::Stopped, OutcomeStatus::Interrupted]
    {
        let mut bench = Bench::new();
        let run = bench.submit("one").value.run_id;
        let next = bench.submit("two").value.run_id;
        let calls = bench.calls(&run, &["look"]);
        aside(&mut bench, "by the way").value.unwrap();
        steer(&mut bench, "faster", &run).value.unwrap();
        if status == OutcomeStatus::Completed {
            bench.change(|change| change.complete_call(&run, &calls[0], told("seen")));
        }
        let done = bench.change(|change| change.finish_run(&run, outcome(status), &|_| None));
        let types = done.types();
        let end = types.iter().position(|name| name == "runCompleted").unwrap();
        let recorded = ["queue started", "itemCompleted", "queue started", "itemCompleted"];
        assert_eq!(types[end + 1..end + 5], recorded);
        assert_eq!(deliveries(&done)[..2], [(Delivery::Aside, None), (Delivery::Steer, None)], "no run has them");
        assert_eq!(bench.said()[3..5], ["user: by the way", "user: faster"]);
        let queue = &bench.state.branches[&branch()].branch.queue;
        match status {
            OutcomeStatus::Completed => assert_eq!(types[end + 5..], ["queue started", "runStarted", "itemCompleted"]),
            _ => {
                assert_eq!((queue.held, queue.length, waiting(&bench)), (true, 1, vec![next]), "only the input is held")
            }
        }
    }
}

#[test]
fn a_bad_end_with_only_remarks_behind_it_holds_nothing() {
    let mut bench = Bench::new();
    let run = bench.submit("one").value.run_id;
    aside(&mut bench, "by the way").value.unwrap();
    assert_eq!(bench.stop(&run).types(), ["runCompleted", "queue started", "itemCompleted"]);
    assert_eq!(bench.submit("two").value.state, SubmitState::Running);
    assert_eq!(bench.said(), ["user: one", "user: by the way", "user: two"]);
}

#[test]
fn a_remark_is_edited_and_taken_back_like_anything_that_waits_and_its_run_goes_on() {
    let mut bench = Bench::new();
    let run = bench.submit("one").value.run_id;
    let first = aside(&mut bench, "by the way").value.unwrap().message_id;
    let second = steer(&mut bench, "faster", &run).value.unwrap().message_id;
    bench.change(|change| change.reorder_queue(&branch(), vec![second.clone(), first.clone()]).unwrap());
    let slower = vec![ropewalk_protocol::Part::text("slower")];
    bench.change(|change| change.update_queued(&branch(), &second, slower).unwrap());
    assert!(!bench.change(|change| change.drop_queued(&run)).value, "the run itself waits in no queue");
    bench.change(|change| change.remove_queued(&branch(), &first).unwrap());
    bench.change(|change| change.deliver_remarks(&run));
    bench.complete(&run, "done");
    assert_eq!(bench.said(), ["user: one", "user: slower", "assistant: done"]);
}

#[test]
fn remarks_count_against_the_limit_of_what_waits() {
    let mut bench = Bench::new();
    bench.submit("one");
    bench.change(|change| {
        for _ in 0..QUEUE_ENTRIES {
            change.remark(remark("by the way", None)).unwrap();
        }
    });
    assert_eq!(aside(&mut bench, "too many").value, Err(DomainError::QueueFull(QUEUE_ENTRIES)));
    let done = bench.change(|change| change.submit(submission("too many too")));
    assert_eq!(done.value, Err(DomainError::QueueFull(QUEUE_ENTRIES)));
}
