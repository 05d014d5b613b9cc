//! Documents that belong to no thread: projects, grants, policies, endpoints, servers, memory, settings.
//!
//! Every change goes the same way: a pure function decides on the documents as they are ([`Snapshot`]) what becomes of
//! them, one record of the daemon's log makes it durable, then readers see it and the caller gets its answer. There is
//! one writer at a time; readers hold a snapshot and wait for nobody. A change that fails has not happened.

mod address;
mod bindings;
mod choice;
mod directory;
mod document;
mod endpoint_headers;
mod endpoint_rules;
mod endpoints;
mod expiry;
mod facts;
mod grants;
mod instructions;
mod keeper;
mod memory;
mod pinning;
mod policies;
mod projects;
mod refusal;
mod removal;
mod rules;
mod secrets;
mod security;
mod server_record;
mod server_rules;
mod server_update;
mod servers;
mod settings;
mod sieve;
mod snapshot;
mod sources;
mod storage;
#[cfg(test)]
mod tests;
mod tools;
mod writer;

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock, atomic::AtomicU64},
};

use tokio::sync::{Mutex, broadcast, watch};

use crate::{
    clock::{Clock, Ids},
    store::{LogName, Scan, Store, StoreError, keys},
};

pub use choice::NoEndpoint;
pub use document::rows_of;
pub use facts::{Outlived, buried_in};
pub use instructions::InstructionsRecord;
pub use memory::{MemoryWriter, check_memory_list, has_all_words, is_remembered};
pub use pinning::SeenTool;
pub use policies::is_listed;
pub use refusal::Refusal;
pub use removal::{Burial, DoomedProject};
pub use secrets::SecretKeeper;
pub use server_record::{APP, FILES, ServerRecord};
pub use servers::ShowServer;
pub use snapshot::{Memory, Snapshot};
pub use storage::{starting, storage_error};
pub use tools::ToolLookup;
pub use writer::{Caller, Changed, Operation};

use document::{Document, DocumentChange, Noun};
use snapshot::KeysKept;

/// The id of the endpoint that is part of the daemon.
pub const SCRIPTED: &str = "scripted";

/// Changes a slow listener may be behind before it only learns that it missed some.
const CHANGES_KEPT: usize = 256;

/// Rows read at once while opening.
const ROWS_AT_ONCE: usize = 1_000;

/// The documents, and the only way to change them.
pub struct Catalogue {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    ids: Arc<Ids>,
    secrets: Arc<dyn SecretKeeper>,
    tools: OnceLock<Arc<dyn ToolLookup>>,
    /// Where the daemon lives.
    home: OnceLock<PathBuf>,
    turn: Arc<Mutex<()>>,
    current: watch::Sender<Arc<Snapshot>>,
    changes: broadcast::Sender<Changed>,
    damage: OnceLock<StoreError>,
    /// Counts the records that were committed, so that what was measured is known to be of now.
    commits: AtomicU64,
    /// After how many of them so many bytes of the log were dead.
    measured: std::sync::Mutex<Option<(u64, u64)>>,
}

impl Catalogue {
    /// A catalogue without a document, until it is loaded.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        ids: Arc<Ids>,
        secrets: Arc<dyn SecretKeeper>,
    ) -> Arc<Self> {
        let keys = KeysKept { store: secrets.kind(), reason: secrets.reason() };
        Arc::new(Self {
            store,
            clock,
            ids,
            secrets,
            tools: OnceLock::new(),
            home: OnceLock::new(),
            turn: Arc::default(),
            current: watch::Sender::new(Arc::new(Snapshot::empty(keys))),
            changes: broadcast::Sender::new(CHANGES_KEPT),
            damage: OnceLock::new(),
            commits: AtomicU64::new(0),
            measured: std::sync::Mutex::default(),
        })
    }

    /// A catalogue that is loaded.
    #[cfg(test)]
    async fn open(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        ids: Arc<Ids>,
        secrets: Arc<dyn SecretKeeper>,
    ) -> Result<Arc<Self>, Refusal> {
        let catalogue = Self::new(store, clock, ids, secrets);
        catalogue.load().await?;
        Ok(catalogue)
    }

    /// Reads all documents from their rows; in a new home makes the default project first. Called once, before any change.
    ///
    /// # Errors
    /// When the rows cannot be read or understood, or the default project cannot be stored.
    pub async fn load(self: &Arc<Self>) -> Result<(), Refusal> {
        // Only a damaged log has something to say beyond its end.
        if let Err(damage) = self.store.read(&LogName::Daemon, ropewalk_protocol::Seq::MAX, 1).await {
            let _ = self.damage.set(damage);
        }
        let snapshot = self.snapshot().with(read_all(&*self.store)?);
        let has_default_project = snapshot.projects.values().any(|project| project.is_default);
        self.current.send_replace(Arc::new(snapshot));
        if !has_default_project {
            self.make_default_project().await?;
        }
        Ok(())
    }

    /// Why documents may be missing, among them rules that forbid something. No run may go on then.
    #[must_use]
    pub fn damage(&self) -> Option<&StoreError> {
        self.damage.get()
    }

    /// Says where to look up tools and threads. Before, no tool and no thread is known. Only the first call counts.
    pub fn look_up_tools_in(&self, tools: Arc<dyn ToolLookup>) {
        let _ = self.tools.set(tools);
    }

    /// Says where the daemon lives, so that whoever grants that is warned. Only the first call counts.
    pub fn live_in(&self, home: PathBuf) {
        let _ = self.home.set(home);
    }

    /// The documents as they are now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.borrow())
    }

    /// Follows the documents: the newest snapshot and a wake-up at each change, the ones between may be skipped.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.current.subscribe()
    }

    /// Every change from now on, for `data/changed`. Who falls behind by more than 256 is told that some were missed.
    #[must_use]
    pub fn changes(&self) -> broadcast::Receiver<Changed> {
        self.changes.subscribe()
    }
}

fn read_all(store: &dyn Store) -> Result<Vec<DocumentChange>, StoreError> {
    let mut documents = Vec::new();
    for noun in Noun::ALL {
        let mut after = None;
        loop {
            let scan = Scan { prefix: keys::documents(noun.word()), after, reverse: false, limit: ROWS_AT_ONCE };
            let rows = store.scan(&scan)?;
            let more = rows.len() == ROWS_AT_ONCE;
            after = rows.last().map(|(key, _)| key.clone());
            for (key, value) in rows {
                let document = Document::read(noun, &value).map_err(|cause| StoreError::Read {
                    what: format!("the {} {}", noun.word(), key.last_part().unwrap_or_default()),
                    cause: cause.to_string(),
                })?;
                documents.push(DocumentChange::Put(document));
            }
            if !more {
                break;
            }
        }
    }
    Ok(documents)
}
