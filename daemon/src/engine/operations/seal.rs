//! Sealing a thread that is to be deleted: its runs end as a stop ends them, and nothing else is done before it is known
//! whether the thread goes.

use ropewalk_protocol::{By, ByKind, ClientRef, ErrorDetail, Revision, RpcError, RunId};
use tokio::sync::oneshot;

use super::refusal;
use crate::{
    domain::{DomainError, ThreadState},
    engine::{ThreadHandle, Turn, run::stopped},
};

/// Why the runs of a deleted thread end, as their outcome says it.
const REASON: &str = "deleted";

/// A thread that does nothing before it is decided whether it is deleted. Dropped, it goes on.
pub struct Sealed {
    /// What goes with the thread, as a sentence.
    pub effect: String,
    verdict: oneshot::Sender<bool>,
}

impl Sealed {
    /// The thread is deleted: its owner ends, and whoever waits for it is told.
    pub fn goes(self) {
        // An owner that broke down has ended already.
        let _ = self.verdict.send(true);
    }
}

impl ThreadHandle {
    /// What would go with the thread, as a sentence.
    ///
    /// # Errors
    /// `conflict` for another revision than expected, `notFound`, `unavailable`.
    pub async fn rehearse_deletion(&self, expected: Option<Revision>) -> Result<String, RpcError> {
        self.turn(move |turn| {
            expect(turn, expected)?;
            Ok(effect_of(turn.state()))
        })
        .await
    }

    /// Stops the thread's runs in one record, and has it do nothing more until it is deleted or not. A thread whose log
    /// takes no record is sealed without one: what its log lacks goes with it.
    ///
    /// # Errors
    /// `conflict` for another revision than expected, `notFound`, `unavailable` when not even its rows can be read.
    pub async fn seal(&self, expected: Option<Revision>, by: ClientRef) -> Result<Sealed, RpcError> {
        match self.sealed(expected, Some(by)).await {
            Err(error) if matches!(error.data.detail, ErrorDetail::Unavailable { .. }) => {
                self.sealed(expected, None).await
            }
            sealed => sealed,
        }
    }

    async fn sealed(&self, expected: Option<Revision>, stopping: Option<ClientRef>) -> Result<Sealed, RpcError> {
        self.turn(move |turn| {
            expect(turn, expected)?;
            let effect = effect_of(turn.state());
            if let Some(by) = stopping {
                let runs: Vec<RunId> = turn.state().runs.keys().cloned().collect();
                for run_id in runs {
                    turn.finish_run(&run_id, stopped(By::client(ByKind::Stop, &by), Some(REASON)));
                }
            }
            let (verdict, decided) = oneshot::channel();
            turn.live.verdict = Some(decided);
            Ok(Sealed { effect, verdict })
        })
        .await
    }
}

fn expect(turn: &Turn<'_>, expected: Option<Revision>) -> Result<(), RpcError> {
    let thread = &turn.state().thread;
    match expected {
        Some(expected) if expected != thread.revision => {
            Err(refusal(DomainError::Revision { current: thread.revision }, thread))
        }
        _ => Ok(()),
    }
}

fn effect_of(state: &ThreadState) -> String {
    let name = state.thread.title.as_ref().or(state.first_line.as_ref());
    let name = name.map_or_else(|| state.thread.thread_id.to_string(), |name| format!("\u{201c}{name}\u{201d}"));
    let waiting = state.branches.values().map(|branch| branch.queue.len()).sum();
    let mut with = Vec::new();
    if state.branches.len() > 1 {
        with.push(counted(state.branches.len(), "branch", "branches"));
    }
    if waiting > 0 {
        with.push(counted(waiting, "input that waits", "inputs that wait"));
    }
    let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(" and ")) };
    let stops = match state.runs.len() {
        0 => String::new(),
        1 => " Its run is stopped.".to_owned(),
        many => format!(" Its {many} runs are stopped."),
    };
    format!("Deletes the thread {name} for good{with}.{stops}")
}

/// So many of something, as a sentence has it.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
