//! The store in memory with its faults decided by the seed: slow commits, commits that fail, and crashes around them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::{FutureExt as _, future, future::BoxFuture};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use ropewalk_daemon::store::{
    BlobPart, Commit, FailPoint, Key, LogName, MemoryStore, Pin, Record, Rows, Scan, Sieve, Sifted, Store, StoreError,
    StoreSizes,
};
use ropewalk_protocol::{BlobId, Seq};

/// Where the daemon is to die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    /// At a commit: nothing of it is durable.
    BeforeSync,
    /// At a commit: its records are durable, the index knows nothing of them.
    AfterSync,
    /// At a commit: it is durable, and nobody was told.
    AfterRows,
    /// Right after a rule is durable, before any thread can write down what follows from it.
    BetweenLogs,
    /// With the first record of a thread durable, and the index without it.
    FirstRecord,
    /// With the runs of a deleted thread stopped, and nothing that says it is deleted.
    BeforeTombstone,
    /// With the tombstone of a thread durable, and its log as it was.
    Tombstone,
    /// With the log of a deleted thread gone, and nothing that says so.
    BeforeGone,
}

/// What is to go wrong, and what has.
pub(crate) struct Plan {
    rng: StdRng,
    /// The next commit fails there.
    pub(crate) fault: Option<FailPoint>,
    /// The daemon dies there, after so many commits.
    pub(crate) crash: Option<(Crash, u32)>,
    /// How often a commit lets others go first, at most.
    pub(crate) slowness: u32,
    /// Whether the daemon is dead: nothing is committed any more.
    pub(crate) is_dead: bool,
    /// Whether a rule is durable and no thread may write.
    pub(crate) is_between: bool,
    /// Whether a thread has tried to write between the two logs.
    pub(crate) was_between: bool,
}

enum Verdict {
    Commit,
    Fail(FailPoint),
    CommitAndDie,
    Hang,
}

/// A store whose commits go as a [`Plan`] says.
pub(crate) struct Faulty {
    inner: Arc<MemoryStore>,
    plan: Arc<Mutex<Plan>>,
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rng: StdRng::seed_from_u64(seed ^ 0x5705),
            fault: None,
            crash: None,
            slowness: 3,
            is_dead: false,
            is_between: false,
            was_between: false,
        }
    }

    /// The daemon is started again: nothing is planned.
    pub(crate) fn restart(&mut self) {
        (self.fault, self.crash) = (None, None);
        (self.is_dead, self.is_between, self.was_between) = (false, false, false);
    }

    fn judge(&mut self, commit: &Commit) -> Verdict {
        if self.is_dead {
            return Verdict::Hang;
        }
        let is_thread = matches!(commit.log, LogName::Thread(_));
        if self.is_between && is_thread {
            (self.is_dead, self.was_between) = (true, true);
            return Verdict::Hang;
        }
        match self.crash {
            Some((Crash::BetweenLogs, _)) => {
                if commit.log == LogName::Daemon && sets_a_rule(commit) {
                    (self.crash, self.is_between) = (None, true);
                }
                Verdict::Commit
            }
            Some((Crash::FirstRecord, _)) if is_thread && commit.records.first().is_some_and(|r| r.n == 1) => {
                self.dies(Verdict::Fail(FailPoint::HangAfterSync))
            }
            Some((Crash::FirstRecord, _)) => Verdict::Commit,
            Some((Crash::BeforeTombstone, _)) => self.dies_with(commit, "tombstone"),
            Some((Crash::BeforeGone, _)) => self.dies_with(commit, "gone"),
            Some((Crash::Tombstone, _)) => {
                if says(commit, "tombstone") {
                    (self.crash, self.is_between) = (None, true);
                }
                Verdict::Commit
            }
            Some((crash, 0)) => self.dies(match crash {
                Crash::BeforeSync => Verdict::Fail(FailPoint::HangBeforeSync),
                Crash::AfterSync => Verdict::Fail(FailPoint::HangAfterSync),
                _ => Verdict::CommitAndDie,
            }),
            Some((crash, left)) => {
                self.crash = Some((crash, left - 1));
                self.fault.take().map_or(Verdict::Commit, Verdict::Fail)
            }
            None => self.fault.take().map_or(Verdict::Commit, Verdict::Fail),
        }
    }

    /// Dies at the record that says this of a thread, which is not durable then.
    fn dies_with(&mut self, commit: &Commit, fact: &str) -> Verdict {
        if !says(commit, fact) {
            return Verdict::Commit;
        }
        self.was_between = true;
        self.dies(Verdict::Fail(FailPoint::HangBeforeSync))
    }

    /// Whether the daemon is dead, or dies now that it would remove something.
    fn removes_nothing(&mut self) -> bool {
        if self.is_between {
            (self.is_dead, self.was_between) = (true, true);
        }
        self.is_dead
    }

    fn dies(&mut self, verdict: Verdict) -> Verdict {
        (self.crash, self.is_dead) = (None, true);
        verdict
    }
}

