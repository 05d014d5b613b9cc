//! Runs that have ended badly and are continued: by whom, from where, over crashes, and what is listed meanwhile.

use std::time::Duration;

use ropewalk_protocol::{ErrorDetail, Recovery, RpcError, Run, RunId, RunStatus};

use super::{
    client::Person,
    life::{Life, begin, call_ends, plain, soon, submit, types},
};
use crate::engine::{Recovering, StopTarget, ThreadHandle};

const SECOND: Duration = Duration::from_secs(1);
const EACH: [Recovery; 3] = [Recovery::Resume, Recovery::Retry, Recovery::Rebase];

pub(super) async fn recover(thread: &ThreadHandle, how: Recovery, run_id: Option<&RunId>) -> Result<Run, RpcError> {
    let (branch_id, run_id) = (thread.id().clone().into(), run_id.cloned());
    let recovering = Recovering { how, branch_id, run_id, operation: None };
    soon(thread.recover_run(recovering)).await.map(|recovered| recovered.run)
}

async fn stop(thread: &ThreadHandle, person: &Person) {
    let target = StopTarget::Branch(thread.id().clone().into());
    soon(thread.stop(target, person.end.client_ref().clone(), None)).await.unwrap();
}

fn state_of(error: RpcError) -> (String, Vec<String>) {
    match error.data.detail {
        ErrorDetail::InvalidState { state, expected } => (state, expected),
        other => panic!("{other:?} is no refusal for a state"),
    }
}

#[tokio::test]
async fn k17_k26_a_stopped_call_is_shown_as_unknown_when_the_run_is_resumed_even_over_a_crash() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["write", "look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}"), ("look", "{}")]);
    person.offered("tool/call").await;
    stop(&thread, &person).await;
    life.ended(&thread, &run).await;

    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    assert!(!life.is_asked(), "what was stopped does not begin by itself");
    assert_eq!(life.run(&thread, &run).await.recovery, [Recovery::Resume, Recovery::Retry]);
    let next = recover(&thread, Recovery::Resume, None).await.unwrap();
    assert_eq!((next.state, &next.previous_run_id), (RunStatus::Running, &Some(run.clone())));
    let asked = life.asked().await;
    let history = asked.history();
    assert!(history[2].contains("whether it took effect is unknown"), "{history:?}");
    assert!(history[3].contains("It was not made"), "{history:?}");

    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert_eq!(asked.history(), history, "the run that continues it is taken up like any other");
    asked.ends("I shall look first.");
    life.ended(&thread, &next.run_id).await;
    life.said(&thread).await;
    let cancelled = serde_json::json!(["cancelled", "cancelled", "unknown"]);
    assert_eq!(call_ends(&thread).await[0], cancelled);
    assert_eq!(life.run(&thread, &run).await.recovery, [], "it has been continued");
}

#[tokio::test]
async fn a_retry_asks_with_the_input_alone_and_again_after_a_crash() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let first = begin(&thread, "before").await;
    life.asked().await.ends("Yes.");
    life.ended(&thread, &first).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "seen").await;
    let asked = life.asked().await;
    asked.says("Half");
    asked.fails();
    life.ended(&thread, &run).await;
    assert_eq!(life.said(&thread).await.len(), 6, "what was said is kept until somebody retries");
    let next = recover(&thread, Recovery::Retry, Some(&run)).await.unwrap();
    let history = ["user: before", "assistant: Yes.", "user: go"];
    assert_eq!(life.asked().await.history(), history);

    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert_eq!(asked.history(), history);
    asked.ends("Done.");
    life.ended(&thread, &next.run_id).await;
    assert_eq!(life.said(&thread).await[2..], ["User: go", "Assistant: Done."]);
    let log = types(&thread).await;
    assert_eq!(log.iter().filter(|name| *name == "branchUpdated").count(), 2, "the begin, and the head that moved");
}

