//! Placeholder until the daemon is put together: what handlers of the catalogue need of it.

use std::sync::Arc;

use std::path::PathBuf;

use futures::future::BoxFuture;
use ropewalk_peer::{Feed, Peer};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

pub use crate::server::StartError;
use crate::{
    catalogue::Catalogue,
    clock::Clock,
    dispatch::{Host, Journal, Standing},
    models::ModelFactory,
    peer::Client,
    server::{Home, Server, ready_line},
};

/// How a daemon is started.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its directory, absolute.
    pub home: PathBuf,
    /// Its socket, absolute.
    pub socket: PathBuf,
    /// When it ends by itself.
    pub idle_exit: IdleExit,
}

/// When a daemon ends because nobody needs it: no run, no open interaction, no connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleExit {
    /// As the setting `idleExitMs` says.
    #[default]
    AsSet,
    /// Never, whatever the setting says.
    Never,
    /// After so many milliseconds, whatever the setting says.
    AfterMs(u64),
}

/// A daemon that answers on its socket.
pub struct Running {
    line: String,
    stopped: CancellationToken,
    _bound: crate::server::Bound,
}

impl Running {
    /// The line that says so, without a line break.
    #[must_use]
    pub fn ready_line(&self) -> String {
        self.line.clone()
    }

    /// Begins a graceful shutdown, as `daemon/shutdown` does; a second call changes nothing.
    pub fn shutdown(&self) {
        self.stopped.cancel();
    }

    /// Waits until the daemon has ended: asked to with [`Running::shutdown`] or `daemon/shutdown`, or because it was idle.
    pub async fn wait(&self) {
        self.stopped.cancelled().await;
    }
}

/// Starts a daemon.
///
/// # Errors
/// As [`StartError`] says.
pub async fn start(config: Config) -> Result<Running, StartError> {
    let home = Home { directory: config.home, socket: config.socket };
    let bound = Server::bind(&home).await?;
    let line = ready_line(bound.socket(), env!("CARGO_PKG_VERSION"));
    Ok(Running { line, stopped: CancellationToken::new(), _bound: bound })
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
}
