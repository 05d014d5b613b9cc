//! What is found in one message, and what is shown of it.

use ropewalk_protocol::{Message, Part, Role};

use super::archive::message;
use crate::search::{Dialect, Query, Shelf, around};

fn says(texts: &[&str]) -> Message {
    let shelf = Shelf { project_id: "p".into(), thread_id: "t".into(), messages: 1 };
    let mut message = message(&shelf, 1, Role::User, "");
    message.content = texts.iter().map(|text| Part::text(*text)).collect();
    message
}

fn query(text: &str, ignore_case: bool) -> Query {
    Query::new(text, Dialect { is_regex: false, ignore_case }, None).unwrap()
}

#[test]
fn app_63_letters_match_whatever_their_case_or_in_their_own() {
    assert!(query("rope", true).look_at(&says(&["A ROPE"])).is_some());
    assert!(query("rope", false).look_at(&says(&["A ROPE"])).is_none());
    assert!(query("straße", true).look_at(&says(&["STRAßE"])).is_some());
}

#[test]
fn app_67_app_68_users_and_models_are_looked_at_unless_roles_are_named() {
    let plain = query("x", true);
    assert_eq!([Role::User, Role::Assistant, Role::Tool].map(|role| plain.wants(role)), [true, true, false]);
    let tools = Query::new("x", Dialect::default(), Some(&[Role::Tool])).unwrap();
    assert_eq!([Role::User, Role::Assistant, Role::Tool].map(|role| tools.wants(role)), [false, false, true]);
}

#[test]
fn app_69_matches_are_counted_over_all_texts_of_the_message_and_shown_around_the_first() {
    let found = query("rope", true).look_at(&says(&["nothing", "a rope, a Rope", "ropes"])).unwrap();
    assert_eq!((found.count, found.fragment.as_str()), (3, "a rope, a Rope"));
    assert_eq!(query("nowhere", true).look_at(&says(&["nothing"])), None);
}

#[test]
fn app_70_a_fragment_has_at_most_160_characters_and_the_match_is_in_it() {
    for (before, behind) in [(0, 500), (500, 0), (80, 80), (500, 500), (79, 100), (200, 3)] {
        let text = format!("{}needle{}", "ä".repeat(before), "ö".repeat(behind));
        let found = query("needle", true).look_at(&says(&[&text])).unwrap();
        let length = found.fragment.chars().count();
        assert!(length <= 160 && found.fragment.contains("needle"), "{before}, {behind}: {length} {}", found.fragment);
        assert_eq!(length == 160, before + behind > 154, "as much as may be shown is shown");
    }
    assert_eq!(around("short", 2, 160), "short");
}