/// Whether a record says something of a deleted thread.
fn says(commit: &Commit, fact: &str) -> bool {
    let begins = format!("{{\"fact\":\"{fact}\"");
    commit.records.iter().flat_map(|record| &record.facts).any(|fact| fact.get().starts_with(&begins))
}

fn sets_a_rule(commit: &Commit) -> bool {
    let facts = commit.records.iter().flat_map(|record| &record.facts);
    facts.into_iter().any(|fact| fact.get().contains("\"noun\":\"policy\"") && fact.get().contains("\"document\""))
}

pub(crate) fn lock(plan: &Mutex<Plan>) -> MutexGuard<'_, Plan> {
    plan.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Faulty {
    pub(crate) fn new(inner: Arc<MemoryStore>, plan: Arc<Mutex<Plan>>) -> Self {
        Self { inner, plan }
    }
}

impl Rows for Faulty {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.get(key)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        self.inner.scan(scan)
    }
}

impl Store for Faulty {
    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), StoreError>> {
        let (inner, plan) = (self.inner.clone(), self.plan.clone());
        let turns = {
            let mut plan = lock(&plan);
            let slowness = plan.slowness;
            plan.rng.random_range(0..=slowness)
        };
        async move {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            let verdict = lock(&plan).judge(&commit);
            match verdict {
                Verdict::Commit => inner.commit(commit).await,
                Verdict::Fail(point) => {
                    inner.fail_next(point);
                    inner.commit(commit).await
                }
                Verdict::CommitAndDie => {
                    let _ = inner.commit(commit).await;
                    future::pending().await
                }
                Verdict::Hang => future::pending().await,
            }
        }
        .boxed()
    }

    fn read(
        &self,
        log: &LogName,
        from: Seq,
        max_bytes: usize,
    ) -> BoxFuture<'static, Result<Vec<Arc<Record>>, StoreError>> {
        self.inner.read(log, from, max_bytes)
    }

    fn remove(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        let (inner, plan, log) = (self.inner.clone(), self.plan.clone(), log.clone());
        async move {
            if lock(&plan).removes_nothing() {
                return future::pending().await;
            }
            inner.remove(&log).await
        }
        .boxed()
    }

    fn sift(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        self.inner.sift(log, sieve)
    }

    fn rewrite(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        self.inner.rewrite(log, sieve)
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'static, Result<Pin, StoreError>> {
        self.inner.put_blob(bytes)
    }

    fn read_blob(
        &self,
        blob: &BlobId,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'static, Result<Option<BlobPart>, StoreError>> {
        self.inner.read_blob(blob, offset, limit)
    }

    fn release_blobs(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        self.inner.release_blobs(log)
    }

    fn room(&self) -> Result<(), StoreError> {
        self.inner.room()
    }

    fn sizes(&self) -> StoreSizes {
        self.inner.sizes()
    }

    fn degraded(&self) -> Option<String> {
        self.inner.degraded()
    }

    fn flush(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.inner.flush()
    }
}
