//! What a page of a list costs when there is much that is not on it.

use std::sync::atomic::Ordering;

use ropewalk_protocol::{ProjectId, ThreadId};

use super::{
    client::Person,
    life::{Life, soon},
};
use crate::{
    engine::{
        lookup,
        rows::{self, ThreadRow},
    },
    store::{Commit, LogName, RowChange, Store as _, keys},
};

/// The rows of so many threads more, like one that there is, in a project.
async fn many(life: &Life, like: &ThreadRow, project: &str, count: usize) {
    let changes = (0..count).flat_map(|n| {
        let (id, project) = (ThreadId::from(format!("{project}-{n:05}")), ProjectId::from(project));
        let mut row = like.clone();
        (row.thread.thread_id, row.thread.project_id) = (id.clone(), project.clone());
        let row = serde_json::to_vec(&row).unwrap();
        [RowChange::Put(keys::in_project(&project, &id), Vec::new()), RowChange::Put(keys::thread(&id), row)]
    });
    let commit =
        Commit { log: LogName::Thread(like.thread.thread_id.clone()), records: Vec::new(), rows: changes.collect() };
    soon(life.store.commit(commit)).await.unwrap();
}

#[tokio::test]
async fn app_54_a_page_of_threads_reads_its_own_rows_however_many_threads_there_are() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let like: ThreadRow = rows::get(&*life.store, &keys::thread(thread.id())).unwrap().unwrap();
    for project in ["p-before", "p-own", "p-behind"] {
        many(&life, &like, project, if project == "p-own" { 250 } else { 5_000 }).await;
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let before = life.store.rows_read.load(Ordering::SeqCst);
        let page = lookup::threads_in(life.engine().shared(), &"p-own".into(), after.as_ref(), 101).unwrap();
        let read = life.store.rows_read.load(Ordering::SeqCst) - before;
        assert!(read <= 2 * page.len(), "{read} rows were read for {} of 10,251 threads", page.len());
        let shown = page.len().min(100);
        found.extend(page.iter().take(shown).map(|row| row.thread.thread_id.to_string()));
        after = page.get(shown - 1).map(|row| row.thread.thread_id.clone());
        if page.len() <= 100 {
            break;
        }
    }
    let expected: Vec<String> = (0..250).rev().map(|n| format!("p-own-{n:05}")).collect();
    assert_eq!(found, expected);
}
