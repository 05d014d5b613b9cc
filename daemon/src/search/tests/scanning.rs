//! The order, the bounds and the way from page to page.

use std::cell::Cell;

use ropewalk_protocol::Role;

use super::archive::{Thread, Threads};
use crate::search::{Bounds, Dialect, Found, Place, Query, Spot, scan};

fn query() -> Query {
    Query::new("rope", Dialect { is_regex: false, ignore_case: true }, None).unwrap()
}

fn thread(project: &'static str, id: &'static str, texts: &[&str]) -> Thread {
    (project, id, texts.iter().map(|text| (Role::User, (*text).to_owned())).collect())
}

fn some() -> Threads {
    Threads::new(vec![
        thread("q", "t2", &["rope", "rope"]),
        thread("p", "t9", &["rope 9", "no", "rope"]),
        thread("p", "t1", &["no", "rope", "no", "no"]),
        thread("p", "t5", &["no", "no"]),
    ])
}

fn page(threads: &Threads, after: Option<Place>, bounds: Bounds) -> Found {
    scan(threads, &query(), after, bounds, &|| false).unwrap()
}

fn ids(found: &Found) -> Vec<String> {
    found.hits.iter().map(|(_, hit)| hit.message_id.to_string()).collect()
}

/// All hits, page by page, and how many pages there were.
fn all(threads: &Threads, bounds: Bounds) -> (Vec<String>, usize) {
    let (mut found, mut pages, mut after) = (Vec::new(), 0, None);
    loop {
        let part = page(threads, after.clone(), bounds);
        found.extend(ids(&part));
        pages += 1;
        assert!(pages < 100, "every page goes on");
        match part.next {
            Some(next) => after = Some(next),
            None => return (found, pages),
        }
    }
}

const ORDER: [&str; 5] = ["t1-2", "t9-1", "t9-3", "t2-1", "t2-2"];

#[test]
fn app_60_app_71_hits_come_from_all_projects_in_the_order_of_project_thread_and_message() {
    let threads = some();
    let found = page(&threads, None, Bounds::of(100));
    assert_eq!((ids(&found), found.next), (ORDER.map(str::to_owned).to_vec(), None));
    assert_eq!(found.hits[1].1.project_name, "Project p");
    assert_eq!((threads.looked.get(), threads.read.get()), (4, 9), "a thread without it is passed over as a whole");
}

#[test]
fn app_72_a_page_ends_with_its_hits_and_the_next_begins_behind_them() {
    for limit in 1..=6 {
        let (found, pages) = all(&some(), Bounds::of(limit));
        assert_eq!(found, ORDER, "{limit} at a time");
        assert!(pages >= 5_usize.div_ceil(limit));
        assert!(page(&some(), None, Bounds::of(limit)).hits.len() <= limit);
    }
}

#[test]
fn app_73_a_page_ends_with_its_characters_and_has_its_first_hit_always() {
    let narrow = Bounds { characters: 10, ..Bounds::of(100) };
    let (found, pages) = all(&some(), narrow);
    assert_eq!(found, ORDER);
    assert!(pages >= 5, "one hit a page: {pages}");
    assert_eq!(page(&some(), None, narrow).hits.len(), 1);
    let one = serde_json::to_string(&page(&some(), None, narrow).hits[0].1).unwrap().chars().count() as u64 + 1;
    let exact = page(&some(), None, Bounds { characters: one, ..Bounds::of(100) });
    assert_eq!(exact.hits.len(), 1, "a second one of that length would be too much");
}

#[test]
fn app_74_a_page_ends_with_the_messages_it_looks_at() {
    for messages in 1..=12 {
        let bounds = Bounds { messages, ..Bounds::of(100) };
        assert_eq!(all(&some(), bounds).0, ORDER, "{messages} at a time");
        let threads = some();
        page(&threads, None, bounds);
        assert!(threads.read.get() <= messages, "{} of {messages}", threads.read.get());
    }
    let threads = Threads::new(vec![thread("p", "t1", &["no", "no"]), thread("p", "t2", &["rope"])]);
    let first = page(&threads, None, Bounds { messages: 2, ..Bounds::of(100) });
    assert!(first.hits.is_empty(), "a page may be empty");
    assert_eq!(first.next, Some(Place { project_id: "p".into(), thread_id: "t1".into(), spot: None }));
}

#[test]
fn app_75_whatever_ends_a_page_the_pages_are_the_whole_without_gap_and_without_repeat() {
    for hits in 1..4 {
        for messages in 1..6 {
            for characters in [1, 400, 100_000] {
                let bounds = Bounds { hits, characters, messages };
                assert_eq!(all(&some(), bounds).0, ORDER, "{bounds:?}");
            }
        }
    }
}

#[test]
fn app_76_a_place_stays_right_while_threads_grow_come_and_go() {
    let mut threads = some();
    let first = page(&threads, None, Bounds::of(2));
    assert_eq!(ids(&first), ["t1-2", "t9-1"]);
    // What is before the place grows, what is behind it grows, a thread comes behind it and one goes.
    threads.threads[2].2.push((Role::User, "rope, later".to_owned()));
    threads.threads[1].2.push((Role::User, "rope, later".to_owned()));
    threads.threads[0].2.clear();
    threads.threads.push(thread("q", "t0", &["rope"]));
    let rest = page(&threads, first.next, Bounds::of(100));
    assert_eq!(ids(&rest), ["t9-3", "t9-4", "t0-1"]);

    let gone = Place { project_id: "p".into(), thread_id: "t9".into(), spot: Some(Spot { n: 1, nth: 0 }) };
    threads.threads.retain(|(_, id, _)| *id != "t9");
    assert_eq!(ids(&page(&threads, Some(gone), Bounds::of(100))), ["t0-1"], "the place of a thread that was deleted");
}

#[test]
fn a_page_whose_time_is_up_has_looked_at_something_and_ends_where_it_is() {
    let threads = some();
    let (mut found, mut after) = (Vec::new(), None);
    for pages in 0.. {
        let part = scan(&threads, &query(), after, Bounds::of(100), &|| true).unwrap();
        found.extend(ids(&part));
        if part.next.is_none() {
            assert!(pages >= 4);
            break;
        }
        assert!(pages < 20, "each page goes on");
        after = part.next;
    }
    assert_eq!(found, ORDER);
    let calls = Cell::new(0);
    let later = scan(&threads, &query(), None, Bounds::of(100), &|| calls.replace(calls.get() + 1) > 0).unwrap();
    assert!(later.next.is_some() && !later.hits.is_empty());
}

#[test]
fn what_cannot_be_read_fails_the_page() {
    let threads = Threads::new(vec![thread("p", "t1", &["rope", "rope unreadable"])]);
    let failed = scan(&threads, &query(), None, Bounds::of(10), &|| false);
    assert_eq!(failed, Err("a row cannot be read".to_owned()));
}

#[test]
fn a_place_is_a_word_and_back() {
    for spot in [None, Some(Spot { n: 7, nth: 2 })] {
        let place = Place { project_id: "p q".into(), thread_id: "t\n".into(), spot };
        assert_eq!(Place::of_key(&place.key()), Some(place));
    }
    for nonsense in ["", "7", "[]", "[\"p\"]", "[\"p\",\"t\",[1]]"] {
        assert_eq!(Place::of_key(nonsense), None);
    }
}
