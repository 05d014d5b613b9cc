//! Taking up a thread after the daemon has died, and parking it before the daemon goes.

use ropewalk_protocol::{ItemId, RpcError};

use crate::engine::ThreadHandle;

impl ThreadHandle {
    /// Brings the thread's runs to where they can go on, and has them driven.
    ///
    /// # Errors
    /// `unavailable`, when that could not be stored.
    pub async fn recover(&self) -> Result<(), RpcError> {
        self.turn(|turn| {
            turn.change.recover();
            Ok(())
        })
        .await
    }

    /// Parks the thread for good: its drivers end, its runs do not. Runs that work are paused, those that wait go on
    /// waiting, text that has streamed is kept, and the next start takes up where they were (ruling 15).
    pub async fn park(&self) {
        let parked = self
            .turn(|turn| {
                turn.live.is_parked = true;
                for activation in std::mem::take(&mut turn.live.activations).into_values() {
                    if let Some(task) = activation.task {
                        task.abort();
                    }
                }
                let texts: Vec<ItemId> = turn.live.texts.keys().cloned().collect();
                for item_id in texts {
                    turn.checkpoint(&item_id);
                }
                let runs: Vec<_> = turn.state().runs.keys().cloned().collect();
                for run_id in runs {
                    turn.change.park_run(&run_id);
                }
                Ok(())
            })
            .await;
        if let Err(error) = parked {
            tracing::error!(thread = %self.id(), %error, "this thread could not be parked; the next start recovers it");
        }
    }

    /// Ends the thread's owner: the daemon is gone, and nobody asks any more.
    pub async fn end(&self) {
        let ended = self
            .turn(|turn| {
                turn.live.is_over = true;
                Ok(())
            })
            .await;
        if let Err(error) = ended {
            tracing::debug!(thread = %self.id(), %error, "the owner of a thread ends by itself");
        }
    }
}
