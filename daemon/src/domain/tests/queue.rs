//! Submitting, waiting, and what a run's end does to what waits.

use ropewalk_protocol::{OutcomeStatus, RunStatus, SubmitState, limits::QUEUE_ENTRIES};

use super::{
    bench::Bench,
    fixtures::{branch, outcome, submission, waiting},
};
use crate::domain::{DomainError, Effect};

#[test]
fn an_idle_branch_begins_a_run_and_stores_its_input_in_one_record() {
    let mut bench = Bench::new();
    let done = bench.submit("hello");
    assert_eq!(done.value.state, SubmitState::Running);
    assert_eq!(done.types(), ["runStarted", "itemCompleted"]);
    assert_eq!(done.effects, [Effect::Drive(done.value.run_id.clone())]);
    assert_eq!(bench.said(), ["user: hello"]);
    assert_eq!(bench.state.first_line.as_deref(), Some("hello"));
}

#[test]
fn a_busy_branch_queues_and_begins_what_waits_in_its_order() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value.run_id;
    let second = bench.submit("two");
    assert_eq!((second.value.state, second.types()), (SubmitState::Queued, vec!["queue added".to_owned()]));
    let third = bench.submit("three").value.run_id;
    assert_eq!(waiting(&bench), [second.value.run_id.clone(), third.clone()]);

    let done = bench.complete(&first, "done");
    let moved = ["runCompleted", "queue started", "runStarted", "itemCompleted"];
    assert_eq!(done.types()[2..], moved);
    assert_eq!(done.effects, [Effect::Abandon(first), Effect::Drive(second.value.run_id.clone())]);
    bench.complete(&second.value.run_id, "done too");
    assert_eq!(bench.state.branches[&branch()].branch.active_run_id, Some(third));
    assert_eq!(bench.said(), ["user: one", "assistant: done", "user: two", "assistant: done too", "user: three"]);
}

#[test]
fn the_input_beyond_the_limit_is_refused_and_nothing_changes() {
    let mut bench = Bench::new();
    let run = bench.submit("one").value.run_id;
    bench.change(|change| {
        for _ in 0..QUEUE_ENTRIES {
            change.submit(submission("more")).unwrap();
        }
    });
    let before = bench.state.clone();
    let done = bench.change(|change| change.submit(submission("too many")));
    assert_eq!(done.value, Err(DomainError::QueueFull(QUEUE_ENTRIES)));
    assert_eq!(bench.state, before);
    bench.complete(&run, "done");
    bench.submit("there is room again");
}

#[test]
fn an_unknown_branch_is_refused() {
    let mut bench = Bench::new();
    let elsewhere = crate::domain::Submission { branch_id: "b-9".into(), ..submission("hello") };
    let done = bench.change(|change| change.submit(elsewhere));
    assert_eq!(done.value, Err(DomainError::NoBranch("b-9".into())));
}

#[test]
fn ruling_1_a_bad_end_holds_what_waits_until_it_is_released() {
    for status in [OutcomeStatus::Failed, OutcomeStatus::Stopped, OutcomeStatus::Interrupted] {
        let mut bench = Bench::new();
        let run = bench.submit("one").value.run_id;
        let next = bench.submit("two").value.run_id;
        let done = bench.change(|change| change.finish_run(&run, outcome(status), &|_| None));
        assert_eq!(done.types(), ["runCompleted", "queue held"]);
        assert!(bench.state.branches[&branch()].branch.queue.held);
        assert_eq!(bench.submit("three").value.state, SubmitState::Queued, "a submit goes to the end");

        let done = bench.change(|change| change.release(&branch()));
        assert_eq!(done.value, (true, Some(next)));
        assert_eq!(done.types(), ["queue released", "queue started", "runStarted", "itemCompleted"]);
        let again = bench.change(|change| change.release(&branch()));
        assert_eq!((again.value, again.events.len()), ((false, None), 0), "there is nothing to release any more");
    }
}

#[test]
fn ruling_1_a_bad_end_with_nothing_behind_it_holds_nothing() {
    let mut bench = Bench::new();
    let run = bench.submit("one").value.run_id;
    assert_eq!(bench.stop(&run).types(), ["runCompleted"]);
    assert_eq!(bench.submit("two").value.state, SubmitState::Running);
}

#[test]
fn ruling_1_a_queue_that_is_emptied_is_held_no_more() {
    let mut bench = Bench::new();
    let run = bench.submit("one").value.run_id;
    let (second, third) = (bench.submit("two").value.run_id, bench.submit("three").value.run_id);
    bench.stop(&run);
    let done = bench.change(|change| change.drop_queued(&second));
    assert_eq!((done.value, done.types()), (true, vec!["queue removed".to_owned()]));
    assert!(bench.state.branches[&branch()].branch.queue.held, "one still waits");
    bench.change(|change| change.drop_queued(&third));
    assert!(!bench.state.branches[&branch()].branch.queue.held);
    assert!(!bench.change(|change| change.drop_queued(&third)).value, "it is not there any more");
    assert_eq!(bench.submit("four").value.state, SubmitState::Running);
}

#[test]
fn a_run_that_has_ended_stays_as_it_ended() {
    let mut bench = Bench::new();
    let run = bench.submit("one").value.run_id;
    bench.complete(&run, "done");
    assert!(bench.stop(&run).events.is_empty());
    assert!(bench.change(|change| change.run_waits(&run, None)).events.is_empty());
}

#[test]
fn a_parked_run_can_be_stopped_and_says_why_it_is_parked_no_more() {
    let mut bench = Bench::new();
    let run = bench.submit("one").value.run_id;
    bench.change(|change| change.park_run(&run));
    assert_eq!(bench.state.runs[&run].run.state, RunStatus::Paused);
    assert_eq!(bench.stop(&run).types(), ["runCompleted"]);
}
