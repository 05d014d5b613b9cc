//! Starting a daemon on a home: lock, store, socket, and the way down again.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use ropewalk_protocol::{RpcError, Timestamp};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    clock::{Clock, Ids, SystemClock},
    connection::Serving,
    daemon::{Daemon, Parts, stop_when_idle},
    engine::{ThreadProjector, storage_error},
    methods,
    models::Models,
    secrets::HomeSecrets,
    server::{Home, HomeLock, Server, ready_line},
    sessions::ChildSetup,
    store::{DiskStore, LateStore, Projector, refuse_unknown},
};

pub use crate::{secrets::SecretChoice, store::Restored};

/// How much of the logs is read before requests are taken: so much takes no time that anybody would notice. What is more is
/// read while the daemon serves.
const READ_BEFORE_READY_BYTES: u64 = 4 * 1024 * 1024;

/// What a daemon is started with. Everything that comes from flags and environment is in here.
#[derive(Clone, Debug)]
pub struct Config {
    /// The home and its socket.
    pub home: Home,
    /// Where keys of endpoints are kept.
    pub secret_store: SecretChoice,
    /// After how long without work or clients it exits, unless a setting says otherwise; `None`: never.
    pub idle_exit_ms: Option<u64>,
    /// How processes of servers are started.
    pub children: ChildSetup,
}

/// A daemon that answers on its socket.
pub struct Running {
    daemon: Arc<Daemon>,
    socket: PathBuf,
    serving: Serving<Daemon>,
    over: JoinHandle<()>,
}

/// Starts a daemon. When it resolves with `Ok`, the socket answers and the index is open. While the store is being opened,
/// which takes long only when logs are migrated, the socket says that the daemon is starting. Logs that have to be read
/// beyond that are read afterwards, and only what needs them waits.
///
/// # Errors
/// The error of the ready line: another daemon has the home, a path cannot be used, the store cannot be opened.
pub async fn start(config: Config) -> Result<Running, RpcError> {
    let (before, descriptors) = raise_descriptor_limit();
    let bound = Server::bind(&config.home).await.map_err(|error| RpcError::from(&error))?;
    let opening = Opening::begin(&config.home.directory, config.secret_store).await?;
    let daemon = opening.daemon().clone();
    daemon.live_in(&config.home.directory);
    // What we may have open is for our connections and logs; children get what there was (ruling 44).
    daemon.servers.start_children_with(ChildSetup { descriptors: before, ..config.children });
    let mut serving = Serving::new(daemon.clone(), Arc::new(methods::table()));
    serving.limits.max_connections = connections_within(descriptors, serving.limits.max_connections);
    let socket = bound.socket().to_owned();
    let stopping: CancellationToken = daemon.stopping().clone();
    let (ending, served) = (daemon.clone(), serving.clone());
    let over = tokio::spawn(async move {
        let lock = bound.serve(served, stopping).await;
        ending.let_go().await;
        drop(lock);
    });
    if let Err(error) = opening.finish().await {
        daemon.stop(0);
        // Whoever connected meanwhile is told that the daemon stops; the home is free again when this is over.
        let _ = over.await;
        return Err(error);
    }
    tokio::spawn(stop_when_idle(daemon.clone(), config.idle_exit_ms));
    Ok(Running { daemon, socket, serving, over })
}

/// A daemon of a home, whose store is not open yet. It answers how it is, and that it is starting.
pub(crate) struct Opening {
    daemon: Arc<Daemon>,
    store: Arc<LateStore>,
    home: PathBuf,
}

impl Opening {
    /// Makes the daemon of a home that is locked by this process.
    ///
    /// # Errors
    /// When the home is of a newer version, or its secrets cannot be opened. Nothing was written then.
    pub(crate) async fn begin(home: &Path, secret_store: SecretChoice) -> Result<Self, RpcError> {
        let directory = home.to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            refuse_unknown(&directory).map_err(|error| storage_error(&error))?;
            HomeSecrets::open(&directory, secret_store).map_err(|error| secrets_error(&error))
        });
        let secrets = opened.await.map_err(|_| storage_panic())??;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store = Arc::new(LateStore::default());
        let parts = Parts {
            store: store.clone(),
            secrets: Arc::new(secrets),
            ids: Arc::new(Ids::new(Timestamp::from_millis(0))),
            models: Arc::new(Models::new(clock.clone())),
            clock,
        };
        Ok(Self { daemon: parts.prepare(store.progress().clone()), store, home: home.to_owned() })
    }

    /// The daemon, to be served while it starts.
    pub(crate) const fn daemon(&self) -> &Arc<Daemon> {
        &self.daemon
    }

    /// Opens the store and takes up what was under way: migrates, compares and rebuilds what has to be. Resolves when
    /// the daemon takes requests. Where much has to be read, those that need it wait (ruling 40).
    pub(crate) async fn finish(self) -> Result<Arc<Daemon>, RpcError> {
        self.finish_with(Arc::new(ThreadProjector), READ_BEFORE_READY_BYTES).await
    }

    async fn finish_with(self, projector: Arc<dyn Projector>, patience_bytes: u64) -> Result<Arc<Daemon>, RpcError> {
        let Self { daemon, store, home } = self;
        let now = daemon.clock.now();
        let opened = tokio::task::spawn_blocking(move || {
            let opened = DiskStore::open_early(&home, projector, now, store.progress(), patience_bytes)?;
            store.open(Box::new(opened));
            Ok(())
        });
        opened.await.map_err(|_| storage_panic())?.map_err(|error| storage_error(&error))?;
        if let Some(latest) = crate::engine::lookup::latest_id(&*daemon.store) {
            daemon.ids.not_before(latest);
        }
        daemon.take_up().await?;
        Ok(daemon)
    }
}

