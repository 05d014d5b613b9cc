//! Tool sets: declared, replaced, withdrawn, taken over.

use ropewalk_protocol::{Event, ToolsCause};

use super::{
    bench::Bench,
    fixtures::{client, declaring},
};
use crate::domain::DomainError;

type Told = (u64, Vec<String>, Vec<String>, ToolsCause);

fn declare(bench: &mut Bench, instance: &str, tools: &[&str], takeover: bool) -> Result<Option<Told>, DomainError> {
    let declaring = declaring(instance, Some(tools), takeover);
    let done = bench.change(|change| change.declare_tools(&declaring));
    done.value?;
    Ok(done.events.into_iter().next().map(|event| match event {
        Event::ToolsChanged(changed) => (changed.revision, changed.added, changed.removed, changed.cause),
        other => panic!("{other:?} is no change of tools"),
    }))
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_set_is_declared_whole_replaced_whole_and_withdrawn() {
    let mut bench = Bench::new();
    let first = declare(&mut bench, "in-A", &["look", "find"], false).unwrap();
    assert_eq!(first, Some((1, names(&["look", "find"]), names(&[]), ToolsCause::Declared)));
    assert_eq!(declare(&mut bench, "in-A", &["look", "find"], false), Ok(None), "the same again is no change");
    let second = declare(&mut bench, "in-A", &["find", "write"], false).unwrap();
    assert_eq!(second, Some((2, names(&["write"]), names(&["look"]), ToolsCause::Declared)));
    let third = declare(&mut bench, "in-A", &[], false).unwrap();
    assert_eq!(third, Some((3, names(&[]), names(&["find", "write"]), ToolsCause::Withdrawn)));
    assert!(bench.state.tool_sets.is_empty());
}

#[test]
fn ruling_26_a_name_bound_by_another_instance_is_refused_and_nothing_changes() {
    let mut bench = Bench::new();
    declare(&mut bench, "in-A", &["look"], false).unwrap();
    let before = bench.state.clone();
    let refused = declare(&mut bench, "in-B", &["find", "look"], false);
    assert_eq!(refused, Err(DomainError::ToolBound { flat_name: "look".to_owned(), owner: client("in-A") }));
    assert_eq!(bench.state, before);
    declare(&mut bench, "in-B", &["find"], false).unwrap();
    assert_eq!(bench.state.tool_sets.len(), 2, "other names stand beside it");
}

#[test]
fn a_takeover_takes_the_names_it_names_and_leaves_the_rest() {
    let mut bench = Bench::new();
    declare(&mut bench, "in-A", &["look", "find"], false).unwrap();
    let told = declare(&mut bench, "in-B", &["look"], true).unwrap().unwrap();
    assert_eq!(told.3, ToolsCause::Takeover);
    let held = |instance: &str| bench.state.tool_sets[&client(instance)].tools[0].flat_name.clone();
    assert_eq!((held("in-A").as_str(), held("in-B").as_str()), ("find", "look"));
}

#[test]
fn a_takeover_of_everything_leaves_the_former_owner_nothing() {
    let mut bench = Bench::new();
    declare(&mut bench, "in-A", &["look"], false).unwrap();
    declare(&mut bench, "in-B", &["look"], true).unwrap();
    assert!(!bench.state.tool_sets.contains_key(&client("in-A")));
}
