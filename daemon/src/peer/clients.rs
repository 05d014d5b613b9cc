//! All clients of a daemon, and the word that lists may have changed.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use ropewalk_peer::Peer;
use ropewalk_protocol::{Capabilities, ClientRef, DataKind, InstanceId, NavigateParams, RunId};

use super::{Client, EventFeed, Session};
use crate::{clock::Clock, engine::ConnectionId};

/// What a run is called where clients have names.
const RUN: &str = "app tools";

/// All clients of a daemon.
pub struct Clients {
    clock: Arc<dyn Clock>,
    open: Mutex<BTreeMap<ConnectionId, Arc<Client>>>,
    next: AtomicU64,
    changes: AtomicU64,
}

impl Clients {
    /// None yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, open: Mutex::default(), next: AtomicU64::new(1), changes: AtomicU64::new(0) }
    }

    /// A connection was opened.
    pub fn open(&self, peer: &Peer) -> Arc<Client> {
        let id = ConnectionId(self.next.fetch_add(1, Ordering::Relaxed));
        let client = Client::new(id, peer.clone(), Arc::new(EventFeed::new(self.clock.clone())));
        self.lock().insert(id, client.clone());
        client
    }

    /// A run, as one who asks for something: it has no connection, so it is asked and sent nothing.
    pub fn of_a_run(&self, run_id: &RunId) -> Arc<Client> {
        let id = ConnectionId(self.next.fetch_add(1, Ordering::Relaxed));
        let client = Client::new(id, Peer::of_nobody(), Arc::new(EventFeed::new(self.clock.clone())));
        client.greet(Session {
            client: ClientRef { client_name: RUN.to_owned(), instance_id: run_id.to_string().into() },
            is_lasting: false,
            capabilities: Capabilities { approvals: false, input: false, navigation: false },
        });
        client
    }

    /// A connection is over.
    pub fn close(&self, client: &Client) {
        use crate::engine::AttachedClient;
        self.lock().remove(&client.connection());
        client.end();
    }

    /// How many connections are open.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.lock().len() as u64
    }

    /// Something that lists show has changed.
    pub fn changed(&self, kinds: &[DataKind], ids: &[String], origin: Option<&InstanceId>) {
        let seq = self.changes.fetch_add(1, Ordering::Relaxed) + 1;
        for client in self.lock().values() {
            client.feed().changed(seq, kinds, ids, origin);
        }
    }

    /// Asks every client that can to show something, and says how many were asked.
    pub fn navigate(&self, to: &NavigateParams) -> u64 {
        let open = self.lock();
        let able = open.values().filter(|client| client.navigates());
        able.map(|client| client.feed().navigate(to.clone())).count() as u64
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<ConnectionId, Arc<Client>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
