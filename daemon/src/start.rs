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
    secrets::{HomeSecrets, Secrets},
    server::{Home, HomeLock, Server, ready_line},
    store::{DiskStore, Store},
};

pub use crate::secrets::SecretChoice;

/// What a daemon is started with. Everything that comes from flags and environment is in here.
#[derive(Clone, Debug)]
pub struct Config {
    /// The home and its socket.
    pub home: Home,
    /// Where keys of endpoints are kept.
    pub secret_store: SecretChoice,
    /// After how long without work or clients it exits, unless a setting says otherwise; `None`: never.
    pub idle_exit_ms: Option<u64>,
}

/// A daemon that answers on its socket.
pub struct Running {
    daemon: Arc<Daemon>,
    socket: PathBuf,
    serving: JoinHandle<HomeLock>,
}

/// Starts a daemon. When it resolves with `Ok`, the socket answers.
///
/// # Errors
/// The error of the ready line: another daemon has the home, a path cannot be used, the store cannot be opened.
pub async fn start(config: Config) -> Result<Running, RpcError> {
    raise_descriptor_limit();
    let bound = Server::bind(&config.home).await.map_err(|error| RpcError::from(&error))?;
    let daemon = open(&config.home.directory, config.secret_store).await?;
    let serving = Serving::new(daemon.clone(), Arc::new(methods::table()));
    let socket = bound.socket().to_owned();
    let stopping: CancellationToken = daemon.stopping().clone();
    let task = tokio::spawn(bound.serve(serving, stopping));
    tokio::spawn(stop_when_idle(daemon.clone(), config.idle_exit_ms));
    Ok(Running { daemon, socket, serving: task })
}

/// Opens the store of a home that is locked by this process, and makes the daemon over it.
pub(crate) async fn open(home: &Path, secret_store: SecretChoice) -> Result<Arc<Daemon>, RpcError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let (directory, now) = (home.to_owned(), clock.now());
    let opened = tokio::task::spawn_blocking(move || {
        let store = DiskStore::open(&directory, Arc::new(ThreadProjector::default()), now);
        let store = store.map_err(|error| storage_error(&error))?;
        let secrets = HomeSecrets::open(&directory, secret_store).map_err(|error| secrets_error(&error))?;
        Ok::<_, RpcError>((store, secrets))
    });
    let (store, secrets) = opened.await.map_err(|_| storage_panic())??;
    let store: Arc<dyn Store> = Arc::new(store);
    let ids = Arc::new(Ids::new(crate::engine::lookup::latest_id(&*store).unwrap_or(Timestamp::from_millis(0))));
    let secrets: Arc<dyn Secrets> = Arc::new(secrets);
    let models = Arc::new(Models::new(clock.clone()));
    Parts { store, secrets, clock, ids, models }.assemble().await
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

    /// Resolves when the daemon has stopped: by `daemon/shutdown`, [`Daemon::stop`], or because nobody needed it.
    /// What was acknowledged is on disk, and what ran is parked.
    pub async fn wait(self) {
        let lock = self.serving.await;
        if let Err(error) = self.daemon.store.flush().await {
            tracing::warn!(%error, "the index could not be written down; the next start rebuilds what is missing");
        }
        drop(lock);
    }
}

/// Connections and logs each take a descriptor; the soft limit of most systems is far below what they allow (ruling 44).
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "the limit of open files could not be raised");
    }
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

fn storage_panic() -> RpcError {
    storage_error(&crate::store::StoreError::Read {
        what: "the store".to_owned(),
        cause: "opening it broke down".to_owned(),
    })
}
