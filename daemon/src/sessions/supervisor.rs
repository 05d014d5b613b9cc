//! All servers of one daemon, under supervision and shared by whoever needs them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use super::{
    child::ChildSetup,
    launch::Launch,
    session::Session,
    supervised::{Standing, Status, Supervised, Trouble},
};
use crate::clock::Clock;

/// How long a server may take for one page of its tools.
pub(super) const LIST_PATIENCE: Duration = Duration::from_secs(10);

/// Told by its key of a server that stands elsewhere, or whose tools are others.
pub type TellsChange = Arc<dyn Fn(&str) + Send + Sync>;

/// What every supervised server works with.
pub(super) struct World {
    pub clock: Arc<dyn Clock>,
    pub changed: TellsChange,
    children: OnceLock<ChildSetup>,
}

impl World {
    pub fn children(&self) -> ChildSetup {
        self.children.get().cloned().unwrap_or_default()
    }
}

/// All servers of one daemon.
pub struct Sessions {
    world: Arc<World>,
    servers: Mutex<BTreeMap<String, Arc<Supervised>>>,
}

impl Sessions {
    /// No server yet. `changed` must not wait.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, changed: TellsChange) -> Self {
        let world = Arc::new(World { clock, changed, children: OnceLock::new() });
        Self { world, servers: Mutex::default() }
    }

    /// Says how processes are started. Only the first word counts.
    pub fn start_children_with(&self, setup: ChildSetup) {
        // Whoever comes later knows no better.
        let _ = self.world.children.set(setup);
    }

    /// A session that can be used, started if there is none.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn open(&self, launch: &Launch) -> Result<Arc<Session>, Trouble> {
        self.supervised(&launch.key).open(launch).await
    }

    /// Has a list of a session's tools that is not too old for a call.
    pub async fn refresh(&self, key: &str, session: &Arc<Session>) {
        if let Some(supervised) = self.known(key) {
            supervised.refresh(session).await;
        }
    }

    /// Lists a session's tools anew, for whoever wants to know what they are now.
    ///
    /// # Errors
    /// What the server did instead, as a sentence.
    pub async fn relist(&self, key: &str, session: &Arc<Session>) -> Result<(), String> {
        match self.known(key) {
            Some(supervised) => supervised.relist_now(session).await,
            None => Err("it was closed meanwhile".to_owned()),
        }
    }

    /// What is known of a server; nothing of one that was never started.
    #[must_use]
    pub fn status(&self, key: &str) -> Option<Status> {
        self.known(key).map(|supervised| supervised.status())
    }

    /// Ends a server. The next use starts it again.
    pub async fn close(&self, key: &str) {
        if let Some(supervised) = self.known(key) {
            supervised.close().await;
        }
    }

    /// Ends a server and forgets what was known of it.
    pub async fn forget(&self, key: &str) {
        let known = self.servers().remove(key);
        if let Some(supervised) = known {
            supervised.retire().await;
        }
    }

    /// Forgets servers of which nothing is left but that they once ran: those whose key the function names.
    pub fn forget_stopped(&self, is_meant: impl Fn(&str) -> bool) {
        let is_left = |supervised: &Arc<Supervised>| {
            Arc::strong_count(supervised) > 1 || supervised.status().standing != Standing::Stopped
        };
        self.servers().retain(|key, supervised| !is_meant(key) || is_left(supervised));
    }

    /// Ends all servers at once. Each is gone when this resolves.
    pub async fn close_all(&self) {
        let all: Vec<_> = self.servers().values().cloned().collect();
        futures::future::join_all(all.iter().map(|supervised| supervised.retire())).await;
    }

    fn known(&self, key: &str) -> Option<Arc<Supervised>> {
        self.servers().get(key).cloned()
    }

    fn supervised(&self, key: &str) -> Arc<Supervised> {
        let make = || Supervised::new(key.to_owned(), self.world.clone());
        self.servers().entry(key.to_owned()).or_insert_with(make).clone()
    }

    fn servers(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Supervised>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
