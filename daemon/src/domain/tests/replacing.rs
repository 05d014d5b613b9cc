//! Replacing a message: at once on an idle branch, in its turn on a busy one, and what is lost meanwhile.

use ropewalk_protocol::{Event, OutcomeStatus, Recovery, RunErrorKind, SubmitState};

use super::{
    bench::Bench,
    fixtures::{branch, compaction, outcome, remark},
};
use crate::domain::BranchError;

#[test]
fn ruling_14_a_replacement_moves_the_head_first_and_what_followed_leaves_the_chain() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    bench.complete(&first.run_id, "done");
    let second = bench.submit("two").value;
    bench.complete(&second.run_id, "done too");
    let answered = bench.messages().remove(1);
    let done = bench.replace(&branch(), &second.message_id, "three");
    assert_eq!(done.types(), ["branchUpdated", "runStarted", "itemCompleted"]);
    let Event::BranchUpdated { branch: moved } = &done.events[0] else { panic!("the head moves first") };
    assert_eq!((&moved.head_message_id, moved.revision), (&Some(answered), 2));
    assert_eq!(done.value.as_ref().unwrap().state, SubmitState::Running);
    assert_eq!(bench.said(), ["user: one", "assistant: done", "user: three"]);
    let left = bench.place(&second.message_id).expect("it stays in the log");
    assert!(left.branches.is_empty());
    bench.complete(&done.value.unwrap().run_id, "done again");

    // Whatever was replaced can be forked at, also where it is in no chain any more.
    let (id, _) = bench.fork(Some(&second.message_id), "after all").value;
    assert_eq!(bench.said_on(&id), ["user: one", "assistant: done", "user: two", "user: after all"]);
}

#[test]
fn the_first_message_can_be_replaced() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    bench.complete(&first.run_id, "done");
    let done = bench.replace(&branch(), &first.message_id, "anew");
    let Event::BranchUpdated { branch: moved } = &done.events[0] else { panic!("the head moves first") };
    assert_eq!(moved.head_message_id, None);
    assert_eq!(bench.said(), ["user: anew"]);
}

#[test]
fn a_message_of_the_branch_it_was_forked_from_is_replaced_on_the_fork_alone() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    bench.complete(&first.run_id, "done");
    let (id, forked) = bench.fork(None, "what if").value;
    bench.complete(&forked.run_id, "then");
    bench.replace(&id, &first.message_id, "anew").value.unwrap();
    assert_eq!(bench.said_on(&id), ["user: anew"]);
    assert_eq!(bench.said(), ["user: one", "assistant: done"]);
    assert!(bench.replaced(&branch(), &forked.message_id).is_none(), "what is on the fork is not of its source");
}

#[test]
fn a_summary_that_covers_the_place_goes_and_one_that_ends_before_it_stays() {
    for (covered, said) in [(true, "user: one"), (false, "user: What was said.")] {
        let mut bench = Bench::new();
        let first = bench.submit("one").value;
        bench.complete(&first.run_id, "done");
        let before = bench.state.branches[&branch()].head.clone().unwrap();
        let second = bench.submit("two").value;
        let covers = if covered { bench.state.branches[&branch()].head.clone().unwrap() } else { before };
        bench.change(|change| change.compact(&second.run_id, compaction(covers, "What was said.")));
        bench.complete(&second.run_id, "done too");
        bench.replace(&branch(), &second.message_id, "three").value.unwrap();
        assert_eq!(bench.said()[0], said);
        assert_eq!(bench.said().last().unwrap(), "user: three");
    }
}

#[test]
fn on_a_busy_branch_a_replacement_waits_its_turn_and_loses_nothing_before() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    let queued = bench.submit("two").value;
    let done = bench.replace(&branch(), &first.message_id, "anew");
    let replacement = done.value.as_ref().unwrap().clone();
    assert_eq!((replacement.state, done.types()), (SubmitState::Queued, vec!["queue added".to_owned()]));
    bench.complete(&first.run_id, "done");
    assert_eq!(bench.said(), ["user: one", "assistant: done", "user: two"]);
    let done = bench.complete(&queued.run_id, "done too");
    assert_eq!(done.types()[2..], ["runCompleted", "queue started", "branchUpdated", "runStarted", "itemCompleted"]);
    assert_eq!(bench.said(), ["user: anew"]);
    assert_eq!(bench.state.runs[&replacement.run_id].run.mode, ropewalk_protocol::Mode::Replace);
}

#[test]
fn ruling_1_on_a_held_branch_a_replacement_goes_to_the_end_and_starts_nothing() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    let queued = bench.submit("two").value;
    bench.stop(&first.run_id);
    let done = bench.replace(&branch(), &first.message_id, "anew");
    assert_eq!((done.value.unwrap().state, bench.state.runs.len()), (SubmitState::Queued, 0));
    bench.change(|change| change.release(&branch()));
    bench.complete(&queued.run_id, "done");
    assert_eq!(bench.said(), ["user: anew"]);
}

