//! Logs that are read while the store is open already: each is usable when it is read, and not before.

use std::{
    collections::HashSet,
    path::Path,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use futures::FutureExt as _;
use ropewalk_protocol::Timestamp;

use crate::store::{
    DiskStore, FailPoint, LogName, Projection, Projector, Rows, Store as _, StoreError,
    tests::support::{Counting, OnDisk, Subject as _, all_rows, copy, events, log_path, put, thread, within},
};

const LOGS: [&str; 6] = ["aa01", "aa02", "aa03", "aa04", "aa05", "aa06"];
const PATIENCE: Duration = Duration::from_secs(60);

/// What stands between a log and the index.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    held: HashSet<LogName>,
    begun: HashSet<LogName>,
}

impl Gate {
    fn holding(logs: &[&str]) -> Arc<Self> {
        let held = logs.iter().map(|id| thread(id)).collect();
        Arc::new(Self { state: Mutex::new(State { held, begun: HashSet::new() }), news: Condvar::new() })
    }

    fn let_go(&self, logs: &[LogName]) {
        self.state.lock().unwrap().held.retain(|log| !logs.contains(log));
        self.news.notify_all();
    }

    fn let_all_go(&self) {
        self.state.lock().unwrap().held.clear();
        self.news.notify_all();
    }

    /// The logs that are being read, when there are so many.
    fn begun(&self, count: usize) -> HashSet<LogName> {
        let state = self.state.lock().unwrap();
        let (state, waited) = self.news.wait_timeout_while(state, PATIENCE, |state| state.begun.len() < count).unwrap();
        assert!(!waited.timed_out(), "only {:?} have been begun with", state.begun);
        state.begun.clone()
    }

    fn pass(&self, log: &LogName) {
        let mut state = self.state.lock().unwrap();
        state.begun.insert(log.clone());
        self.news.notify_all();
        drop(self.news.wait_timeout_while(state, PATIENCE, |state| state.held.contains(log)).unwrap());
    }
}

/// A projector that waits at the gate.
struct Gated(Arc<Gate>);

impl Projector for Gated {
    fn begin(&self, log: &LogName) -> Box<dyn Projection> {
        self.0.pass(log);
        Counting.begin(log)
    }

    fn is_removed(&self, log: &LogName, rows: &dyn Rows) -> Result<bool, StoreError> {
        Counting.is_removed(log, rows)
    }
}

/// Opens a home, and leaves everything but the daemon's log for later.
fn open_early(home: &Path, gate: &Arc<Gate>) -> DiskStore {
    let now = Timestamp::from_millis(1_796_040_000_000);
    DiskStore::open_early(home, Arc::new(Gated(gate.clone())), now, &Arc::default(), 0).unwrap()
}

/// A home with some logs that is of this version, and no index.
async fn without_index() -> (OnDisk, tempfile::TempDir) {
    let disk = OnDisk::new();
    for id in LOGS {
        for n in 1..=3 {
            put(&disk.store, &thread(id), n, &["e"]).await.unwrap();
        }
    }
    let image = disk.image();
    std::fs::remove_dir_all(image.path().join("index")).unwrap();
    (disk, image)
}

fn is_starting<T: std::fmt::Debug>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Starting { .. }))
}

