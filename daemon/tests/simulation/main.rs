//! The whole daemon under a seed: clients, faults, crashes and time at random, and everything that must hold meanwhile.
//!
//! One number is one run, the same each time. How to repeat one and how to run many is in `docs/contributing.md`.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod actions;
mod audit;
mod book;
mod client;
mod ending;
mod hear;
mod log;
mod seeds;
mod store;
mod trace;
mod wire;
mod world;

use seeds::{Kind, Seeds};

#[test]
fn whatever_happens_nothing_acknowledged_is_lost_and_nobody_waits_for_nothing() {
    Seeds { kind: Kind::Anything, first: 0, in_ci: 60, in_long: 10_000 }.run();
}

#[test]
fn a_crash_between_two_logs_of_an_operation_leaves_what_the_first_one_says() {
    Seeds { kind: Kind::BetweenLogs, first: 1_000_000, in_ci: 12, in_long: 1_000 }.run();
}

#[test]
fn a_seed_is_the_same_each_time() {
    for seed in [3, 7, 1_000_001] {
        assert_eq!(seeds::digest(seed), seeds::digest(seed), "seed {seed}");
    }
}
