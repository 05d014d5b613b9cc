//! The open connections of a daemon: how many there are, and how they end when it does.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::join_all;
use ropewalk_peer::Peer;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::admission::Load;

/// All of them.
#[derive(Default)]
pub struct Connections {
    open: Mutex<Open>,
    changes: Arc<Notify>,
    /// Cancelled when requests that wait are to be answered `shuttingDown`.
    end_of_waiting: CancellationToken,
}

#[derive(Default)]
struct Open {
    entries: BTreeMap<u64, Entry>,
    next: u64,
}

struct Entry {
    load: Arc<Load>,
    /// Absent for the moment in which it is made.
    peer: Option<Peer>,
}

/// The place of one connection, until it is dropped.
pub(crate) struct Slot {
    connections: Arc<Connections>,
    key: u64,
}

impl Connections {
    /// How many connections are open.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().entries.len()
    }

    /// Resolves when none is open, which may be at once.
    pub async fn all_gone(&self) {
        self.until(|open| open.entries.is_empty()).await;
    }

    /// Resolves when no connection has a request that is worked on; waits and control requests do not count.
    pub async fn idle(&self) {
        self.until(|open| open.entries.values().all(|entry| entry.load.is_idle())).await;
    }

    /// Resolves when no connection has a request that waits.
    pub async fn nobody_waits(&self) {
        self.until(|open| open.entries.values().all(|entry| entry.load.nothing_waits())).await;
    }

    /// Answers every request that waits with `shuttingDown`, from now on.
    pub fn end_waiting(&self) {
        self.end_of_waiting.cancel();
    }

    /// Closes every connection and resolves when what was queued on each is written, or the grace for that is over.
    pub async fn close(&self) {
        let peers: Vec<Peer> = self.lock().entries.values().filter_map(|entry| entry.peer.clone()).collect();
        peers.iter().for_each(Peer::close);
        join_all(peers.iter().map(Peer::closed)).await;
    }

    pub(crate) const fn end_of_waiting(&self) -> &CancellationToken {
        &self.end_of_waiting
    }

    pub(crate) fn changes(&self) -> Arc<Notify> {
        self.changes.clone()
    }

    /// Takes a place among at most `limit`.
    pub(crate) fn open(self: &Arc<Self>, load: &Arc<Load>, limit: u64) -> Option<Slot> {
        let mut open = self.lock();
        if open.entries.len() as u64 >= limit {
            return None;
        }
        let key = open.next;
        open.next += 1;
        open.entries.insert(key, Entry { load: load.clone(), peer: None });
        Some(Slot { connections: self.clone(), key })
    }

    async fn until(&self, is_so: impl Fn(&Open) -> bool) {
        loop {
            let changed = self.changes.notified();
            tokio::pin!(changed);
            // Only a change after this can be missed by the look, and that one wakes us.
            changed.as_mut().enable();
            if is_so(&self.lock()) {
                return;
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    pub(crate) fn opened(&self, peer: &Peer) {
        if let Some(entry) = self.connections.lock().entries.get_mut(&self.key) {
            entry.peer = Some(peer.clone());
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.lock().entries.remove(&self.key);
        self.connections.changes.notify_waiters();
    }
}
