//! Changing what waits: other words, another order, nothing at all; and what that does to a branch that is held.

use ropewalk_protocol::{Event, MessageId, Part, SubmitState};

use super::{
    bench::Bench,
    fixtures::{branch, line, outcome, waiting},
};
use crate::domain::DomainError;

/// A thread with a run under way, and three inputs behind it.
fn three_wait() -> (Bench, ropewalk_protocol::RunId, Vec<MessageId>) {
    let mut bench = Bench::new();
    let run = bench.submit("one").value.run_id;
    for text in ["two", "three", "four"] {
        bench.submit(text);
    }
    let line = line(&bench);
    (bench, run, line)
}

fn text(text: &str) -> Vec<Part> {
    vec![Part::text(text)]
}

#[test]
fn an_update_changes_the_words_and_keeps_place_message_and_run() {
    let (mut bench, run, messages) = three_wait();
    let runs = waiting(&bench);
    let done = bench.change(|change| change.update_queued(&branch(), &messages[0], text("zwei")));
    assert_eq!((done.value.clone(), done.types()), (Ok(()), vec!["queue edited".to_owned()]));
    let Event::QueueChanged(changed) = &done.events[0] else { panic!("it is of the queue") };
    let entry = changed.entry.as_ref().unwrap();
    assert_eq!((&entry.message_id, &entry.run_id, changed.length), (&messages[0], &runs[0], 3));
    assert_eq!((line(&bench), waiting(&bench)), (messages.clone(), runs));
    let again = bench.change(|change| change.update_queued(&branch(), &messages[0], text("zwei")));
    assert!(again.value.is_ok() && again.events.is_empty(), "the same words are no change");
    bench.complete(&run, "1");
    assert_eq!(bench.said().last().unwrap(), "user: zwei");
    let late = bench.change(|change| change.update_queued(&branch(), &messages[0], text("too late")));
    assert_eq!(late.value, Err(DomainError::NotQueued(messages[0].clone())), "it has begun");
}

#[test]
fn what_is_taken_back_never_begins() {
    let (mut bench, run, messages) = three_wait();
    let done = bench.change(|change| change.remove_queued(&branch(), &messages[1]));
    assert_eq!((done.value.clone(), done.types()), (Ok(()), vec!["queue removed".to_owned()]));
    assert_eq!(line(&bench), [messages[0].clone(), messages[2].clone()]);
    let again = bench.change(|change| change.remove_queued(&branch(), &messages[1]));
    assert_eq!(again.value, Err(DomainError::NotQueued(messages[1].clone())));
    let done = bench.change(|change| change.clear_queue(&branch()));
    assert_eq!(done.types(), ["queue removed", "queue removed"]);
    assert!(bench.change(|change| change.clear_queue(&branch())).events.is_empty(), "nothing is left to clear");
    assert_eq!(bench.complete(&run, "1").types().last().unwrap(), "runCompleted");
}

#[test]
fn another_order_is_the_one_they_begin_in() {
    let (mut bench, run, mut messages) = three_wait();
    messages.rotate_left(1);
    let order = messages.clone();
    let done = bench.change(|change| change.reorder_queue(&branch(), order));
    assert_eq!((done.value.clone(), done.types()), (Ok(()), vec!["queue moved".to_owned()]));
    let Event::QueueChanged(changed) = &done.events[0] else { panic!("it is of the queue") };
    assert_eq!((changed.order.as_ref(), line(&bench)), (Some(&messages), messages.clone()));
    let order = messages.clone();
    assert!(bench.change(|change| change.reorder_queue(&branch(), order)).events.is_empty(), "it is that already");
    bench.submit("five");
    bench.complete(&run, "1");
    assert_eq!(bench.said().last().unwrap(), "user: three");
    assert_eq!(line(&bench)[..2], messages[1..], "what comes later stands behind them");
}

#[test]
fn an_order_of_other_inputs_is_refused_with_the_one_there_is() {
    let (mut bench, _, messages) = three_wait();
    let (a, b, c) = (messages[0].clone(), messages[1].clone(), messages[2].clone());
    let orders = [vec![], vec![b.clone(), a.clone()], vec![a.clone(), b.clone(), b.clone()], vec![c, b, "m-9".into()]];
    for order in orders {
        let done = bench.change(|change| change.reorder_queue(&branch(), order));
        assert_eq!((done.value, done.events.len()), (Err(DomainError::OtherEntries(messages.clone())), 0));
    }
}

#[test]
fn what_may_not_be_changed_stays_as_it_is() {
    let (mut bench, _, messages) = three_wait();
    bench.change(|change| {
        let mut entry = change.state.branches[&branch()].queue[1].entry.clone();
        entry.editable = false;
        change.event(Event::QueueChanged(ropewalk_protocol::QueueChanged {
            branch_id: branch(),
            held: false,
            length: 3,
            change: ropewalk_protocol::QueueChange::Edited,
            entry: Some(entry),
            message_id: None,
            order: None,
        }));
    });
    let refused = Err(DomainError::NotEditable(messages[1].clone()));
    let done = bench.change(|change| change.update_queued(&branch(), &messages[1], text("no")));
    assert_eq!(done.value, refused);
    assert_eq!(bench.change(|change| change.remove_queued(&branch(), &messages[1])).value, refused);
    bench.change(|change| change.clear_queue(&branch()).unwrap());
    assert_eq!(line(&bench), [messages[1].clone()], "and a clear leaves it");
}

#[test]
fn an_unknown_branch_has_no_queue() {
    let mut bench = Bench::new();
    let (elsewhere, message): (ropewalk_protocol::BranchId, MessageId) = ("b-9".into(), "m-1".into());
    let refused = Err(DomainError::NoBranch(elsewhere.clone()));
    assert_eq!(bench.change(|change| change.update_queued(&elsewhere, &message, text("x"))).value, refused);
    assert_eq!(bench.change(|change| change.remove_queued(&elsewhere, &message)).value, refused);
    assert_eq!(bench.change(|change| change.clear_queue(&elsewhere)).value, refused);
    assert_eq!(bench.change(|change| change.reorder_queue(&elsewhere, vec![message])).value, refused);
}

#[test]
fn ruling_1_a_held_queue_stays_held_until_it_is_empty() {
    for by_clear in [true, false] {
        let (mut bench, run, messages) = three_wait();
        bench.change(|change| change.finish_run(&run, outcome(ropewalk_protocol::OutcomeStatus::Failed), &|_| None));
        bench.change(|change| change.update_queued(&branch(), &messages[0], text("zwei")).unwrap());
        bench.change(|change| change.remove_queued(&branch(), &messages[0]).unwrap());
        assert!(bench.state.branches[&branch()].branch.queue.held, "two still wait");
        if by_clear {
            bench.change(|change| change.clear_queue(&branch()).unwrap());
        } else {
            messages[1..].iter().for_each(|message| {
                bench.change(|change| change.remove_queued(&branch(), message).unwrap());
            });
        }
        assert!(!bench.state.branches[&branch()].branch.queue.held);
        assert_eq!(bench.submit("five").value.state, SubmitState::Running);
    }
}