#[test]
fn k40_of_two_replacements_of_one_message_one_wins_and_the_other_is_told() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    let (replaced, revision) = bench.replaced(&branch(), &first.message_id).unwrap();
    // While the branch is busy the second is refused because the first waits before it.
    bench.replace(&branch(), &first.message_id, "mine").value.unwrap();
    let second = bench.replace(&branch(), &first.message_id, "yours");
    let current = Box::new(bench.state.branches[&branch()].branch.clone());
    assert_eq!((second.value.unwrap_err(), second.events.len()), (BranchError::NotInChain(current), 0));
    // Once the chain has moved, what was read before has to be read again.
    bench.complete(&first.run_id, "done");
    let late = super::branching::submission_to(&branch(), "too late");
    let refused = bench.change(|change| change.replace(late, replaced, revision)).value;
    assert!(matches!(refused, Err(BranchError::Revision(_))));
    assert!(bench.replaced(&branch(), &first.message_id).is_none());
    assert_eq!(bench.said(), ["user: mine"]);
}

#[test]
fn a_replacement_whose_message_left_the_chain_while_it_waited_fails_as_parent_missing() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    bench.complete(&first.run_id, "done");
    let second = bench.submit("two").value;
    let later = bench.replace(&branch(), &second.message_id, "instead of two").value.unwrap();
    let earlier = bench.replace(&branch(), &first.message_id, "instead of one").value.unwrap();
    let last = bench.submit("last").value;
    let order = vec![earlier.message_id.clone(), later.message_id.clone(), last.message_id.clone()];
    bench.change(|change| change.reorder_queue(&branch(), order).unwrap());
    bench.complete(&second.run_id, "done too");
    assert_eq!(bench.said(), ["user: instead of one"]);
    let done = bench.complete(&earlier.run_id, "as you like");
    let expected = ["runCompleted", "queue started", "runStarted", "itemCompleted", "runCompleted", "queue held"];
    assert_eq!(done.types()[2..], expected);
    let Some(Event::RunCompleted { run_id, outcome, .. }) = done.events.iter().rev().nth(1) else { panic!("it fails") };
    assert_eq!((run_id, outcome.status), (&later.run_id, OutcomeStatus::Failed));
    assert_eq!(outcome.error.as_ref().unwrap().kind, RunErrorKind::ParentMissing);
    assert_eq!(bench.said(), ["user: instead of one", "assistant: as you like"], "its input joins no chain");
    bench.change(|change| change.release(&branch()));
    assert_eq!(bench.said().last().unwrap(), "user: last");
}

#[test]
fn remarks_for_the_run_that_is_replaced_are_recorded_before_the_head_moves() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    bench.replace(&branch(), &first.message_id, "anew").value.unwrap();
    bench.change(|change| change.remark(remark("by the way", None)).unwrap());
    bench.complete(&first.run_id, "done");
    assert_eq!(bench.said(), ["user: anew"]);
    assert_eq!(bench.messages().len(), 4, "one, done, by the way, anew: nothing is lost from the log");
    assert!(bench.change(|change| change.recover()).events.is_empty());
}

#[test]
fn what_joined_twice_is_replaced_on_a_fork_where_the_fork_has_it() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    bench.change(|change| change.finish_run(&first.run_id, outcome(OutcomeStatus::Failed), &|_| None));
    let said = bench.change(|change| change.remark(remark("by the way", None))).value.unwrap().message_id;
    let (id, forked) = bench.fork(Some(&said), "what if").value;
    bench.complete(&forked.run_id, "then");
    bench.change(|change| change.continue_run(Recovery::Retry, &branch(), None)).value.unwrap();
    assert_eq!(bench.said(), ["user: one", "user: by the way"], "it has joined again, behind the input");

    let (here, on_fork) = (bench.place_on(&branch(), &said).unwrap(), bench.place_on(&id, &said).unwrap());
    assert!(here.link.n > on_fork.link.n, "each branch has it where it joined its own chain");
    assert!(here.branches.contains(&branch()) && on_fork.branches.contains(&id));
    bench.replace(&id, &said, "anew").value.unwrap();
    assert_eq!(bench.said_on(&id), ["user: one", "user: anew"]);
    assert_eq!(bench.said(), ["user: one", "user: by the way"], "and the other branch keeps it");
    let of_fork = bench.place_on(&branch(), &forked.message_id).expect("what is elsewhere is found there");
    assert!(!of_fork.branches.contains(&branch()));
}