/// Opens the store of a home that is locked by this process, and makes the daemon over it, with everything taken up. With an
/// error the store is closed.
pub(crate) async fn open(
    home: &Path,
    secret_store: SecretChoice,
    children: ChildSetup,
) -> Result<Arc<Daemon>, RpcError> {
    let opening = Opening::begin(home, secret_store).await?;
    let daemon = opening.daemon().clone();
    daemon.live_in(home);
    daemon.servers.start_children_with(children);
    let opened = opening.finish_with(Arc::new(ThreadProjector), u64::MAX).await;
    if opened.is_err() {
        daemon.stop(0);
        daemon.let_go().await;
    }
    opened
}

/// Whether this build can open what a home holds, as far as that is seen from outside. Nothing is written.
///
/// # Errors
/// When the home is of a newer version, which is named with ours, or half restored, or cannot be looked at.
pub fn can_open(home: &Home) -> Result<(), RpcError> {
    refuse_unknown(&home.directory).map_err(|error| storage_error(&error))
}

/// Fills a fresh home from a backup, with no daemon on it meanwhile. Keys are not in a backup.
///
/// # Errors
/// When the home is in use or not empty, the file is no whole backup of a version this build knows, or something cannot
/// be written. A home is filled as a whole or not at all.
pub async fn restore(home: &Home, backup: &Path) -> Result<Restored, RpcError> {
    let _lock = HomeLock::acquire(home).await.map_err(|error| RpcError::from(&error))?;
    let (directory, backup) = (home.directory.clone(), backup.to_owned());
    let restored = tokio::task::spawn_blocking(move || crate::store::restore(&backup, &directory));
    restored.await.map_err(|_| storage_panic())?.map_err(|error| storage_error(&error))
}

impl Running {
    /// The daemon.
    #[must_use]
    pub const fn daemon(&self) -> &Arc<Daemon> {
        &self.daemon
    }

    /// The line that tells whoever started the daemon that it answers.
    #[must_use]
    pub fn ready_line(&self) -> String {
        ready_line(&self.socket, &self.daemon.info.version)
    }

    /// What its connections have in common, for who connects by another way than the socket.
    pub(crate) const fn serving(&self) -> &Serving<Daemon> {
        &self.serving
    }

    /// Resolves when the daemon has stopped: by `daemon/shutdown`, [`Daemon::stop`], or because nobody needed it.
    /// What was acknowledged is on disk, what ran is parked, and the home can be opened again: nothing holds its store or
    /// its lock, whoever still has the daemon. That does not need anybody to wait here.
    pub async fn wait(self) {
        if self.over.await.is_err() {
            tracing::error!("the end of the daemon broke down; the next start takes up what is stored");
        }
    }
}

/// Connections and logs each take a descriptor; the soft limit of most systems is far below what they allow (ruling 44).
///
/// Returns what it was and what it is now; nothing where there is none.
fn raise_descriptor_limit() -> (Option<u64>, Option<u64>) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "the limit of open files could not be raised");
        return (limit.current, limit.current);
    }
    (limit.current, raised.current)
}

/// How many connections there may be, so that they leave descriptors for logs: what is short of them is a new connection
/// and never a commit (ruling 44).
fn connections_within(descriptors: Option<u64>, most: u64) -> u64 {
    descriptors.map_or(most, |descriptors| (descriptors / 4).clamp(1, most))
}

fn secrets_error(error: &crate::secrets::SecretError) -> RpcError {
    let detail = ropewalk_protocol::ErrorDetail::Unavailable {
        reason: "no_secret_store".to_owned(),
        progress: None,
        party: None,
        effect: None,
    };
    RpcError::new(detail, format!("The secrets cannot be opened: {error}."))
}

/// What is said when opening came to no result.
pub(crate) fn storage_panic() -> RpcError {
    storage_error(&crate::store::StoreError::Read {
        what: "the store".to_owned(),
        cause: "opening it broke down".to_owned(),
    })
}

#[cfg(test)]
mod tests;
