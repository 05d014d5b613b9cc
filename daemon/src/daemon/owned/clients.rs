//! The sessions of the daemon, as the methods of an owner use them.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};
use ropewalk_protocol::{ServerId, ServerState};

use super::{OwnedServers, book::key_of};
use crate::{
    daemon::ServerHub,
    sessions::{Session, Standing},
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

    fn connection(&self, id: &ServerId) -> Connection {
        let Some(status) = self.hub.sessions().status(&key_of(id)) else { return Connection::default() };
        let (state, trouble) = match status.standing {
            Standing::Stopped => (ServerState::Stopped, None),
            Standing::Starting => (ServerState::Starting, None),
            Standing::Ready => (ServerState::Ready, None),
            Standing::Failed { reason, .. } => (ServerState::Failed, Some(trouble(&reason))),
        };
        Connection { state: Some(state), trouble, stderr_tail: Some(status.remarks.stderr) }
    }

    fn restart<'a>(&'a self, id: &'a ServerId) -> BoxFuture<'a, ()> {
        async move {
            self.hub.sessions().forget(&key_of(id)).await;
            // How it went is its state.
            drop(self.open(id).await);
        }
        .boxed()
    }

    fn close<'a>(&'a self, id: &'a ServerId) -> BoxFuture<'a, ()> {
        async move { self.hub.sessions().forget(&key_of(id)).await }.boxed()
    }
}

/// The word of the wire for what a session says in a sentence.
fn trouble(reason: &str) -> Trouble {
    let timed_out = reason.contains("timed out");
    Trouble { reason: if timed_out { "start_timeout" } else { "start_failed" }, text: format!("{reason}.") }
}
