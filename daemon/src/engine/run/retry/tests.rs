//! How long is waited before a model is asked again, and what people are told.

use super::*;
use crate::clock::ManualClock;

fn began() -> (Attempts, ManualClock) {
    let clock = ManualClock::new("2026-11-30T10:00:00Z".parse().unwrap());
    (Attempts::begin(&clock), clock)
}

fn failure(kind: RunErrorKind, retry_after_ms: Option<u64>) -> Failure {
    let error = ModelError { kind, message: "It did not work.".to_owned(), retryable: true, retry_after_ms };
    Failure { error, is_final: false }
}

#[test]
fn each_wait_of_ours_is_twice_the_last_one_and_lengthened_by_less_than_itself() {
    for _ in 0..100 {
        let (mut attempts, _) = began();
        for ms in [500, 1_000, 2_000, 4_000] {
            let shortest = Duration::from_millis(ms);
            let wait = attempts.wait_after(&failure(RunErrorKind::Overloaded, None)).unwrap();
            assert!(wait >= shortest && wait <= 2 * shortest, "{wait:?} after {shortest:?}");
        }
        assert_eq!(attempts.wait_after(&failure(RunErrorKind::Overloaded, None)), Err(Why::Enough));
    }
}

#[test]
fn k30_l17_a_wait_is_never_shorter_than_the_provider_asked_for() {
    for asked_for in [0, 1, 999, 3_000, 60_000, 300_000] {
        for _ in 0..100 {
            let (mut attempts, _) = began();
            for _ in 1..STEP_ATTEMPTS {
                let wait = attempts.wait_after(&failure(RunErrorKind::RateLimited, Some(asked_for))).unwrap();
                assert!(wait >= Duration::from_millis(asked_for).max(FIRST_WAIT), "{wait:?} for {asked_for} ms");
                assert!(wait <= Duration::from_millis(asked_for) + Duration::from_secs(8), "{wait:?}");
            }
        }
    }
}

#[test]
fn a_longer_wait_than_any_is_refused_and_said() {
    let (mut attempts, clock) = began();
    let failure = failure(RunErrorKind::RateLimited, Some(3_600_000));
    let why = attempts.wait_after(&failure).unwrap_err();
    assert_eq!(why, Why::TooLong(Duration::from_secs(3_600)));
    let error = attempts.give_up(failure.error, &why, clock.now());
    assert_eq!(error.message, "It did not work. It asks for a wait of 60 min, and none is longer than 5 min.");
    assert_eq!(error.retry_after_ms, Some(3_600_000));
}

#[test]
fn k30_l25_what_would_fail_again_is_not_asked_again() {
    let permanent = ModelError { retryable: false, ..failure(RunErrorKind::ContextWindow, None).error };
    let certain = Failure { is_final: true, ..failure(RunErrorKind::Overloaded, None) };
    for failure in [Failure { error: permanent, is_final: false }, certain] {
        let (mut attempts, clock) = began();
        assert_eq!(attempts.wait_after(&failure), Err(Why::Useless));
        let error = attempts.give_up(failure.error.clone(), &Why::Useless, clock.now());
        assert_eq!(error, failure.error, "one attempt needs no list");
    }
}

#[test]
fn l25_the_last_error_lists_what_was_tried() {
    let (mut attempts, clock) = began();
    for kind in [RunErrorKind::RateLimited, RunErrorKind::Stalled, RunErrorKind::RateLimited] {
        drop(attempts.wait_after(&failure(kind, None)));
    }
    clock.advance(Duration::from_millis(31_400));
    let error = attempts.give_up(failure(RunErrorKind::RateLimited, None).error, &Why::Enough, clock.now());
    assert_eq!(error.message, "It did not work. (3 attempts over 31 s: rateLimited ×2, stalled ×1)");
}

#[test]
fn a_notice_says_who_why_when_and_which_attempt() {
    let (mut attempts, clock) = began();
    drop(attempts.wait_after(&failure(RunErrorKind::RateLimited, None)));
    let party = Party::named("api.example.com");
    let notice = attempts.notice(RunErrorKind::RateLimited, &party, clock.now().plus_millis(3_250));
    let expected = "Too many requests at api.example.com (rateLimited). Trying again at 10:00:03 UTC, attempt 2 of 5.";
    assert_eq!((notice.code, notice.text.as_str()), ("retrying", expected));
}
