//! A whole run, cut at every message of it, whole and in the middle, and twice in a row.

use ropewalk_daemon::clock::ManualClock;
use ropewalk_protocol::Timestamp;

use super::{
    play::{Handlers, play},
    proxy::{Cut, Proxy, Side},
    world::World,
};

/// 2026-11-30T10:00:00Z; time stands still but for a second at each restart, so that no grace passes and nothing is late.
const NOW_MS: i64 = 1_796_032_800_000;
/// More lines than a run has.
const NEVER: Cut = Cut { from: Side::Client, after: usize::MAX, half: false, restart: false };

/// Plays a run over connections that are cut like this. Says how many of the cuts were come to, and how many lines there
/// were from client and daemon.
async fn played(plan: &[Cut]) -> (usize, [usize; 2]) {
    let world = World::new(Some(ManualClock::new(Timestamp::from_millis(NOW_MS)))).await;
    let proxy = Proxy::new(&world, plan.iter().copied());
    let context = format!("{plan:?}");
    let (handlers, _holding) = Handlers::new(None);
    let client = handlers.connected(proxy.connect(), &context).await;
    play(client, &handlers, &context).await;
    (proxy.cuts(), [Side::Client, Side::Daemon].map(|side| proxy.lines(side)))
}

/// Every place a run can be cut at behind its first handshake, which a program makes itself.
async fn places() -> Vec<(Side, usize)> {
    let (_, [from_client, from_daemon]) = played(&[NEVER]).await;
    assert!(from_client > 8 && from_daemon > 30, "{from_client} lines from the client, {from_daemon} from the daemon");
    let of = |side, lines| (1..lines).map(move |line| (side, line));
    of(Side::Client, from_client).chain(of(Side::Daemon, from_daemon)).collect()
}

/// Plays a run for each place. How many lines there are differs a little from run to run: deltas are merged.
async fn played_at_each(plan: impl Fn(Side, usize) -> Vec<Cut>, step: usize) {
    let (mut planned, mut done) = (0, 0);
    for (from, after) in places().await.into_iter().step_by(step) {
        let plan = plan(from, after);
        planned += plan.len();
        done += played(&plan).await.0;
    }
    assert!(done * 10 >= planned * 9, "{done} of {planned} cuts were come to");
}

#[tokio::test]
async fn dyn_20_a_run_that_is_cut_at_any_message_ends_as_it_would_have() {
    played_at_each(|from, after| vec![Cut { from, after, half: false, restart: false }], 1).await;
}

#[tokio::test]
async fn dyn_20_a_run_that_is_cut_in_the_middle_of_any_message_ends_as_it_would_have() {
    played_at_each(|from, after| vec![Cut { from, after, half: true, restart: false }], 1).await;
}

#[tokio::test]
async fn dyn_20_a_run_that_is_cut_again_while_it_is_taken_up_ends_as_it_would_have() {
    for again in 0..4 {
        let twice = |from, after| {
            let first = Cut { from, after, half: false, restart: false };
            [Side::Client, Side::Daemon]
                .map(|from| Cut { from, after: again, half: again % 2 == 1, restart: false })
                .into_iter()
                .fold(vec![first], |mut plan, cut| {
                    plan.push(cut);
                    plan
                })
        };
        played_at_each(twice, 7).await;
    }
}

#[tokio::test]
async fn dyn_20_a_run_whose_daemon_is_started_anew_at_a_message_ends_as_it_would_have() {
    played_at_each(|from, after| vec![Cut { from, after, half: after % 2 == 1, restart: true }], 2).await;
}