#[tokio::test]
async fn what_is_listed_is_what_is_accepted_and_each_refusal_says_what_it_is() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    for how in EACH {
        assert_eq!(state_of(recover(&thread, how, None).await.unwrap_err()).0, "idle");
    }
    let run = begin(&thread, "go").await;
    let queued = submit(&thread, "next").await.run_id.unwrap();
    for how in EACH {
        assert_eq!(state_of(recover(&thread, how, None).await.unwrap_err()).0, "running");
        assert_eq!(state_of(recover(&thread, how, Some(&queued)).await.unwrap_err()).0, "queued");
    }
    life.asked().await.fails();
    let ended = life.ended(&thread, &run).await;
    assert_eq!(ended.recovery, [Recovery::Resume, Recovery::Retry, Recovery::Skip]);
    let listed = crate::engine::lookup::runs(thread.shared(), None, 10).unwrap();
    let of_run = listed.iter().find(|listed| listed.run_id == run).unwrap();
    assert_eq!(of_run.recovery, ended.recovery, "a list says the same");
    let (state, expected) = state_of(recover(&thread, Recovery::Rebase, None).await.unwrap_err());
    assert_eq!((&*state, expected), ("failed", vec!["parentMissing".to_owned()]));

    let next = recover(&thread, Recovery::Retry, None).await.unwrap();
    assert_eq!(life.run(&thread, &run).await.recovery, []);
    for how in EACH {
        assert_eq!(state_of(recover(&thread, how, Some(&run)).await.unwrap_err()).0, "superseded");
        assert_eq!(state_of(recover(&thread, how, None).await.unwrap_err()).0, "running");
    }
    life.asked().await.ends("Done.");
    life.ended(&thread, &next.run_id).await;
    let (state, expected) = state_of(recover(&thread, Recovery::Resume, Some(&next.run_id)).await.unwrap_err());
    assert_eq!((&*state, expected.join(" ")), ("completed", "paused failed stopped interrupted".to_owned()));
    life.asked().await.ends("Done too.");
    life.ended(&thread, &queued).await;
    let other = life.start(&person, Vec::new()).await;
    for (thread, run) in [(&other, &run), (&thread, &"run-9".into())] {
        let error = recover(thread, Recovery::Retry, Some(run)).await.unwrap_err();
        assert!(matches!(error.data.detail, ErrorDetail::NotFound { noun, .. } if noun == "run"));
    }
}

#[tokio::test]
async fn a_run_that_continues_another_goes_before_what_was_held_and_a_failed_record_changes_nothing() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "one").await;
    submit(&thread, "two").await;
    life.asked().await.fails();
    life.ended(&thread, &run).await;
    life.store.store.fail_next(crate::store::FailPoint::Append);
    let refused = recover(&thread, Recovery::Resume, None).await.unwrap_err();
    assert!(refused.data.retryable, "{refused}");
    assert_eq!(life.run(&thread, &run).await.recovery.len(), 3, "it can still be done");

    recover(&thread, Recovery::Resume, None).await.unwrap();
    let queue = soon(thread.queue(thread.id().clone().into())).await.unwrap();
    assert_eq!((queue.entries.len(), queue.held), (1, false));
    life.asked().await.ends("Done.");
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: one", "assistant: Done.", "user: two"]);
    asked.ends("Done too.");
}

#[tokio::test]
async fn unread_outlives_a_crash_and_somebody_who_watches_leaves_nothing_unread() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    assert!(!soon(thread.read()).await.unwrap().unread, "somebody was there");
    let run = begin(&thread, "again").await;
    let asked = life.asked().await;
    person.breaks(&thread).await;
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    let life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let header = soon(thread.read()).await.unwrap();
    assert!(header.unread);
    let refused = soon(thread.mark_read(None, header.seq + 1, None)).await.unwrap_err();
    assert!(matches!(refused.data.detail, ErrorDetail::InvalidParams { reason, .. } if reason == "after_the_end"));
    let read = soon(thread.mark_read(None, header.seq, None)).await.unwrap().thread;
    assert_eq!((read.unread, read.revision, read.seq), (false, header.revision, header.seq));
    let life = life.crash(SECOND).await;
    assert!(!soon(life.thread(thread.id()).read()).await.unwrap().unread);
}
