//! The servers an owner added, as the owner's methods and runs need them: what the catalogue keeps of each, beside what whoever
//! speaks to them knows.

mod book;
mod clients;
mod counted;
mod shown;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use futures::future::join_all;
use ropewalk_protocol::{ServerId, ServerReview};

pub use self::clients::HubClients;
use self::{book::converted, counted::Counted};
use crate::{
    catalogue::{Catalogue, Refusal, ServerRecord, ShowServer},
    clock::Clock,
    sessions,
    tools::{
        mcp::{Connection, Listing, ServerClients, Trouble, review},
        servers::ServerTool,
    },
};

/// How long whoever adds or checks a server waits for it to list its tools.
pub const LIST_MS: u64 = 10_000;

/// The servers an owner added.
pub struct OwnedServers {
    catalogue: Arc<Catalogue>,
    clock: Arc<dyn Clock>,
    clients: OnceLock<Arc<dyn ServerClients>>,
    /// Values of environments: a server is started without waiting for the keeper of secrets.
    environments: Mutex<BTreeMap<ServerId, BTreeMap<String, String>>>,
    /// The version of the protocol each program speaks, with what it was started with: one that is old is not asked again what
    /// it speaks, which some never answer.
    versions: Mutex<BTreeMap<ServerId, (String, String)>>,
    counted: Counted,
    /// What sessions listed, and the same as reviews read it.
    reviewed: Mutex<BTreeMap<ServerId, (sessions::Listing, Arc<Listing>)>>,
}

