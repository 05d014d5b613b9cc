//! The daemon inside a program: the same daemon, reached over an in-memory pipe instead of a socket.

use std::{panic, path::PathBuf, sync::Arc};

use ropewalk::{Connect, Ropewalk};
use ropewalk_protocol::RpcError;
use tokio_util::sync::CancellationToken;

use crate::{
    clock::{Ids, SystemClock},
    connection::Serving,
    daemon::{Daemon, Parts},
    methods,
    models::Models,
    secrets::{MemorySecrets, SecretChoice},
    server::{Environment, Home, HomeLock, Places},
    sessions::{ChildSetup, child::passed_on},
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

/// A daemon inside this program. It stops with [`Embedded::stop`], when a client asks for it, or when this is dropped, as if
/// it were stopped without grace; each time in the same good order, on a task of its own.
///
/// Once it has stopped its home is free: nothing of this process holds the home's lock or its index, whoever still has this,
/// the [`Daemon`] or a client. After [`Embedded::stop`] that is so when it resolves; when this was only dropped, a few seconds
/// later, on a runtime that still runs. A runtime that ends first takes the daemon with it, as a killed process would: what
/// was acknowledged is kept.
pub struct Embedded {
    daemon: Arc<Daemon>,
    serving: Serving<Daemon>,
    /// Cancelled when the home is free.
    over: CancellationToken,
}

/// What a daemon has besides its store, and gives back last.
enum Held {
    Nothing,
    Lock(HomeLock),
    Socket(Box<Running>),
}

/// Starts a daemon inside this program and gives the SDK's connection builder for it. Must be called within a tokio runtime.
///
/// Whoever does not wait for the end of it, by dropping the future, has a daemon that starts and then stops at once.
///
/// # Errors
/// When the home is in use, or its store cannot be opened. Its lock and its index are free then, if they were before.
pub async fn embed(config: EmbedConfig) -> Result<Embedded, RpcError> {
    embed_for(config, None).await
}

/// As [`embed`], with the `ropewalk` binary of the same version beside this program. Processes of servers then start through
/// it and end with this program even when it is killed, and projects with grants have the file tools, which are a process of
/// that binary; without it they have none, and a server ends with this program only if it minds the end of its input.
///
/// # Errors
/// As [`embed`], and `invalidParams` when there is no file at the path, or the path is relative.
pub async fn embed_with_binary(config: EmbedConfig, binary: PathBuf) -> Result<Embedded, RpcError> {
    if !binary.is_absolute() || !binary.is_file() {
        let message = format!("There is no ropewalk binary at {}. Give the absolute path of one.", binary.display());
        return Err(RpcError::invalid_params("/binary", "not_found", message));
    }
    embed_for(config, Some(binary)).await
}

async fn embed_for(config: EmbedConfig, keeper: Option<PathBuf>) -> Result<Embedded, RpcError> {
    let environment = passed_on(|name| std::env::var_os(name).filter(|value| !value.is_empty()));
    let children = ChildSetup { keeper, environment, descriptors: None };
    // A task of its own: a start that is broken off in its middle would leave a store that nobody closes.
    match tokio::spawn(begin(config, children)).await {
        Ok(begun) => begun,
        Err(ended) if ended.is_panic() => panic::resume_unwind(ended.into_panic()),
        Err(_) => Err(start::storage_panic()),
    }
}

async fn begin(config: EmbedConfig, children: ChildSetup) -> Result<Embedded, RpcError> {
    let secret_store = config.secret_store;
    match config.home {
        EmbedHome::Memory => {
            let daemon = in_memory().await?;
            daemon.servers.start_children_with(children);
            Ok(Embedded::new(daemon, Held::Nothing))
        }
        EmbedHome::Directory(directory) => {
            let places = Places { home: Some(directory), socket: None };
            let home = Home::resolve(&places, &Environment::default()).map_err(|error| RpcError::from(&error))?;
            if config.listen {
                let running = start::start(Config { home, secret_store, idle_exit_ms: None, children }).await?;
                return Ok(Embedded::new(running.daemon().clone(), Held::Socket(Box::new(running))));
            }
            let lock = HomeLock::acquire(&home).await.map_err(|error| RpcError::from(&error))?;
            let daemon = start::open(&home.directory, secret_store, children).await?;
            Ok(Embedded::new(daemon, Held::Lock(lock)))
        }
    }
}

/// Starts a daemon over seams of the caller's choosing: a manual clock, a store with faults, a model of its own.
///
/// # Errors
/// When the documents or the index cannot be read.
pub async fn embed_parts(parts: Parts) -> Result<Embedded, RpcError> {
    Ok(Embedded::new(parts.assemble().await?, Held::Nothing))
}

impl Embedded {
    fn new(daemon: Arc<Daemon>, held: Held) -> Self {
        let serving = match &held {
            Held::Socket(running) => running.serving().clone(),
            Held::Nothing | Held::Lock(_) => Serving::new(daemon.clone(), Arc::new(methods::table())),
        };
        let over = CancellationToken::new();
        let when_over = over.clone().drop_guard();
        let ending = serving.clone();
        // Here and not in `stop`: a client may stop the daemon too, and it may be dropped.
        tokio::spawn(async move {
            wind_down(ending, held).await;
            drop(when_over);
        });
        Self { daemon, serving, over }
    }

    /// A new connection to the daemon, as the SDK makes one: add handlers, then await it. Once the daemon is stopping there are
    /// no new ones: awaiting it then fails as `disconnected`.
    pub fn connect(&self) -> Connect {
        Ropewalk::over(self.pipe())
    }

    /// The client's end of a new connection, for who speaks the wire itself.
    pub fn pipe(&self) -> tokio::io::DuplexStream {
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        if self.daemon.stopping().is_cancelled() {
            return theirs;
        }
        // Over the limit of connections the pipe says so and ends; the SDK shows that as it shows it for a socket.
        let _ = self.serving.connect(ours);
        theirs
    }

    /// The daemon. Having it keeps neither the daemon from stopping nor its home from being opened again.
    #[must_use]
    pub const fn daemon(&self) -> &Arc<Daemon> {
        &self.daemon
    }

    /// Stops the daemon: what is under way has `grace_ms` to end, what runs is parked, everything is written down. With a
    /// grace that is too short for that, what is asked is broken off, but what runs is parked all the same. Connections end:
    /// calls of clients fail as `disconnected` from then on. Resolves within the grace and some seconds more, unless the disk
    /// itself hangs; when it does, the same home can be embedded again at once.
    ///
    /// Of several calls the first says how long the grace is, and each resolves when the daemon has stopped; at once, when it
    /// already had.
    pub async fn stop(&self, grace_ms: u64) {
        self.daemon.stop(grace_ms);
        self.over.cancelled().await;
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.daemon.stop(0);
    }
}

/// The way down, from the moment in which somebody says that the daemon stops. The lock of the home is given back last.
async fn wind_down(serving: Serving<Daemon>, held: Held) {
    match held {
        Held::Socket(running) => running.wait().await,
        Held::Lock(lock) => {
            end(&serving).await;
            drop(lock);
        }
        Held::Nothing => end(&serving).await,
    }
}

async fn end(serving: &Serving<Daemon>) {
    serving.host.stopping().cancelled().await;
    serving.stop().await;
    serving.host.let_go().await;
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
