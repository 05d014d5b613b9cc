//! Taking up a thread after the daemon has died, and parking it before the daemon goes.

use ropewalk_protocol::RpcError;

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

    /// Ends the drivers of the thread's runs without ending the runs: the next start takes up where they were. Text
    /// that has streamed is kept.
    pub async fn park(&self) {
        let parked = self
            .turn(|turn| {
                let activations: Vec<_> = turn.live.activations.drain().collect();
                for (run_id, activation) in activations {
                    if let Some(task) = activation.task {
                        task.abort();
                    }
                    checkpoint(turn, &run_id);
                }
                Ok(())
            })
            .await;
        if let Err(error) = parked {
            tracing::error!(thread = %self.id(), %error, "this thread could not be parked; the next start recovers it");
        }
    }
}

fn checkpoint(turn: &mut crate::engine::Turn<'_>, run_id: &ropewalk_protocol::RunId) {
    let Some(run) = turn.state().runs.get(run_id) else { return };
    let texts: Vec<_> =
        run.open_items.keys().filter_map(|id| turn.bus.text(id).map(|text| (id.clone(), text))).collect();
    for (item_id, text) in texts {
        turn.change.fact(crate::domain::Fact::Checkpoint { item_id, text });
    }
}