#[tokio::test]
async fn ruling_40_a_log_that_is_waited_for_is_read_next_and_used_while_others_are_not() {
    let (before, home) = without_index().await;
    let gate = Gate::holding(&LOGS);
    let store = open_early(home.path(), &gate);
    let begun = gate.begun(2);
    let wanted = LOGS.iter().map(|id| thread(id)).find(|log| !begun.contains(log)).unwrap();
    assert!(store.is_comparing());
    assert!(is_starting(&within(store.read(&wanted, 1, 1)).await), "nothing of it is shown before it has been read");
    assert!(is_starting(&put(&store, &wanted, 4, &["x"]).await), "nothing is written to it either");
    let compared = store.compared(Some(&wanted));
    // One walker goes on: what comes next for it is what somebody waits for, or it is held again.
    let first = begun.iter().next().unwrap().clone();
    gate.let_go(&[first, wanted.clone()]);
    within(compared).await.unwrap();
    assert_eq!(events(&store, &wanted, 1).await, ["e"; 3]);
    put(&store, &wanted, 4, &["f"]).await.unwrap();
    assert_eq!(events(&store, &wanted, 4).await, ["f"]);
    assert!(store.is_comparing() && store.compared(None).now_or_never().is_none());
    let held = begun.iter().nth(1).unwrap();
    assert!(is_starting(&within(store.read(held, 1, 1)).await));
    assert!(is_starting(&within(store.check()).await), "what is about all logs waits for all");

    gate.let_all_go();
    within(store.compared(None)).await.unwrap();
    assert!(!store.is_comparing());
    put(&before.store, &wanted, 4, &["f"]).await.unwrap();
    assert_eq!(all_rows(&store), all_rows(&before.store));
    assert_eq!(within(store.check()).await.unwrap().differences, []);
    drop(store);
    let again = OnDisk::open(home);
    assert!(again.store.notices().is_empty(), "{:?}", again.store.notices());
    assert_eq!(all_rows(&again.store), all_rows(&before.store));
}

#[tokio::test]
async fn ruling_40_tails_that_are_read_late_are_no_less_there() {
    let disk = OnDisk::new();
    for id in LOGS {
        put(&disk.store, &thread(id), 1, &["e"]).await.unwrap();
    }
    within(disk.store.flush()).await.unwrap();
    let home = disk.image();
    for id in LOGS {
        put(&disk.store, &thread(id), 2, &["f"]).await.unwrap();
        std::fs::copy(disk.log_path(&thread(id)), log_path(home.path(), &thread(id))).unwrap();
    }
    let gate = Gate::holding(&["aa02"]);
    let store = open_early(home.path(), &gate);
    within(store.compared(Some(&thread("aa05")))).await.unwrap();
    put(&store, &thread("aa05"), 3, &["g"]).await.unwrap();
    put(&disk.store, &thread("aa05"), 3, &["g"]).await.unwrap();
    // Killed in the middle of it, the next start finds everything again.
    let image = tempfile::tempdir().unwrap();
    copy(home.path(), image.path());
    assert_eq!(all_rows(&OnDisk::open(image).store), all_rows(&disk.store));
    gate.let_all_go();
    within(store.compared(None)).await.unwrap();
    assert_eq!(all_rows(&store), all_rows(&disk.store));
}

#[tokio::test]
async fn an_index_that_fails_while_logs_are_read_is_built_anew_with_all_of_them() {
    let (before, home) = without_index().await;
    let gate = Gate::holding(&["aa01", "aa02", "aa03"]);
    let store = open_early(home.path(), &gate);
    within(store.compared(Some(&thread("aa06")))).await.unwrap();
    store.fail_next(FailPoint::Index);
    put(&store, &thread("aa06"), 4, &["f"]).await.unwrap();
    within(store.flush()).await.unwrap();
    assert!(store.degraded().is_some());
    assert_eq!(events(&store, &thread("aa06"), 4).await, ["f"], "the commit stands");
    gate.let_all_go();
    within(store.compared(None)).await.unwrap();
    assert_eq!(store.degraded(), None);
    put(&before.store, &thread("aa06"), 4, &["f"]).await.unwrap();
    within(store.flush()).await.unwrap();
    assert_eq!(all_rows(&store), all_rows(&before.store));
    assert_eq!(within(store.check()).await.unwrap().differences, []);
}

#[tokio::test]
async fn a_store_that_is_closed_while_it_reads_lets_nobody_wait() {
    let (before, home) = without_index().await;
    let gate = Gate::holding(&LOGS);
    let store = open_early(home.path(), &gate);
    gate.begun(2);
    let waits = store.compared(None);
    let closing = std::thread::spawn(move || drop(store));
    gate.let_all_go();
    // Whichever was first: everything was read, or it says that it was not.
    let ended = within(waits).await;
    assert!(ended.is_ok() || is_starting(&ended), "{ended:?}");
    closing.join().unwrap();
    assert_eq!(all_rows(&OnDisk::open(home).store), all_rows(&before.store));
}
