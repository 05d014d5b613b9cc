//! Placeholder until the daemon is put together: what handlers of the catalogue need of it.

use std::sync::Arc;

use futures::future::BoxFuture;
use ropewalk_peer::{Feed, Peer};
use ropewalk_protocol::RpcError;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::{
    catalogue::Catalogue,
    clock::Clock,
    dispatch::{Host, Journal, Standing},
    models::ModelFactory,
    peer::Client,
    server::{Home, Server, ready_line},
};

/// What a daemon is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The home and its socket.
    pub home: Home,
    /// After how long without work or clients it exits; `None`: never.
    pub idle_exit_ms: Option<u64>,
}

/// A daemon that answers on its socket.
pub struct Running {
    line: String,
    daemon: Arc<Daemon>,
    _bound: crate::server::Bound,
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
        self.line.clone()
    }

    /// Resolves when the daemon has stopped.
    pub async fn wait(self) {
        self.daemon.stopping.cancelled().await;
    }
}

impl Daemon {
    /// Begins to stop.
    pub fn stop(&self, _grace_ms: u64) {
        self.stopping.cancel();
    }
}

/// Starts a daemon.
///
/// # Errors
/// The error of the ready line.
pub async fn start(config: Config) -> Result<Running, RpcError> {
    let bound = Server::bind(&config.home).await.map_err(|error| RpcError::from(&error))?;
    let line = ready_line(bound.socket(), env!("CARGO_PKG_VERSION"));
    drop((line, bound));
    Err(RpcError::not_found("daemon", "placeholder"))
}

impl Host for Daemon {
    type Client = Client;

    fn connected(self: &Arc<Self>, _: &Peer) -> (Arc<Client>, Arc<dyn Feed>) {
        unreachable!("placeholder")
    }

    fn disconnected(self: &Arc<Self>, _: &Arc<Client>) {}

    fn notification(self: &Arc<Self>, _: &Arc<Client>, _: &str, _: Option<&RawValue>) {}

    fn journal(&self) -> &dyn Journal {
        unreachable!("placeholder")
    }

    fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    fn standing(&self) -> Standing {
        Standing::Serving
    }

    fn wound_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// Everything one daemon is made of.
pub struct Daemon {
    /// Documents that belong to no thread.
    pub catalogue: Arc<Catalogue>,
    /// Makes models of endpoints.
    pub models: Arc<dyn ModelFactory>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    stopping: CancellationToken,
}
