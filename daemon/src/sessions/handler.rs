//! What a server may say on its own: that its tools changed, and how far a call has come. It is offered nothing else: no
//! sampling, no questions, no roots (MCP-150); a server that asks all the same is declined.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    },
    service::NotificationContext,
};
use tokio::sync::{mpsc, watch};

/// How many signs of one call may wait; a server that says more at once is alive all the same.
const SIGNS: usize = 16;

/// A sign of life of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How far it has come, in its own measure.
    pub at: f64,
    /// Where it ends, where it says so.
    pub total: Option<f64>,
    /// What it is doing.
    pub message: Option<String>,
}

/// Routes what a server says to whoever waits for it.
#[derive(Clone)]
pub struct Handler {
    routes: Routes,
    changed: watch::Sender<u64>,
}

type Routes = Arc<Mutex<HashMap<ProgressToken, Route>>>;

struct Route {
    signs: mpsc::Sender<Progress>,
    /// How far the call had come. What comes late is no progress: notifications may overtake each other.
    at: f64,
}

impl Handler {
    /// A handler with nobody waiting.
    pub fn new() -> Self {
        Self { routes: Routes::default(), changed: watch::Sender::new(0) }
    }

    /// Signs of life of the call with this token, for as long as what is returned with them lives.
    pub fn signs_of(&self, token: ProgressToken) -> (mpsc::Receiver<Progress>, Listening) {
        let (signs, receiver) = mpsc::channel(SIGNS);
        self.routes().insert(token.clone(), Route { signs, at: f64::NEG_INFINITY });
        (receiver, Listening { routes: self.routes.clone(), token })
    }

    /// Counts up whenever the server says that its tools changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The tools have changed.
    pub fn tools_changed(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    fn routes(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, Route>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Dropping it ends the signs of a call.
pub struct Listening {
    routes: Routes,
    token: ProgressToken,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let ourselves = Implementation::new("ropewalk", env!("CARGO_PKG_VERSION"));
        // The newest version that has a handshake: what is said in one.
        ClientConfig::new(ClientCapabilities::default(), ourselves).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let mut routes = self.routes();
        let Some(route) = routes.get_mut(&progress.progress_token) else { return };
        // Only what advances is a sign of life.
        if progress.progress > route.at {
            route.at = progress.progress;
            let sign = Progress { at: progress.progress, total: progress.total, message: progress.message };
            let _ = route.signs.try_send(sign);
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed();
    }
}
