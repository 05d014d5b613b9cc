//! Going away when nobody needs the daemon: no run that works, no open interaction, no connection for a while (ruling 47).

use std::{sync::Arc, time::Duration};

use ropewalk_protocol::RunStatus;

use super::Daemon;

/// How long a daemon that goes away by itself gives to what is under way: there is nothing.
const GRACE_MS: u64 = 1_000;

/// Stops the daemon when it has been idle for long. `by_flag` is what whoever started it said; a setting goes before it.
pub async fn stop_when_idle(daemon: Arc<Daemon>, by_flag: Option<u64>) {
    let mut documents = daemon.catalogue.watch();
    loop {
        let idle_exit_ms = daemon.catalogue.snapshot().settings.idle_exit_ms.or(by_flag);
        let quieter = daemon.quieter.notified();
        let patience = match idle_exit_ms {
            Some(ms) if is_idle(&daemon) => Some(Duration::from_millis(ms)),
            _ => None,
        };
        let waited_out = async {
            match patience {
                Some(patience) => daemon.clock.sleep(patience).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = daemon.stopping.cancelled() => return,
            () = quieter => {}
            changed = documents.changed() => if changed.is_err() { return },
            () = waited_out => {
                if is_idle(&daemon) {
                    tracing::info!("nobody needs this daemon; it goes");
                    daemon.stop(GRACE_MS);
                    return;
                }
            }
        }
    }
}

fn is_idle(daemon: &Daemon) -> bool {
    // Asked first: it is what keeps most daemons up, and costs nothing, while the rest reads the index.
    if daemon.clients.count() > 0 || daemon.engine.is_taking_up() {
        return false;
    }
    let works = match daemon.engine.counts() {
        // A paused run waits for somebody to resume it, and lasts.
        Ok((runs, interactions)) => runs.keys().any(|state| *state != RunStatus::Paused) || interactions > 0,
        // What cannot be read might be work.
        Err(_) => true,
    };
    !works
}
