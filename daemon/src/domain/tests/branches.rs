//! Branches as pure state: where a fork begins, what it carries, and what goes with a branch that is deleted.

use ropewalk_protocol::{BranchId, Event, InteractionId, OutcomeStatus, Patch, RunErrorKind, SubmitState};

use super::{
    bench::Bench,
    branching::submission_to,
    fixtures::{branch, calls, compaction, outcome, says, told, tool_call, waits_for},
};
use crate::domain::{BranchError, DomainError, Effect, World as _};

fn shown<'a>(bench: &'a Bench, id: &BranchId) -> &'a ropewalk_protocol::Branch {
    &bench.state.branches[id].branch
}

#[test]
fn ruling_2_a_fork_begins_with_its_own_event_and_then_as_a_submit() {
    let mut bench = Bench::new();
    let first = bench.submit("one");
    bench.complete(&first.value.run_id, "done");
    let head = shown(&bench, &branch()).head_message_id.clone();
    let done = bench.fork(None, "what if");
    assert_eq!(done.types(), ["branchUpdated", "runStarted", "itemCompleted"]);
    let (id, submitted) = done.value;
    let Event::BranchUpdated { branch: made } = &done.events[0] else { panic!("the branch comes first") };
    assert_eq!((&made.branch_id, &made.root_message_id, &made.head_message_id), (&id, &head, &head));
    assert_eq!((&made.parent_branch_id, &made.active_run_id, made.revision), (&Some(branch()), &None, 1));
    assert_eq!(submitted.state, SubmitState::Running);
    assert_eq!(done.effects, [Effect::Drive(submitted.run_id.clone())]);
    bench.complete(&submitted.run_id, "then this");
    assert_eq!(bench.said(), ["user: one", "assistant: done"], "the source branch is as it was");
    assert_eq!(bench.said_on(&id), ["user: one", "assistant: done", "user: what if", "assistant: then this"]);
}

#[test]
fn a_fork_of_a_branch_without_messages_begins_with_nothing() {
    let mut bench = Bench::new();
    let (id, _) = bench.fork(None, "hello").value;
    assert_eq!(shown(&bench, &id).root_message_id, None);
    assert_eq!(bench.said_on(&id), ["user: hello"]);
    assert_eq!(bench.said(), Vec::<String>::new());
}

#[test]
fn ruling_14_a_place_knows_whether_results_follow() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let calls = bench.calls(&run, &["a", "b"]);
    for call in &calls {
        bench.change(|change| change.complete_call(&run, call, told("a result")));
    }
    bench.complete(&run, "done");
    let inside: Vec<bool> =
        bench.messages().iter().map(|id| bench.place(id).expect("it has joined").is_inside_batch).collect();
    assert_eq!(inside, [false, true, true, false, false], "user, calls, first result, last result, answer");
    for message in bench.messages() {
        assert!(
            bench.fork_at(&branch(), Some(&message), "x").is_some() != bench.place(&message).unwrap().is_inside_batch
        );
    }
}

#[test]
fn a_fork_at_any_message_while_its_branch_runs_has_what_came_before() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    bench.complete(&first.run_id, "done");
    let second = bench.submit("two").value.run_id;
    let (opening, call) = (bench.world.next_id().into(), bench.calls(&second, &["look"]).remove(0));
    let at = bench.at;
    bench.change(|change| {
        change.open_interaction(&opening, tool_call(&second, &call, &opening));
        change.run_waits(&second, Some(waits_for(&opening, at)));
    });
    let (id, forked) = bench.fork(Some(&first.message_id), "instead").value;
    assert_eq!(bench.said_on(&id), ["user: one", "user: instead"]);
    assert_eq!(bench.state.runs.len(), 2, "both run");
    bench.change(|change| change.complete_call(&second, &call, told("seen")));
    bench.complete(&forked.run_id, "as you like");
    bench.complete(&second, "done too");
    assert_eq!(bench.said().last().unwrap(), "assistant: done too");
    assert_eq!(bench.said_on(&id).len(), 3);
}

#[test]
fn a_fork_carries_the_summary_of_what_comes_before_it_and_no_other() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    bench.complete(&first.run_id, "done");
    let covers = bench.state.branches[&branch()].head.clone().unwrap();
    let second = bench.submit("two").value;
    bench.change(|change| change.compact(&second.run_id, compaction(covers.clone(), "What was said.")));
    bench.complete(&second.run_id, "done too");
    let summary = bench.state.branches[&branch()].summary.clone();
    let (after, forked) = bench.fork(Some(&second.message_id), "after").value;
    assert_eq!(bench.said_on(&after), ["user: what was said.", "user: two", "user: after"]);
    bench.complete(&forked.run_id, "x");
    let (at, _) = bench.fork(Some(&covers.message_id), "at").value;
    assert_eq!(bench.said_on(&at), ["user: what was said.", "user: at"], "it covers the message the fork follows");
    let (before, _) = bench.fork(Some(&first.message_id), "before").value;
    assert_eq!(bench.said_on(&before), ["user: one", "user: before"], "covered messages are still in the log");
    assert_eq!(bench.state.branches[&branch()].summary, summary);
    assert_eq!(bench.said(), ["user: What was said.", "user: two", "assistant: done too"]);
}

