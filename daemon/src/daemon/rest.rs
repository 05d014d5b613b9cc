//! What is left of a start when requests are taken already: the rest of the logs, and the threads that nobody has asked for.

use std::{sync::Arc, time::Duration};

use ropewalk_protocol::RpcError;

use super::{Daemon, upkeep};
use crate::engine::{lookup, storage_error};

/// How long after it has failed this is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Waits until all logs have been read and takes up every thread, however often that has to be tried.
pub(super) async fn take_up_the_rest(daemon: Arc<Daemon>) {
    let stopping = daemon.stopping.clone();
    let all = async {
        while let Err(error) = try_once(&daemon).await {
            tracing::error!(%error, "what was under way cannot be taken up; it is tried again");
            daemon.clock.sleep(AGAIN).await;
        }
        upkeep::keep_up(&daemon);
        daemon.quieter();
    };
    tokio::select! {
        biased;
        () = stopping.cancelled() => {}
        () = all => {}
    }
}

async fn try_once(daemon: &Arc<Daemon>) -> Result<(), RpcError> {
    daemon.store.compared(None).await.map_err(|error| storage_error(&error))?;
    if let Some(latest) = lookup::latest_id(&*daemon.store) {
        daemon.ids.not_before(latest);
    }
    daemon.sweep().await
}
