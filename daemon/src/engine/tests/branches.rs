//! Branches of one thread at work at the same time, raced for, deleted under way, and after a crash.

use std::time::Duration;

use ropewalk_protocol::{
    BranchId, ErrorDetail, MessageId, OutcomeStatus, Part, RpcError, RunErrorKind, RunStatus, RunSubmitted,
    SubmitState, Unattended,
};
use serde_json::json;

use super::{
    client::Person,
    life::{Life, asking, begin, idle, plain, request, soon, submit, types},
};
use crate::{
    domain::Submission,
    engine::{ForkRequest, ReplaceRequest, SubmitRequest, ThreadHandle},
};

const SECOND: Duration = Duration::from_secs(1);

fn submission(branch: &BranchId, text: &str) -> Submission {
    Submission {
        branch_id: branch.clone(),
        input: vec![Part::text(text)],
        operation_id: None,
        asked_endpoint: None,
        unattended: Unattended::Decline,
        output_schema: None,
        sender: None,
    }
}

fn original(thread: &ThreadHandle) -> BranchId {
    thread.id().clone().into()
}

fn forks(branch: &BranchId, at: Option<&MessageId>, text: &str) -> ForkRequest {
    ForkRequest { submission: submission(branch, text), message_id: at.cloned(), title: None, operation: None }
}

fn replaces(branch: &BranchId, message: &MessageId, text: &str) -> ReplaceRequest {
    ReplaceRequest { submission: submission(branch, text), message_id: message.clone(), operation: None }
}

async fn fork(thread: &ThreadHandle, at: Option<&MessageId>, text: &str) -> RunSubmitted {
    soon(thread.fork(forks(&original(thread), at, text))).await.unwrap()
}

async fn submit_to(thread: &ThreadHandle, branch: &BranchId, text: &str) -> Result<RunSubmitted, RpcError> {
    soon(thread.submit(SubmitRequest { submission: submission(branch, text), operation: None })).await
}

/// A turn of a question and its answer.
async fn turn(life: &mut Life, thread: &ThreadHandle, text: &str, answer: &str) -> MessageId {
    let submitted = submit(thread, text).await;
    life.asked().await.ends(answer);
    life.ended(thread, &submitted.run_id.unwrap()).await;
    submitted.message_id
}

#[tokio::test]
async fn two_branches_run_at_the_same_time_with_calls_and_approvals_on_both() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    turn(&mut life, &thread, "one", "Done.").await;
    let first = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", r#"{"n":1}"#)]);
    let forked = fork(&thread, None, "go elsewhere").await;
    let second = forked.run_id.clone().unwrap();
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: one", "assistant: Done.", "user: go", "user: go elsewhere"]);
    asked.calls(&[("write", r#"{"n":2}"#)]);
    let (one, two) = (person.offered("approval/request").await, person.offered("approval/request").await);
    assert_eq!((&one.params()["runId"], &two.params()["runId"]), (&json!(first), &json!(second)));
    life.waiting(&thread, &first).await;
    life.waiting(&thread, &second).await;

    // Each is answered for itself, the later one first.
    person.answers(&two, json!({"decision": "accept"})).await;
    let call = person.offered("tool/call").await;
    assert_eq!(call.params()["arguments"], json!({"n": 2}));
    person.answers(&one, json!({"decision": "decline"})).await;
    let asked = life.asked().await;
    assert_eq!(asked.history().len(), 5, "the first goes on while the second waits for its call");
    asked.ends("Not written.");
    life.ended(&thread, &first).await;
    person.returns(&call, "written").await;
    let asked = life.asked().await;
    assert_eq!(asked.history().last().unwrap(), "tool: written");
    asked.ends("Written.");
    life.ended(&thread, &second).await;
    assert_eq!(life.said(&thread).await.last().unwrap(), "Assistant: Not written.");
    assert_eq!(life.said_on(&thread, &forked.branch_id).await.last().unwrap(), "Assistant: Written.");
    life.crash(SECOND).await;
}

#[tokio::test]
async fn k50_after_a_crash_every_branch_goes_on_where_it_was() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let message = turn(&mut life, &thread, "one", "Done.").await;
    let waiting = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    person.offered("approval/request").await;
    let streaming = fork(&thread, Some(&message), "what if").await;
    let asked = life.asked().await;
    asked.says("Half");
    let queued = submit_to(&thread, &streaming.branch_id, "and then").await.unwrap();
    assert_eq!(queued.state, SubmitState::Queued);
    soon(thread.replace(replaces(&streaming.branch_id, &message, "from the start"))).await.unwrap();

    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: one", "user: what if"], "the step is asked again");
    asked.ends("Whole.");
    life.asked().await.ends("Then.");
    life.ended(&thread, &queued.run_id.unwrap()).await;
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: from the start"], "a replacement that waited is not lost");
    asked.ends("Anew.");
    assert_eq!(life.run(&thread, &waiting).await.state, RunStatus::Waiting);
    let approval = person.offered("approval/request").await;
    person.answers(&approval, json!({"decision": "decline"})).await;
    life.asked().await.ends("Not written.");
    life.ended(&thread, &waiting).await;
    assert_eq!(life.said(&thread).await.last().unwrap(), "Assistant: Not written.");
    let said = life.said_on(&thread, &streaming.branch_id).await;
    assert_eq!(said, ["User: from the start", "Assistant: Anew."]);
}

#[tokio::test]
async fn a_message_is_found_however_far_back_it_is() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let first = turn(&mut life, &thread, "one", "Done.").await;
    for number in 0..250 {
        turn(&mut life, &thread, &format!("Question {number}"), "An answer.").await;
    }
    assert!(types(&thread).await.len() > 1_024, "it is more than two windows away");
    let forked = fork(&thread, Some(&first), "what if").await;
    assert_eq!(life.asked().await.history(), ["user: one", "user: what if"]);
    let replaced = soon(thread.replace(replaces(&original(&thread), &first, "anew"))).await.unwrap();
    assert_eq!(replaced.state, SubmitState::Running);
    assert_eq!(life.asked().await.history(), ["user: anew"]);
    assert_eq!(life.said_on(&thread, &forked.branch_id).await, ["User: one", "User: what if"]);
}

