//! Items by pages and by their ids, over logs of every kind.

use std::time::Duration;

use ropewalk_protocol::{Item, ItemBody, ListedItem, RunId, Seq, limits::PAGE_CHARACTERS};

use super::{
    client::Person,
    life::{Life, begin, events, plain, soon},
};
use crate::engine::{ItemQuery, ThreadHandle};

fn query(limit: usize) -> ItemQuery {
    ItemQuery { branch_id: None, run_id: None, before: None, limit }
}

/// Every item that is listed, page by page.
async fn all(thread: &ThreadHandle, query: ItemQuery) -> (Vec<ListedItem>, usize) {
    let (mut found, mut pages, mut query) = (Vec::new(), 0, query);
    loop {
        let page = soon(thread.items(query.clone())).await.unwrap();
        assert!(page.items.len() <= query.limit);
        found.extend(page.items);
        pages += 1;
        let Some(before) = page.next_before else { return (found, pages) };
        assert!(query.before.is_none_or(|former| before < former), "every page goes on");
        query.before = Some(before);
    }
}

/// The items of a thread and their events, newest first, as its events have them.
async fn expected(thread: &ThreadHandle, run: Option<&RunId>) -> Vec<(Seq, Item)> {
    let mut items: Vec<_> = events(thread)
        .await
        .into_iter()
        .filter_map(|event| match event.event {
            ropewalk_protocol::Event::ItemCompleted { item } => Some((event.seq.unwrap(), item)),
            _ => None,
        })
        .filter(|(_, item)| run.is_none_or(|run| item.run_id.as_ref() == Some(run)))
        .collect();
    items.reverse();
    items
}

fn pairs(listed: Vec<ListedItem>) -> Vec<(Seq, Item)> {
    listed.into_iter().map(|listed| (listed.seq, listed.item)).collect()
}

async fn talk(life: &mut Life, thread: &ThreadHandle, runs: usize) -> Vec<RunId> {
    let mut ids = Vec::new();
    for number in 0..runs {
        let run = begin(thread, &format!("Input {number}")).await;
        life.asked().await.ends(&format!("Answer {number}."));
        life.ended(thread, &run).await;
        ids.push(run);
    }
    ids
}

#[tokio::test]
async fn pages_of_any_size_make_the_whole_past_newest_first_each_once() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    assert_eq!(all(&thread, query(10)).await, (Vec::new(), 1));
    let runs = talk(&mut life, &thread, 60).await;
    let everything = expected(&thread, None).await;
    assert_eq!(everything.len(), 120);
    for limit in [1, 7, 119, 120, 1_000] {
        assert_eq!(pairs(all(&thread, query(limit)).await.0), everything, "pages of {limit}");
    }
    for run in [&runs[0], &runs[31], &runs[59]] {
        let of_run = ItemQuery { run_id: Some(run.clone()), ..query(1) };
        let (found, pages) = all(&thread, of_run).await;
        assert_eq!((pairs(found), pages <= 3), (expected(&thread, Some(run)).await, true));
    }
    let nobody = ItemQuery { branch_id: Some("b-9".into()), ..query(1) };
    assert!(soon(thread.items(nobody)).await.is_err());
    let nobody = ItemQuery { run_id: Some("run-9".into()), ..query(1) };
    assert!(soon(thread.items(nobody)).await.is_err());
}

#[tokio::test]
async fn a_page_ends_at_its_characters_and_always_has_its_first_item() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let long = "x".repeat(usize::try_from(PAGE_CHARACTERS).unwrap() + 1);
    let half = &long[..long.len() / 2 - 4_000];
    for text in [&*long, half, half, half, &*long] {
        let run = begin(&thread, "go").await;
        life.asked().await.ends(text);
        life.ended(&thread, &run).await;
    }
    let page = soon(thread.items(query(100))).await.unwrap();
    assert_eq!(page.items.len(), 1, "the longest item of all is a page of its own");
    let (found, pages) = all(&thread, query(100)).await;
    let seqs = |items: Vec<(Seq, Item)>| items.into_iter().map(|(seq, _)| seq).collect::<Vec<_>>();
    assert_eq!((seqs(pairs(found)), pages), (seqs(expected(&thread, None).await), 5));
}

#[tokio::test]
async fn an_item_is_read_by_its_id_open_or_completed_and_wherever_it_stands() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    for _ in 0..8 {
        talk(&mut life, &thread, 30).await;
        life.clock.advance(Duration::from_secs(600));
    }
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    let open = soon(thread.turn(move |turn| Ok(turn.state().runs[&run].open_items.keys().next().cloned().unwrap())));
    let open = open.await.unwrap();
    let item = soon(thread.item(open.clone())).await.unwrap();
    assert!(matches!((item.state, item.body), (ropewalk_protocol::ItemState::Open, ItemBody::ToolCall(_))));
    person.returns(&offered, "seen").await;
    life.asked().await.ends("Done.");
    for (_, item) in expected(&thread, None).await.iter().step_by(17) {
        assert_eq!(soon(thread.item(item.item_id.clone())).await.unwrap(), *item);
    }
    assert_eq!(soon(thread.item(open)).await.unwrap().state, ropewalk_protocol::ItemState::Completed);
    for nobody in ["", "it-9", "0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11"] {
        assert!(soon(thread.item(nobody.into())).await.is_err(), "{nobody}");
    }
}

#[tokio::test]
async fn an_item_made_before_the_clock_was_put_back_is_found_all_the_same() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    talk(&mut life, &thread, 40).await;
    let mut life = life.crash(Duration::ZERO).await;
    life.clock = crate::clock::ManualClock::new("2026-11-30T09:00:00Z".parse().unwrap());
    let store = life.store.store.crash();
    let clock = life.clock.clone();
    let mut life = Life::over(store, clock).await;
    let thread = life.thread(thread.id());
    talk(&mut life, &thread, 80).await;
    for (_, item) in expected(&thread, None).await.iter().step_by(13) {
        assert_eq!(soon(thread.item(item.item_id.clone())).await.unwrap(), *item);
    }
}
