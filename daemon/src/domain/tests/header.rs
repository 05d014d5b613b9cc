//! The header and its revisions.

use ropewalk_protocol::Patch;

use super::bench::Bench;
use crate::domain::DomainError;

fn rename(bench: &mut Bench, expected: Option<u64>, title: &str) -> Result<(), DomainError> {
    let title = Patch::Set(title.to_owned());
    bench.change(|change| change.update_header(expected, title, None, Patch::Keep, None)).value
}

#[test]
fn a_change_of_the_header_raises_its_revision_and_messages_do_not() {
    let mut bench = Bench::new();
    rename(&mut bench, Some(1), "A title").unwrap();
    assert_eq!((bench.state.thread.revision, bench.state.thread.title.as_deref()), (2, Some("A title")));
    let run = bench.submit("hello").value.run_id;
    bench.complete(&run, "done");
    assert_eq!(bench.state.thread.revision, 2);
}

#[test]
fn k40_a_change_based_on_another_revision_is_refused_and_names_the_one_now() {
    let mut bench = Bench::new();
    rename(&mut bench, None, "A title").unwrap();
    assert_eq!(rename(&mut bench, Some(1), "Another"), Err(DomainError::Revision { current: 2 }));
    assert_eq!(bench.state.thread.title.as_deref(), Some("A title"));
}

#[test]
fn a_change_that_changes_nothing_writes_nothing() {
    let mut bench = Bench::new();
    rename(&mut bench, None, "A title").unwrap();
    let (seq, title) = (bench.state.thread.seq, Patch::Set("A title".to_owned()));
    bench.change(|change| change.update_header(None, title, Some(false), Patch::Keep, None)).value.unwrap();
    assert_eq!((bench.state.thread.seq, bench.state.thread.revision), (seq, 2));
}

#[test]
fn the_archive_flag_moves_a_thread_in_the_order_of_lists() {
    let mut bench = Bench::new();
    bench.change(|change| change.update_header(None, Patch::Keep, None, Patch::Keep, Some(true))).value.unwrap();
    let run = bench.submit("hello").value.run_id;
    bench.stop(&run);
    bench.change(|change| change.update_header(None, Patch::Keep, None, Patch::Keep, Some(false))).value.unwrap();
    assert_eq!(bench.index.places("active"), 1, "it stands in the order once");
    assert_eq!(bench.index.places("archived"), 0);
}