#[test]
fn a_title_raises_the_revision_and_the_same_one_writes_nothing() {
    let mut bench = Bench::new();
    let (id, _) = bench.fork(None, "x").value;
    let set = |title: &str| Patch::Set(title.to_owned());
    assert_eq!(bench.change(|change| change.update_branch(&id, set("What if"))).types(), ["branchUpdated"]);
    assert_eq!((shown(&bench, &id).title.as_deref(), shown(&bench, &id).revision), (Some("What if"), 2));
    assert!(bench.change(|change| change.update_branch(&id, set("What if"))).events.is_empty());
    assert!(bench.change(|change| change.update_branch(&id, Patch::Keep)).events.is_empty());
    bench.change(|change| change.update_branch(&id, Patch::Clear).unwrap());
    assert_eq!(shown(&bench, &id).title, None);
    assert!(shown(&bench, &id).active_run_id.is_some(), "its run goes on");
    let unknown = bench.change(|change| change.update_branch(&"nope".into(), Patch::Clear)).value;
    assert_eq!(unknown, Err(DomainError::NoBranch("nope".into())));
}

#[test]
fn k20_with_a_branch_goes_everything_of_it_in_one_record_and_its_forks_stay() {
    let mut bench = Bench::new();
    let first = bench.submit("one").value;
    bench.complete(&first.run_id, "done");
    let (id, forked) = bench.fork(None, "what if").value;
    let call = bench.calls(&forked.run_id, &["look"]).remove(0);
    let (opening, at): (InteractionId, _) = (bench.world.next_id().into(), bench.at);
    bench.change(|change| {
        change.open_interaction(&opening, tool_call(&forked.run_id, &call, &opening));
        change.run_waits(&forked.run_id, Some(waits_for(&opening, at)));
    });
    bench.change(|change| change.submit(submission_to(&id, "later")).unwrap());
    let remark = crate::domain::Remark { branch_id: id.clone(), ..super::fixtures::remark("aside", None) };
    bench.change(|change| change.remark(remark).unwrap());
    let child = bench.fork_at(&id, None, "and then").unwrap();
    let (child, _) = bench.change(|change| change.fork(child).unwrap()).value;
    let before = bench.said_on(&child);

    let done = bench.change(|change| change.delete_branch(&id, &|_| None));
    let expected = [
        "queue removed",
        "queue removed",
        "interactionSettled",
        "itemCompleted",
        "runCompleted",
        "branchUpdated",
        "branchDeleted",
    ];
    assert_eq!(done.types(), expected);
    let ended = done.events.iter().find_map(|event| match event {
        Event::RunCompleted { outcome, .. } => Some(outcome.clone()),
        _ => None,
    });
    let ended = ended.unwrap();
    assert_eq!((ended.status, ended.error.unwrap().kind), (OutcomeStatus::Failed, RunErrorKind::BranchDeleted));
    assert!(done.effects.contains(&Effect::Abandon(forked.run_id)));
    assert_eq!(bench.said_on(&child), before, "what was forked from it keeps its messages");
    assert_eq!(shown(&bench, &child).parent_branch_id, Some(branch()));
    assert!(!bench.state.branches.contains_key(&id) && bench.state.interactions.is_empty());
    assert!(bench.change(|change| change.recover()).events.is_empty(), "nothing of it comes back");
}

#[test]
fn the_original_branch_and_another_revision_are_refused() {
    let mut bench = Bench::new();
    let (id, _) = bench.fork(None, "x").value;
    let may =
        |bench: &mut Bench, id: &BranchId, revision| bench.change(|change| change.may_delete_branch(id, revision));
    assert_eq!(may(&mut bench, &branch(), None).value, Err(BranchError::Original));
    let current = Box::new(shown(&bench, &id).clone());
    assert_eq!(may(&mut bench, &id, Some(7)).value, Err(BranchError::Revision(current)));
    assert_eq!(may(&mut bench, &id, Some(1)).value, Ok(()));
    let unknown = may(&mut bench, &"nope".into(), None).value;
    assert_eq!(unknown, Err(BranchError::Refused(DomainError::NoBranch("nope".into()))));
}

#[test]
fn the_branch_beyond_the_limit_is_refused_and_nothing_changes() {
    let mut bench = Bench::new();
    let forks: Vec<_> =
        (0..ropewalk_protocol::limits::BRANCHES).map(|_| bench.fork_at(&branch(), None, "more").unwrap()).collect();
    let refused = bench.change(|change| forks.into_iter().map(|fork| change.fork(fork)).find_map(Result::err)).value;
    assert_eq!(refused, Some(BranchError::TooMany(ropewalk_protocol::limits::BRANCHES)));
    assert_eq!(bench.state.branches.len() as u64, ropewalk_protocol::limits::BRANCHES);
}

#[test]
fn runs_on_two_branches_end_in_one_record_without_touching_each_other() {
    let mut bench = Bench::new();
    let one = bench.submit("one").value.run_id;
    let (id, two) = bench.fork(None, "two").value;
    let (asked, answered) = (calls(&bench.world, &["look"]), says(&bench.world, "done"));
    bench.change(|change| {
        change.answered(&one, asked);
        let (item, _) = answered.text.clone().unwrap();
        change.text_started(&two.run_id, &item, &answered.message_id.clone(), false);
        change.answered(&two.run_id, answered);
        change.finish_run(&two.run_id, outcome(OutcomeStatus::Completed), &|_| None);
        change.finish_run(&one, outcome(OutcomeStatus::Stopped), &|_| None);
    });
    assert_eq!(bench.said().len(), 3);
    assert_eq!(bench.said_on(&id).last().unwrap(), "assistant: done");
}
