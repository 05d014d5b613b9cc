//! The world around the catalogue, in memory: a store that can fail, a keeper that can fail, a clock that stands.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt, pending, ready};
use ropewalk_protocol::{BlobId, Policy, SecretStore, Seq, ThreadId, Timestamp};
use std::sync::Arc;

use crate::{
    catalogue::{SecretKeeper, ToolLookup},
    clock::Clock,
    store::{
        BlobPart, Commit, Key, LogName, Pin, Record, RowChange, Rows, Scan, Sieve, Sifted, Store, StoreError,
        StoreSizes,
    },
};

/// A clock that always says the same.
pub(super) struct FakeClock(pub(super) Timestamp);

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        pending().boxed()
    }
}

/// Rows and records in memory.
#[derive(Default)]
pub(super) struct FakeStore {
    pub(super) rows: Mutex<BTreeMap<Key, Vec<u8>>>,
    pub(super) records: Mutex<Vec<Record>>,
    pub(super) fails: AtomicBool,
}

impl FakeStore {
    fn append(&self, commit: Commit) -> Result<(), StoreError> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(StoreError::Write { log: "daemon".to_owned(), cause: "no".to_owned(), full: false });
        }
        assert_eq!(commit.log, LogName::Daemon);
        self.records.lock().unwrap().extend(commit.records);
        self.apply(commit.rows);
        Ok(())
    }

    pub(super) fn apply(&self, changes: Vec<RowChange>) {
        let mut rows = self.rows.lock().unwrap();
        for change in changes {
            match change {
                RowChange::Put(key, value) => drop(rows.insert(key, value)),
                RowChange::Delete(key) => drop(rows.remove(&key)),
            }
        }
    }
}

impl Rows for FakeStore {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.rows.lock().unwrap().get(key).cloned())
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        let rows = self.rows.lock().unwrap();
        let wanted = rows.iter().filter(|(key, _)| {
            key.0.starts_with(&scan.prefix.0) && scan.after.as_ref().is_none_or(|after| *key > after)
        });
        Ok(wanted.take(scan.limit).map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}

impl Store for FakeStore {
    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), StoreError>> {
        // The append happens when the commit is polled to its end, as with a real disk.
        let done = self.append(commit);
        async move {
            tokio::task::yield_now().await;
            done
        }
        .boxed()
    }

    fn read(&self, _: &LogName, _: Seq, _: usize) -> BoxFuture<'static, Result<Vec<Arc<Record>>, StoreError>> {
        ready(Ok(Vec::new())).boxed()
    }

    fn put_blob(&self, _: Vec<u8>) -> BoxFuture<'static, Result<Pin, StoreError>> {
        unreachable!("the catalogue keeps no payloads of its own")
    }

    fn read_blob(&self, _: &BlobId, _: u64, _: usize) -> BoxFuture<'static, Result<Option<BlobPart>, StoreError>> {
        unreachable!("the catalogue reads no payloads")
    }

    fn release_blobs(&self, _: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        ready(Ok(())).boxed()
    }

    fn remove(&self, _: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        ready(Ok(())).boxed()
    }

    fn sift(&self, _: &LogName, _: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        ready(Ok(Sifted::default())).boxed()
    }

    fn rewrite(&self, _: &LogName, _: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        ready(Ok(Sifted::default())).boxed()
    }

    fn sizes(&self) -> StoreSizes {
        StoreSizes::default()
    }

    fn room(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn degraded(&self) -> Option<String> {
        None
    }

    fn flush(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        ready(Ok(())).boxed()
    }
}

/// Keys in memory.
#[derive(Default)]
pub(super) struct FakeSecrets {
    pub(super) keys: Mutex<BTreeMap<String, String>>,
    pub(super) fails: AtomicBool,
    pub(super) unreadable: AtomicBool,
}

impl FakeSecrets {
    fn done<T>(&self, value: T) -> BoxFuture<'static, Result<T, String>>
    where
        T: Send + 'static,
    {
        let fails = self.fails.load(Ordering::SeqCst);
        ready(if fails { Err("the keyring is locked".to_owned()) } else { Ok(value) }).boxed()
    }
}

impl SecretKeeper for FakeSecrets {
    fn get(&self, name: &str) -> BoxFuture<'static, Result<Option<String>, String>> {
        let key = self.keys.lock().unwrap().get(name).cloned();
        let unreadable = self.unreadable.load(Ordering::SeqCst);
        ready(if unreadable { Err("the keyring is gone".to_owned()) } else { Ok(key) }).boxed()
    }

    fn set(&self, name: &str, value: &str) -> BoxFuture<'static, Result<(), String>> {
        if !self.fails.load(Ordering::SeqCst) {
            self.keys.lock().unwrap().insert(name.to_owned(), value.to_owned());
        }
        self.done(())
    }

    fn remove(&self, name: &str) -> BoxFuture<'static, Result<(), String>> {
        if !self.fails.load(Ordering::SeqCst) {
            self.keys.lock().unwrap().remove(name);
        }
        self.done(())
    }

    fn kind(&self) -> SecretStore {
        SecretStore::Keyring
    }

    fn out_of_reach(&self) -> Vec<String> {
        let unreadable = self.unreadable.load(Ordering::SeqCst);
        if unreadable { self.keys.lock().unwrap().keys().cloned().collect() } else { Vec::new() }
    }
}

/// One thread, `th-1`, and one tool, `get_issue` of `client:bot`.
pub(super) struct FakeTools;

/// The digest of the one tool.
pub(super) const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

impl ToolLookup for FakeTools {
    fn thread_exists(&self, thread: &ThreadId) -> bool {
        thread.as_str() == "th-1"
    }

    fn digest_of(&self, source: &str, name: &str, _: Option<&ThreadId>) -> Option<String> {
        (source == "client:bot" && name == "get_issue").then(|| DIGEST.to_owned())
    }

    fn matches(&self, policy: &Policy) -> u64 {
        policy.tool.as_ref().is_some_and(|tool| tool.name == "get_issue").into()
    }
}