impl OwnedServers {
    /// The servers of a catalogue, to which nobody speaks yet.
    pub fn new(catalogue: Arc<Catalogue>, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self {
            catalogue,
            clock,
            clients: OnceLock::new(),
            environments: Mutex::default(),
            versions: Mutex::default(),
            counted: Counted::default(),
            reviewed: Mutex::default(),
        })
    }

    /// Says who speaks to them. Only the first word counts.
    pub fn speak_through(&self, clients: Arc<dyn ServerClients>) {
        // There is one set of sessions in a daemon.
        let _ = self.clients.set(clients);
    }

    /// Reads the environments of all servers, so that none of them has to be waited for. One that cannot be read is tried again
    /// by the next restart of its server.
    pub async fn load_environments(&self) {
        let snapshot = self.catalogue.snapshot();
        let with_environment = snapshot.servers.values().filter(|record| !record.env_names.is_empty());
        join_all(with_environment.map(|record| self.load_environment(record))).await;
    }

    /// Reads the environment of one server.
    pub async fn load_environment(&self, record: &ServerRecord) {
        match self.catalogue.environment_of(record).await {
            Ok(environment) => {
                self.environments().insert(record.server_id.clone(), environment);
            }
            Err(cause) => tracing::warn!(server = %record.name, %cause, "the environment of a server cannot be read"),
        }
    }

    /// The environment of a server; none where it should have one and it could not be read.
    #[must_use]
    pub fn environment_of(&self, record: &ServerRecord) -> Option<BTreeMap<String, String>> {
        if record.env_names.is_empty() {
            return Some(BTreeMap::new());
        }
        self.environments().get(&record.server_id).cloned()
    }

    /// The record of a server.
    ///
    /// # Errors
    /// `notFound`.
    pub fn record(&self, id: &ServerId) -> Result<Arc<ServerRecord>, Refusal> {
        let found = self.catalogue.snapshot().servers.get(id).cloned();
        found.ok_or_else(|| Refusal::NotFound { noun: "server", id: id.to_string() })
    }

    /// How a server is shown, as it stands when it is shown.
    #[must_use]
    pub fn show(self: &Arc<Self>) -> ShowServer {
        let this = Arc::clone(self);
        Arc::new(move |record| this.shown(record))
    }

    /// What a server said last, in this life of the daemon.
    #[must_use]
    pub fn listed(&self, id: &ServerId) -> Option<Arc<Listing>> {
        self.clients.get()?.listed(id)
    }

    /// How the connection to a server stands.
    #[must_use]
    pub fn connection(&self, id: &ServerId) -> Connection {
        self.clients.get().map(|clients| clients.connection(id)).unwrap_or_default()
    }

    /// Asks a server for its tools, for 10 s at most; it goes on starting for longer by itself.
    ///
    /// # Errors
    /// Why it did not say.
    pub async fn list(&self, id: &ServerId) -> Result<Arc<Listing>, Trouble> {
        let Some(clients) = self.clients.get() else {
            let text = "This daemon speaks to no servers.".to_owned();
            return Err(Trouble { reason: "start_failed", text });
        };
        tokio::select! {
            biased;
            listed = clients.list(id) => listed,
            () = self.clock.sleep(Duration::from_millis(LIST_MS)) => {
                let text = format!("It has not listed its tools within {} s.", LIST_MS / 1_000);
                Err(Trouble { reason: "start_timeout", text })
            }
        }
    }

    /// Opens a server that was just added, and gives it the name it has for itself if nobody gave it another.
    pub async fn meet(&self, id: &ServerId) -> Result<Arc<Listing>, Trouble> {
        let listing = self.list(id).await?;
        let own_name = match self.clients.get() {
            Some(clients) => clients.own_name(id).await,
            None => None,
        };
        if let Some(name) = own_name
            && let Err(cause) = self.catalogue.name_server(id, &name).await
        {
            tracing::warn!(server = %id, %cause, "a server could not be given the name it has for itself");
        }
        Ok(listing)
    }

    /// Closes a server and opens it again with what it is started with now; one that is switched off or gone stays closed.
    pub async fn restart(&self, id: &ServerId) {
        let Some(clients) = self.clients.get() else { return };
        match self.record(id) {
            Ok(record) if record.enabled => {
                if !record.env_names.is_empty() {
                    self.load_environment(&record).await;
                }
                clients.restart(id).await;
            }
            Ok(_) => clients.close(id).await,
            Err(_) => {
                self.environments().remove(id);
                self.versions().remove(id);
                self.counted.forget(id);
                self.reviewed.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
                clients.close(id).await;
            }
        }
    }

    /// The review of a server, of what it said last.
    #[must_use]
    pub fn review(&self, record: &ServerRecord) -> ServerReview {
        review(&record.reviewed(), self.listed(&record.server_id).as_deref())
    }

    /// A list of a session as reviews read it: the same one for the same list.
    #[must_use]
    pub fn as_reviewed(&self, id: &ServerId, listing: &sessions::Listing) -> Arc<Listing> {
        let mut known = self.reviewed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, reviewed)) = known.get(id).filter(|(of, _)| of == listing) {
            return Arc::clone(reviewed);
        }
        let reviewed = Arc::new(converted(listing));
        known.insert(id.clone(), (listing.clone(), Arc::clone(&reviewed)));
        reviewed
    }

    /// The approved tools of a server as runs have them, by this listing.
    #[must_use]
    pub fn approved_tools(&self, record: &Arc<ServerRecord>, listing: Option<Arc<Listing>>) -> Arc<Vec<ServerTool>> {
        self.counted.of(record, listing).tools.clone()
    }

    fn version_of(&self, id: &ServerId, fingerprint: &str) -> Option<String> {
        self.versions().get(id).filter(|(of, _)| of == fingerprint).map(|(_, version)| version.clone())
    }

    fn keep_version(&self, id: &ServerId, fingerprint: String, version: Option<&str>) {
        match version {
            Some(version) => drop(self.versions().insert(id.clone(), (fingerprint, version.to_owned()))),
            None => drop(self.versions().remove(id)),
        }
    }

    fn versions(&self) -> std::sync::MutexGuard<'_, BTreeMap<ServerId, (String, String)>> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn environments(&self) -> std::sync::MutexGuard<'_, BTreeMap<ServerId, BTreeMap<String, String>>> {
        self.environments.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
