//! Compaction: in every phase the chain stays valid, and the log, the rows and an index built anew lead to the same.

use ropewalk_protocol::OutcomeStatus;

use super::{
    bench::Bench,
    fixtures::{branch, compaction, outcome, told},
};
use crate::domain::{Fact, Line, Link};

fn line(bench: &Bench) -> Line {
    bench.state.branches[&branch()].line()
}

fn head(bench: &Bench) -> Link {
    line(bench).head.unwrap()
}

/// A thread with one turn, a second under way, and the end of the first.
fn two_turns() -> (Bench, ropewalk_protocol::RunId, Link) {
    let mut bench = Bench::new();
    let first = bench.submit("one").value.run_id;
    bench.complete(&first, "1");
    let end = head(&bench);
    let run = bench.submit("two").value.run_id;
    (bench, run, end)
}

#[test]
fn a_summary_takes_the_place_of_what_it_covers_and_the_log_keeps_it() {
    let (mut bench, run, end) = two_turns();
    let before = bench.state.runs[&run].run.clone();
    let done = bench.change(|change| change.compact(&run, compaction(end, "They counted.")));
    assert_eq!(done.types(), ["itemCompleted"], "people see a notice, and nothing else of it");
    assert_eq!(bench.said(), ["user: They counted.", "user: two"]);
    assert!(bench.chain()[0].message.summary && !bench.chain()[1].message.summary);
    let after = &bench.state.runs[&run].run;
    assert_eq!((after.usage.requests, after.usage.input_tokens), (2, 100), "what it cost is the run's");
    assert_eq!((after.steps, after.tool_calls), (before.steps, before.tool_calls), "it is no step");
    bench.complete(&run, "2");
    assert_eq!(bench.said(), ["user: They counted.", "user: two", "assistant: 2"]);
    let texts = bench.log.iter().flat_map(|kept| &kept.facts).filter(|fact| matches!(fact, Fact::Joined { .. }));
    assert_eq!(texts.count(), 4, "all that was said stays in the log");
}

#[test]
fn a_summary_may_cover_the_head_and_the_chain_goes_on_after_it() {
    let (mut bench, run, _) = two_turns();
    let covers = head(&bench);
    bench.change(|change| change.compact(&run, compaction(covers, "All of it.")));
    assert_eq!(bench.said(), ["user: All of it."]);
    let calls = bench.calls(&run, &["look"]);
    bench.change(|change| change.complete_call(&run, &calls[0], told("seen")));
    assert_eq!(bench.said(), ["user: All of it.", "assistant: ", "tool: seen"]);
    let covers = head(&bench);
    bench.change(|change| change.compact(&run, compaction(covers, "All of it, and more.")));
    bench.complete(&run, "done");
    assert_eq!(bench.said(), ["user: All of it, and more.", "assistant: done"]);
}

#[test]
fn k26_while_calls_are_worked_off_nothing_is_compacted() {
    let (mut bench, run, end) = two_turns();
    let calls = bench.calls(&run, &["look", "find"]);
    let during = bench.change(|change| change.compact(&run, compaction(end.clone(), "Too early.")));
    assert!(during.events.is_empty() && line(&bench).summary.is_none());
    bench.change(|change| change.complete_call(&run, &calls[0], told("one")));
    bench.change(|change| change.complete_call(&run, &calls[1], told("two")));
    bench.change(|change| change.compact(&run, compaction(end, "Now.")));
    assert_eq!(bench.said()[..2], ["user: Now.", "user: two"]);
}

#[test]
fn every_end_after_a_compaction_leaves_a_valid_history() {
    for status in [OutcomeStatus::Completed, OutcomeStatus::Failed, OutcomeStatus::Stopped] {
        let (mut bench, run, end) = two_turns();
        bench.change(|change| change.compact(&run, compaction(end, "They counted.")));
        bench.begin_text(&run);
        bench.change(|change| change.finish_run(&run, outcome(status), &|_| Some("half".to_owned())));
        assert_eq!(bench.said()[..2], ["user: They counted.", "user: two"]);
        let next = bench.submit("three").value.run_id;
        bench.change(|change| change.recover());
        bench.complete(&next, "3");
        assert_eq!(bench.said().last().unwrap(), "assistant: 3");
    }
}

#[test]
fn a_compaction_in_the_record_of_other_changes_is_found_again() {
    let (mut bench, run, end) = two_turns();
    bench.change(|change| {
        change.run_waits(&run, None);
        change.compact(&run, compaction(end, "They counted."));
        change.note(&run, "hint", "Mind the gap.".to_owned());
    });
    assert_eq!(bench.said(), ["user: They counted.", "user: two", "user: Mind the gap."]);
}

#[test]
fn a_compaction_of_a_run_that_is_over_writes_nothing() {
    let (mut bench, run, end) = two_turns();
    bench.stop(&run);
    let late = bench.change(|change| change.compact(&run, compaction(end, "Too late.")));
    assert!(late.events.is_empty() && line(&bench).summary.is_none());
}
