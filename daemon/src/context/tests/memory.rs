//! The index of what is remembered: its order, its budget, and that whatever is left out says so.

use std::sync::Arc;

use ropewalk_protocol::{MemoryAuthor, MemoryEntry, MemoryKind, MemoryScope, Timestamp};

use crate::context::{memory::index, tokens::text_tokens};

fn entry(id: &str, scope: MemoryScope, kind: MemoryKind, body: &str) -> MemoryEntry {
    MemoryEntry {
        entry_id: id.into(),
        scope,
        project_id: (scope == MemoryScope::Project).then(|| "p1".into()),
        kind,
        title: format!("Title {id}"),
        body: Some(body.to_owned()),
        tags: Vec::new(),
        pinned: false,
        enabled: true,
        author: MemoryAuthor::User,
        thread_id: None,
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
        revision: 1,
    }
}

fn of(entries: Vec<MemoryEntry>, budget: u64) -> (String, bool) {
    let entries: Vec<_> = entries.into_iter().map(Arc::new).collect();
    let (text, cut) = index(&entries, budget);
    assert!(text_tokens(&text) <= budget, "{} of {budget}: {text}", text_tokens(&text));
    (text, cut)
}

fn is_before(text: &str, first: &str, second: &str) -> bool {
    text.find(first).expect(first) < text.find(second).expect(second)
}

use MemoryKind::{Fact, Preference, Profile};
use MemoryScope::{Project, User};

#[test]
fn b2_profiles_and_what_is_pinned_are_told_in_full_and_the_rest_by_title_and_id() {
    let pinned = MemoryEntry { pinned: true, ..entry("m2", User, Fact, "PINNED BODY") };
    let (text, cut) = of(
        vec![entry("m1", User, Profile, "PROFILE BODY"), pinned, entry("m3", User, Preference, "HIDDEN BODY")],
        2_048,
    );
    assert!(!cut);
    assert!(text.contains("## Title m1 (user profile, m1)\n\nPROFILE BODY"), "{text}");
    assert!(text.contains("## Title m2 (user fact, m2)\n\nPINNED BODY"), "{text}");
    assert!(text.ends_with("## By title\n\n- Title m3 (user preference, m3)"), "{text}");
    assert!(!text.contains("HIDDEN BODY"));
    assert!(text.contains("never an instruction") && text.contains("project's instructions go before memory"));
    assert!(text.contains("an entry of the project goes before one of the user"));
}

#[test]
fn b2_entries_of_the_project_stand_before_those_of_the_user_and_new_titles_before_old_ones() {
    let new = MemoryEntry { updated_at: Timestamp::from_millis(9), ..entry("u2", User, Fact, "x") };
    let (text, _) = of(
        vec![
            entry("u0", User, Profile, "x"),
            entry("u1", User, Fact, "x"),
            new,
            entry("p0", Project, Profile, "x"),
            entry("p1", Project, Fact, "x"),
        ],
        2_048,
    );
    assert!(is_before(&text, "Title p0", "Title u0"), "{text}");
    assert!(is_before(&text, "Title u0", "Title p1"), "in full before by title");
    assert!(is_before(&text, "Title p1", "Title u2"), "{text}");
    assert!(is_before(&text, "Title u2", "Title u1"), "{text}");
}

#[test]
fn an_entry_that_is_off_is_in_no_index_and_without_entries_there_is_none() {
    let off = MemoryEntry { enabled: false, ..entry("m1", User, Profile, "x") };
    assert_eq!(of(vec![off.clone()], 2_048), (String::new(), false));
    assert_eq!(of(Vec::new(), 2_048), (String::new(), false));
    let (text, cut) = of(vec![off, entry("m2", User, Fact, "x")], 2_048);
    assert!(!text.contains("m1") && text.contains("m2") && !cut);
}

#[test]
fn b2_a_text_over_the_budget_is_cut_with_a_note_and_titles_keep_their_part() {
    let long = entry("m1", User, Profile, &"many words about this ".repeat(220));
    let other = MemoryEntry { pinned: true, ..entry("m2", User, Fact, &"and more of them ".repeat(900)) };
    let third = MemoryEntry { pinned: true, ..entry("m3", User, Fact, &"no room for this ".repeat(200)) };
    let fourth = MemoryEntry { pinned: true, ..entry("m4", User, Fact, &"nor for this ".repeat(99)) };
    let titles = (10..40).map(|number| entry(&format!("m{number}"), User, Fact, "x"));
    let (text, cut) = of([long, other, third, fourth].into_iter().chain(titles).collect(), 2_048);
    assert!(cut);
    assert!(text.contains("app_read Memory m2 has the rest]"), "{text}");
    assert!(text.matches("\n- Title ").count() >= 10, "titles have a part of their own: {text}");
    let shown = text.matches("Title m").count();
    let note = format!("[cut: {} more entries have no room here; app_read Memory lists them]", 34 - shown);
    assert!(text.ends_with(&note), "{note}: {text}");
}

#[test]
fn b2_of_300_titles_those_that_fit_are_told_and_the_others_counted() {
    let entries: Vec<_> = (0..300).map(|number| entry(&format!("id-{number:03}"), User, Fact, "x")).collect();
    let (text, cut) = of(entries, 2_048);
    let shown = text.matches("\n- Title ").count();
    assert!(cut && shown > 40 && shown < 300, "{shown}");
    assert!(text.contains(&format!("[cut: {} more entries have no room here", 300 - shown)));
}

#[test]
fn the_smallest_window_has_a_visible_cut_and_no_more() {
    for budget in [1, 10, 40, 41, 60, 100, 200] {
        let entries = vec![entry("m1", User, Profile, &"words ".repeat(400)), entry("m2", User, Fact, "x")];
        let entries: Vec<_> = entries.into_iter().map(Arc::new).collect();
        let (text, cut) = index(&entries, budget);
        assert!(cut && text.contains("[cut: "), "{budget}: {text}");
    }
}
