//! The daemon inside a program: the same daemon, reached over an in-memory pipe instead of a socket.

use std::{path::PathBuf, sync::Arc};

use ropewalk::{Connect, Ropewalk};
use ropewalk_protocol::RpcError;

use crate::{
    clock::{Ids, SystemClock},
    connection::Serving,
    daemon::{Daemon, Parts},
    methods,
    models::Models,
    secrets::{MemorySecrets, SecretChoice},
    server::{Environment, Home, HomeLock, Places},
    start::{self, Config, Running},
    store::MemoryStore,
};

/// Bytes one side of the pipe may be ahead of the other.
const PIPE_BYTES: usize = 65_536;

/// Where an embedded daemon keeps its data.
#[derive(Clone, Debug)]
pub enum EmbedHome {
    /// Nowhere: everything is gone with the daemon. Needs no lock and no disk.
    Memory,
    /// In this directory, whose lock is taken; a daemon that has it already is named in the error.
    Directory(PathBuf),
}

/// How a daemon is embedded.
#[derive(Clone, Debug)]
pub struct EmbedConfig {
    /// Where it keeps its data.
    pub home: EmbedHome,
    /// Whether other programs reach it too, on the socket of its directory.
    pub listen: bool,
    /// Where the keys of a home on disk are kept. One in memory keeps them in memory.
    pub secret_store: SecretChoice,
}

/// A daemon inside this program. It stops when this is dropped, or in good order with [`Embedded::stop`].
pub struct Embedded {
    daemon: Arc<Daemon>,
    serving: Serving<Daemon>,
    running: Option<Running>,
    lock: Option<HomeLock>,
}

/// Starts a daemon inside this program and gives the SDK's connection builder for it.
///
/// # Errors
/// When the home is in use, or its store cannot be opened.
pub async fn embed(config: EmbedConfig) -> Result<Embedded, RpcError> {
    let secret_store = config.secret_store;
    match config.home {
        EmbedHome::Memory => Ok(Embedded::new(in_memory().await?, None, None)),
        EmbedHome::Directory(directory) => {
            let places = Places { home: Some(directory), socket: None };
            let home = Home::resolve(&places, &Environment::default()).map_err(|error| RpcError::from(&error))?;
            if config.listen {
                let running = start::start(Config { home, secret_store, idle_exit_ms: None }).await?;
                return Ok(Embedded::new(running.daemon().clone(), Some(running), None));
            }
            let lock = HomeLock::acquire(&home).await.map_err(|error| RpcError::from(&error))?;
            let daemon = start::open(&home.directory, secret_store).await?;
            Ok(Embedded::new(daemon, None, Some(lock)))
        }
    }
}

/// Starts a daemon over seams of the caller's choosing: a manual clock, a store with faults, a model of its own.
///
/// # Errors
/// When the documents or the index cannot be read.
pub async fn embed_parts(parts: Parts) -> Result<Embedded, RpcError> {
    Ok(Embedded::new(parts.assemble().await?, None, None))
}

impl Embedded {
    fn new(daemon: Arc<Daemon>, running: Option<Running>, lock: Option<HomeLock>) -> Self {
        let serving = Serving::new(daemon.clone(), Arc::new(methods::table()));
        let (stopping, connections) = (daemon.stopping().clone(), serving.clone());
        // A client may stop the daemon too: then who waits is answered and every connection ends, as behind a socket.
        tokio::spawn(async move {
            stopping.cancelled().await;
            connections.stop().await;
        });
        Self { daemon, serving, running, lock }
    }

    /// A new connection to the daemon, as the SDK makes one: add handlers, then await it.
    pub fn connect(&self) -> Connect {
        Ropewalk::over(self.pipe())
    }

    /// The client's end of a new connection, for who speaks the wire itself.
    pub fn pipe(&self) -> tokio::io::DuplexStream {
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        // Over the limit of connections the pipe says so and ends; the SDK shows that as it shows it for a socket.
        let _ = self.serving.connect(ours);
        theirs
    }

    /// The daemon.
    #[must_use]
    pub const fn daemon(&self) -> &Arc<Daemon> {
        &self.daemon
    }

    /// Stops the daemon: what is under way has `grace_ms` to end, what runs is parked, everything is written down.
    pub async fn stop(mut self, grace_ms: u64) {
        self.daemon.stop(grace_ms);
        self.serving.stop().await;
        match self.running.take() {
            Some(running) => running.wait().await,
            None => {
                if let Err(error) = self.daemon.store.flush().await {
                    tracing::warn!(%error, "the index could not be written down");
                }
            }
        }
        drop(self.lock.take());
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.daemon.stop(0);
    }
}

async fn in_memory() -> Result<Arc<Daemon>, RpcError> {
    let clock: Arc<dyn crate::clock::Clock> = Arc::new(SystemClock);
    let parts = Parts {
        store: Arc::new(MemoryStore::new()),
        secrets: Arc::new(MemorySecrets::new()),
        ids: Arc::new(Ids::new(clock.now())),
        models: Arc::new(Models::new(clock.clone())),
        clock,
    };
    parts.assemble().await
}