#[tokio::test]
async fn k21_of_two_clients_that_replace_one_message_one_wins_and_the_other_is_told() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    for round in 0..20 {
        let message = turn(&mut life, &thread, &format!("Question {round}"), "An answer.").await;
        let branch = original(&thread);
        let (one, two) = (replaces(&branch, &message, "mine"), replaces(&branch, &message, "yours"));
        let (one, two) = soon(async { tokio::join!(thread.replace(one), thread.replace(two)) }).await;
        let (winner, loser) = if one.is_ok() { (one, two) } else { (two, one) };
        let (winner, loser) = (winner.unwrap(), loser.unwrap_err());
        let ErrorDetail::Conflict { current: Some(current), current_revision } = loser.data.detail else {
            panic!("{loser:?}")
        };
        assert_eq!(current["revision"], json!(current_revision));
        assert_eq!(current["headMessageId"], json!(winner.message_id));
        life.asked().await.ends("As you like.");
        life.ended(&thread, &winner.run_id.unwrap()).await;
    }
    assert_eq!(life.said(&thread).await.len(), 40);
}

#[tokio::test]
async fn k40_a_delete_and_a_submit_at_once_are_both_told_how_it_went() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    turn(&mut life, &thread, "one", "Done.").await;
    for submits_first in [true, false] {
        let forked = fork(&thread, None, "what if").await;
        life.asked().await.ends("Then.");
        life.ended(&thread, &forked.run_id.unwrap()).await;
        let branch = forked.branch_id;
        let delete = thread.delete_branch(branch.clone(), None, false, None);
        let submit = thread.submit(SubmitRequest { submission: submission(&branch, "more"), operation: None });
        let (deleted, submitted) = soon(async {
            if submits_first {
                let (submitted, deleted) = tokio::join!(submit, delete);
                (deleted, submitted)
            } else {
                tokio::join!(delete, submit)
            }
        })
        .await;
        assert!(deleted.unwrap().applied);
        match submitted {
            Ok(submitted) => {
                let error = life.ended(&thread, &submitted.run_id.unwrap()).await.outcome.unwrap().error.unwrap();
                assert_eq!(error.kind, RunErrorKind::BranchDeleted);
            }
            Err(error) => assert_eq!(error, RpcError::not_found("branch", &branch)),
        }
        idle().await;
        while life.is_asked() {
            assert!(life.asked().await.is_dropped(), "nobody waits for the answer of a run that is gone");
        }
    }
    let branches = soon(thread.branches()).await.unwrap();
    assert_eq!(branches.len(), 1);
}

#[tokio::test]
async fn k20_a_branch_that_goes_takes_its_run_with_it_and_tells_everybody() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let first = turn(&mut life, &thread, "one", "Done.").await;
    let asking = fork(&thread, None, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let approval = person.offered("approval/request").await;
    let streaming = fork(&thread, Some(&first), "what if").await;
    let asked = life.asked().await;
    asked.says("Half");
    idle().await;
    for submitted in [&asking, &streaming] {
        let effect = soon(thread.delete_branch(submitted.branch_id.clone(), None, true, None)).await.unwrap();
        assert_eq!((effect.applied, effect.dry_run), (false, true));
        assert!(effect.effect.ends_with("and stops its run."), "{}", effect.effect);
        let removed = soon(thread.delete_branch(submitted.branch_id.clone(), None, false, None)).await.unwrap();
        assert_eq!((removed.applied, removed.effect), (true, effect.effect));
        let outcome = life.ended(&thread, submitted.run_id.as_ref().unwrap()).await.outcome.unwrap();
        assert_eq!((outcome.status, outcome.error.unwrap().kind), (OutcomeStatus::Failed, RunErrorKind::BranchDeleted));
    }
    let settled = person.settled().await;
    assert_eq!((&settled.interaction_id, settled.outcome), (approval.id(), ropewalk_protocol::Outcome::Cancelled));
    idle().await;
    assert!(asked.is_dropped(), "the model is told to stop");
    let before = types(&thread).await.len();
    person.answers(&approval, json!({"decision": "accept"})).await;
    idle().await;
    assert_eq!(types(&thread).await.len(), before, "a late answer changes nothing");
}

