//! The sessions of the daemon, as the methods of an owner use them.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};
use ropewalk_protocol::{ServerId, ServerState};

use super::{OwnedServers, book::key_of};
use crate::{
    catalogue::{APP, FILES},
    daemon::ServerHub,
    sessions::{Session, Standing, Status, WaitsFor},
    tools::mcp::{Connection, Listing, ServerClients, Trouble},
};

/// The sessions with the added servers.
pub struct HubClients {
    /// All sessions there are.
    pub hub: Arc<ServerHub>,
    /// What is known of the servers.
    pub owned: std::sync::Weak<OwnedServers>,
}

impl HubClients {
    async fn open(&self, id: &ServerId) -> Result<Arc<Session>, Trouble> {
        let gone = || Trouble { reason: "start_failed", text: "It is not there any more.".to_owned() };
        let owned = self.owned.upgrade().ok_or_else(gone)?;
        let record = owned.record(id).map_err(|_| gone())?;
        let unread = || Trouble { reason: "no_secret_store", text: "Its environment cannot be read.".to_owned() };
        let launch = owned.launch_of(&record).ok_or_else(unread)?;
        // Whoever asks by hand has mended something: that it failed before does not count.
        if matches!(self.standing(&launch.key), Some(Standing::Failed { .. })) {
            self.hub.sessions().forget(&launch.key).await;
        }
        self.hub.open(id, &launch).await.map_err(|reason| trouble(&reason))
    }

    fn standing(&self, key: &str) -> Option<Standing> {
        self.hub.sessions().status(key).map(|status| status.standing)
    }
}

impl ServerClients for HubClients {
    fn list<'a>(&'a self, id: &'a ServerId) -> BoxFuture<'a, Result<Arc<Listing>, Trouble>> {
        async move {
            let session = self.open(id).await?;
            self.hub.sessions().relist(&key_of(id), &session).await.map_err(|reason| trouble(&reason))?;
            self.hub.keep_listing(id, &key_of(id));
            let none = || Trouble { reason: "start_failed", text: "It was closed meanwhile.".to_owned() };
            self.listed(id).ok_or_else(none)
        }
        .boxed()
    }

    fn listed(&self, id: &ServerId) -> Option<Arc<Listing>> {
        let listing = self.hub.listed(id)?;
        Some(self.owned.upgrade()?.as_reviewed(id, &listing))
    }

    fn own_name<'a>(&'a self, id: &'a ServerId) -> BoxFuture<'a, Option<String>> {
        async move { self.open(id).await.ok()?.server_name() }.boxed()
    }

    /// Of one that is part of the daemon there may be several, and what is best among them counts: they differ in nothing but
    /// whom they are for.
    fn connection(&self, id: &ServerId) -> Connection {
        let status = match is_builtin(id) {
            true => self.hub.statuses(id).into_iter().max_by_key(|status| (rank(&status.standing), status.since)),
            false => self.hub.sessions().status(&key_of(id)),
        };
        status.map(connection_of).unwrap_or_default()
    }

    fn restart<'a>(&'a self, id: &'a ServerId) -> BoxFuture<'a, ()> {
        async move {
            self.close(id).await;
            // One that is part of the daemon is opened by its use, for whoever uses it.
            if !is_builtin(id) {
                // How it went is its state.
                drop(self.open(id).await);
            }
        }
        .boxed()
    }

    fn close<'a>(&'a self, id: &'a ServerId) -> BoxFuture<'a, ()> {
        async move {
            match is_builtin(id) {
                true => self.hub.close_source(id).await,
                false => self.hub.sessions().forget(&key_of(id)).await,
            }
        }
        .boxed()
    }
}

fn is_builtin(id: &ServerId) -> bool {
    matches!(id.as_str(), APP | FILES)
}

const fn rank(standing: &Standing) -> u8 {
    match standing {
        Standing::Stopped => 0,
        Standing::Failed { .. } => 1,
        Standing::Starting => 2,
        Standing::Ready => 3,
    }
}

fn connection_of(status: Status) -> Connection {
    let (state, trouble) = match status.standing {
        Standing::Stopped => (ServerState::Stopped, None),
        Standing::Starting => (ServerState::Starting, status.waits_for.map(waiting)),
        Standing::Ready => (ServerState::Ready, None),
        Standing::Failed { reason, .. } => (ServerState::Failed, Some(trouble(&reason))),
    };
    let stderr_tail = Some(status.remarks.stderr);
    Connection { state: Some(state), since: status.since, trouble, stderr_tail }
}

/// What a server that is starting is waited for.
fn waiting(waits_for: WaitsFor) -> Trouble {
    let (reason, text) = match waits_for {
        WaitsFor::End => ("closing", "its former process has not ended yet"),
        WaitsFor::Handshake => ("handshake", "it runs, and has not answered the handshake (initialize) yet"),
        WaitsFor::Tools => ("tools", "it has not listed its tools yet"),
    };
    Trouble { reason, text: format!("{text}.") }
}

/// The word of the wire for what a session says in a sentence.
fn trouble(reason: &str) -> Trouble {
    let timed_out = reason.contains("timed out");
    Trouble { reason: if timed_out { "start_timeout" } else { "start_failed" }, text: format!("{reason}.") }
}
