//! What a daemon does about its own store from time to time: operations expire, deleted threads are cleared away, and a log
//! that is mostly dead is written anew.

use std::{sync::Arc, time::Duration};

use super::Daemon;

/// How long after the start, and how often then, the store is looked after.
const EVERY: Duration = Duration::from_secs(600);

/// Records that let operations expire at one time; what is left waits for the next.
const EXPIRIES: usize = 100;

/// Looks after the daemon's store for as long as the daemon lives.
pub(super) fn keep_up(daemon: &Arc<Daemon>) {
    let (clock, stopping) = (daemon.clock.clone(), daemon.stopping.clone());
    let daemon = Arc::downgrade(daemon);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                biased;
                () = stopping.cancelled() => return,
                () = clock.sleep(EVERY) => {}
            }
            let Some(daemon) = daemon.upgrade() else { return };
            daemon.tend_store().await;
        }
    });
}

impl Daemon {
    /// Looks after the store once. What cannot be done now is done the next time.
    pub async fn tend_store(&self) {
        if let Err(error) = self.engine.clear_tombstones().await {
            tracing::warn!(%error, "what is left of deleted threads cannot be found");
        }
        for _ in 0..EXPIRIES {
            match self.catalogue.expire_operations().await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(%error, "operations that have expired could not be removed");
                    break;
                }
            }
        }
        if let Err(error) = self.catalogue.forget_expired_rules().await {
            tracing::warn!(%error, "rules that have expired could not be removed");
        }
        match self.catalogue.tidy().await {
            Ok(true) => tracing::info!("the daemon's log was written anew without what was dead of it"),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the daemon's log could not be written anew"),
        }
    }
}
