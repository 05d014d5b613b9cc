//! The last of a daemon: nobody asks it anything any more, and it lets go of what it holds.

use std::time::Duration;

use super::Daemon;

/// How long the owners of threads may take to end. They have nothing to do but what they were given before.
const OWNERS_END: Duration = Duration::from_secs(2);

impl Daemon {
    /// Lets go of everything, once every connection has ended: the owners of threads end, the index is written down and the
    /// store is closed; before that the servers are ended, each with its whole group of processes. When it resolves, the same home can be opened again, whoever still has this daemon or parts of it:
    /// all that is asked of its store from then on is refused. Waits for nobody but the disk. Called again, it does nothing.
    pub async fn let_go(&self) {
        self.servers.sessions().close_all().await;
        if tokio::time::timeout(OWNERS_END, self.engine.end()).await.is_err() {
            tracing::warn!("the owners of some threads have not ended; their store is closed all the same");
        }
        if let Err(error) = self.store.flush().await {
            tracing::warn!(%error, "the index could not be written down; the next start rebuilds what is missing");
        }
        self.store.close().await;
    }
}
