//! What the presses of Ctrl-C do.

use std::cell::Cell;

use ropewalk_protocol::OutcomeStatus;
use tokio::sync::mpsc;

use super::*;

fn outcome(status: OutcomeStatus) -> RunOutcome {
    RunOutcome { status, text: None, structured: None, reason: None, by: None, error: None }
}

#[tokio::test]
async fn the_first_press_asks_for_a_stop_and_the_run_ends_as_it_does() {
    let (presses, receiver) = mpsc::channel(2);
    let mut interrupts = Interrupts::from_test(receiver);
    presses.try_send(()).unwrap();
    let asked = Cell::new(0);
    let step = async || {
        if asked.get() == 0 {
            return std::future::pending().await;
        }
        Some(Ok(Ending::Ended(Box::new(outcome(OutcomeStatus::Stopped)))))
    };
    let ending = until_end(|| asked.set(asked.get() + 1), &mut interrupts, step).await.unwrap();
    assert_eq!(asked.get(), 1);
    assert!(matches!(ending, Ending::Ended(outcome) if outcome.status == OutcomeStatus::Stopped));
}

#[tokio::test]
async fn the_second_press_leaves_the_run_to_itself() {
    let (presses, receiver) = mpsc::channel(2);
    let mut interrupts = Interrupts::from_test(receiver);
    presses.try_send(()).unwrap();
    presses.try_send(()).unwrap();
    let asked = Cell::new(0);
    let ending = until_end(|| asked.set(asked.get() + 1), &mut interrupts, async || std::future::pending().await).await;
    assert!(matches!(ending.unwrap(), Ending::Left));
    assert_eq!(asked.get(), 1, "a run is asked to stop once");
}

#[tokio::test]
async fn steps_that_are_no_end_go_on_and_a_lost_connection_is_a_failure() {
    let (_presses, receiver) = mpsc::channel(1);
    let mut interrupts = Interrupts::from_test(receiver);
    let steps = Cell::new(0);
    let step = async || {
        steps.set(steps.get() + 1);
        (steps.get() == 3).then_some(Err(Error::Disconnected))
    };
    let failure = until_end(|| {}, &mut interrupts, step).await.unwrap_err();
    assert_eq!(steps.get(), 3);
    assert_eq!(failure.exit(), crate::cli::failure::Exit::UNREACHABLE);
}
