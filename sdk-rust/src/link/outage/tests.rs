//! How the waits between attempts grow, and what counts as one outage.

use std::time::Duration;

use tokio::time::{Instant, advance};

use super::{History, Outage};

fn pauses(random: f64) -> Vec<u128> {
    let outage = |attempts| Outage { since: Instant::now(), attempts };
    (1..=10).map(|attempt| outage(attempt).pause(random).as_millis()).collect()
}

#[test]
fn the_first_attempt_comes_at_once_and_the_pauses_grow_to_five_seconds() {
    assert_eq!(pauses(0.0), [0, 50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    assert_eq!(pauses(1.0), [0, 25, 50, 100, 200, 400, 800, 1_600, 2_500, 2_500]);
    let late = Outage { since: Instant::now(), attempts: u32::MAX };
    assert_eq!(late.pause(0.0), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_does_not_last_ends_no_outage() {
    let mut history = History::default();
    let begun = Instant::now();
    let mut outage = history.lost(begun);
    outage.attempts = 3;
    history.ended(outage);
    let connected_at = Instant::now();
    advance(Duration::from_secs(9)).await;
    let again = history.lost(connected_at);
    assert_eq!((again.since, again.attempts), (begun, 3));
    history.ended(again);
    let connected_at = Instant::now();
    advance(Duration::from_secs(10)).await;
    let new = history.lost(connected_at);
    assert_eq!((new.since, new.attempts), (Instant::now(), 0));
}

#[test]
fn an_outage_without_end_has_a_deadline_that_can_be_reckoned_with() {
    let outage = Outage { since: Instant::now(), attempts: 0 };
    assert!(outage.deadline(Duration::MAX) > Instant::now() + Duration::from_secs(86_400 * 365));
}
