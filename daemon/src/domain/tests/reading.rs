//! What makes a thread unread, and what makes it read.

use ropewalk_protocol::OutcomeStatus;

use super::{
    bench::{Bench, Done},
    fixtures::{branch, outcome},
};
use crate::domain::{DomainError, PauseReason};

/// A run ends so while nobody looks.
fn ends_unseen(bench: &mut Bench, status: OutcomeStatus) -> Done<()> {
    let run = bench.submit("go").value.run_id;
    bench.change(|change| {
        change.finish_run(&run, outcome(status), &|_| None);
        change.nobody_sees();
    })
}

#[test]
fn an_end_nobody_sees_makes_a_thread_unread_without_an_event_and_a_stop_does_not() {
    for (status, is_news) in [
        (OutcomeStatus::Completed, true),
        (OutcomeStatus::Failed, true),
        (OutcomeStatus::Interrupted, true),
        (OutcomeStatus::Stopped, false),
    ] {
        let mut bench = Bench::new();
        let revision = bench.state.thread.revision;
        let done = ends_unseen(&mut bench, status);
        assert_eq!(done.types(), ["runCompleted"]);
        assert_eq!((bench.state.thread.unread, bench.state.thread.revision), (is_news, revision));
    }
    let mut bench = Bench::new();
    bench.submit("go");
    bench.change(|change| change.nobody_sees());
    assert!(!bench.state.thread.unread, "that a run begins is no news");
}

#[test]
fn a_pause_that_only_a_person_ends_is_news_and_one_of_the_daemons_own_is_not() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    bench.change(|change| {
        change.park_run(&run);
        change.nobody_sees();
    });
    assert!(!bench.state.thread.unread);
    bench.change(|change| change.recover());
    bench.change(|change| {
        change.pause_run(&run, PauseReason::Budget, "Enough.".to_owned());
        change.nobody_sees();
    });
    assert!(bench.state.thread.unread);
}

#[test]
fn what_was_read_is_read_and_what_came_after_it_stays_unread() {
    let mut bench = Bench::new();
    ends_unseen(&mut bench, OutcomeStatus::Completed);
    let first = bench.state.thread.seq;
    ends_unseen(&mut bench, OutcomeStatus::Completed);
    let last = bench.state.thread.seq;
    assert!(bench.change(|change| change.mark_read(None, first)).events.is_empty());
    assert!(bench.state.thread.unread, "the second end came after what was read");
    bench.change(|change| change.mark_read(Some(branch()), last)).value.unwrap();
    assert!(!bench.state.thread.unread);
    let records = bench.log.len();
    bench.change(|change| change.mark_read(None, last)).value.unwrap();
    assert_eq!(bench.log.len(), records, "what is read already writes nothing");
    let refused = bench.change(|change| change.mark_read(Some("b-9".into()), last)).value;
    assert_eq!(refused, Err(DomainError::NoBranch("b-9".into())));
}