#[tokio::test]
async fn messages_of_a_branch_that_is_gone_are_forked_at_only_where_a_fork_of_it_has_them() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    turn(&mut life, &thread, "one", "Done.").await;
    let middle = fork(&thread, None, "what if").await;
    life.asked().await.ends("Then.");
    life.ended(&thread, middle.run_id.as_ref().unwrap()).await;
    let head = soon(thread.branches()).await.unwrap().into_iter().find(|b| b.branch_id == middle.branch_id).unwrap();
    let child = soon(thread.fork(forks(&middle.branch_id, Some(&middle.message_id), "and then"))).await.unwrap();
    life.asked().await.ends("So be it.");
    life.ended(&thread, child.run_id.as_ref().unwrap()).await;
    soon(thread.delete_branch(middle.branch_id.clone(), None, false, None)).await.unwrap();

    let again = fork(&thread, Some(&middle.message_id), "once more").await;
    let made = soon(thread.branches()).await.unwrap().into_iter().find(|b| b.branch_id == again.branch_id).unwrap();
    assert_eq!(made.parent_branch_id, Some(child.branch_id), "it is made from the branch that still has the message");
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: one", "assistant: Done.", "user: what if", "user: once more"]);
    asked.ends("Done.");
    let gone = soon(thread.fork(forks(&original(&thread), head.head_message_id.as_ref(), "x"))).await.unwrap_err();
    assert!(matches!(gone.data.detail, ErrorDetail::NotFound { ref noun, .. } if noun == "message"), "{gone:?}");
    let named = soon(thread.fork(forks(&middle.branch_id, None, "x"))).await.unwrap_err();
    assert_eq!(named, RpcError::not_found("branch", &middle.branch_id));
    life.ended(&thread, &again.run_id.unwrap()).await;
}

#[tokio::test]
async fn a_fork_may_follow_a_summary_and_what_it_covers() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let first = turn(&mut life, &thread, "one", "Done.").await;
    turn(&mut life, &thread, "two", "Done too.").await;
    let run = begin(&thread, "three").await;
    let asked = life.asked().await;
    let compacted = run.clone();
    let summary = soon(thread.turn(move |turn| {
        let branch = turn.state().branches.values().next().unwrap();
        let covers = branch.head.clone().unwrap();
        turn.change.compact(&compacted, crate::domain::tests::fixtures::compaction(covers, "They talked."));
        Ok(turn.state().branches.values().next().unwrap().summary.clone().unwrap())
    }))
    .await
    .unwrap();
    asked.ends("Done three.");
    life.ended(&thread, &run).await;
    for (at, history) in [
        (&summary.message_id, vec!["user: They talked.", "user: x"]),
        (&summary.covers.message_id, vec!["user: They talked.", "user: x"]),
        (&first, vec!["user: one", "user: x"]),
    ] {
        let forked = fork(&thread, Some(at), "x").await;
        let asked = life.asked().await;
        assert_eq!(asked.history(), history);
        asked.ends("y");
        life.ended(&thread, &forked.run_id.unwrap()).await;
    }
    let branch = original(&thread);
    let refused = soon(thread.replace(replaces(&branch, &summary.message_id, "x"))).await.unwrap_err();
    assert!(
        matches!(refused.data.detail, ErrorDetail::InvalidParams { ref reason, .. } if reason == "not_a_user_message")
    );
    let replaced = soon(thread.replace(replaces(&branch, &first, "anew"))).await.unwrap();
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: anew"], "the summary stood for what came after it");
    asked.ends("Done.");
    life.ended(&thread, &replaced.run_id.unwrap()).await;
    soon(thread.submit(request(&thread, "on", Unattended::Decline))).await.unwrap();
    assert_eq!(life.asked().await.history().len(), 3);
}

#[tokio::test]
async fn a_snapshot_shows_no_more_of_many_queues_than_a_page_has() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    begin(&thread, "go").await;
    let forked = fork(&thread, None, "go elsewhere").await;
    let _asked = (life.asked().await, life.asked().await);
    for branch in [&original(&thread), &forked.branch_id] {
        submit_to(&thread, branch, &"x".repeat(150_000)).await.unwrap();
        submit_to(&thread, branch, "short").await.unwrap();
    }
    let snapshot = person.resume(&thread).await.answer.snapshot.unwrap();
    let shown = |branch: &BranchId| (snapshot.queues[branch].entries.len(), snapshot.queues[branch].length);
    let mut queues = [shown(&original(&thread)), shown(&forked.branch_id)];
    queues.sort_unstable();
    assert_eq!(queues, [(0, 2), (2, 2)], "the second long one does not fit any more, and is not left out silently");
}
