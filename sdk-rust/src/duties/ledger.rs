//! What was asked of this client and has not been acknowledged: no interaction is worked on twice, whichever connection of
//! the client it is offered through.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ropewalk_peer::Responder;
use ropewalk_protocol::{ErrorDetail, InteractionId, RpcError, ThreadId};
use tokio_util::sync::CancellationToken;

/// Finished answers that are kept for a repeated offer. The daemon settles every interaction, so this many are only
/// there when it does not.
const KEPT_ANSWERS: usize = 1_024;
/// Finished interactions that are known at all. One whose answer is not kept is never worked on again: an offer of it is
/// told that the answer is lost.
const KNOWN_ANSWERS: usize = 65_536;

/// The answer to an interaction: a result as JSON, or an error, which for a person's answer means "not I".
pub(crate) type Answer = Result<Arc<str>, Box<RpcError>>;

/// The interactions that are open as far as this client knows.
#[derive(Default)]
pub(crate) struct Ledger {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<InteractionId, Entry>,
    finished: VecDeque<InteractionId>,
}

struct Entry {
    thread: ThreadId,
    /// The connection it was offered through last.
    generation: u64,
    cancelled: CancellationToken,
    progress: Progress,
}

enum Progress {
    /// Somebody works on it; the offers that wait for the answer.
    Working(Vec<Responder>),
    /// It was answered; kept until the daemon acknowledges.
    Finished(Answer),
}

impl Ledger {
    /// Takes an offer. A token means that the work begins now; without one the offer joins work under way, or was
    /// answered with the kept answer.
    pub(crate) fn offer(
        &self,
        id: &InteractionId,
        thread: &ThreadId,
        generation: u64,
        responder: Responder,
    ) -> Option<CancellationToken> {
        let kept = {
            let mut state = self.lock();
            if let Some(entry) = state.entries.get_mut(id) {
                entry.generation = entry.generation.max(generation);
            }
            match state.entries.get_mut(id) {
                None => {
                    let cancelled = CancellationToken::new();
                    let entry = Entry {
                        thread: thread.clone(),
                        generation,
                        cancelled: cancelled.clone(),
                        progress: Progress::Working(vec![responder]),
                    };
                    state.entries.insert(id.clone(), entry);
                    return Some(cancelled);
                }
                Some(Entry { progress: Progress::Working(waiting), .. }) => {
                    waiting.push(responder);
                    return None;
                }
                Some(Entry { progress: Progress::Finished(answer), .. }) => answer.clone(),
            }
        };
        send(responder, kept);
        None
    }

    /// The work is done: answers every offer and keeps the answer. Without effect when the interaction was settled
    /// in the meantime.
    pub(crate) fn finish(&self, id: &InteractionId, answer: Answer) {
        let waiting = {
            let mut state = self.lock();
            let Some(entry) = state.entries.get_mut(id) else { return };
            let before = std::mem::replace(&mut entry.progress, Progress::Finished(answer.clone()));
            state.finished.push_back(id.clone());
            state.bound();
            match before {
                Progress::Working(waiting) => waiting,
                Progress::Finished(_) => Vec::new(),
            }
        };
        waiting.into_iter().for_each(|responder| send(responder, answer.clone()));
    }

    /// The daemon says that the interaction is over: work on it stops, a kept answer is forgotten.
    pub(crate) fn settle(&self, id: &InteractionId) {
        let Some(entry) = self.remove(id) else { return };
        if let Progress::Working(waiting) = entry.progress {
            entry.cancelled.cancel();
            waiting.into_iter().for_each(|responder| send(responder, Err(Box::new(over()))));
        }
    }

    /// The connection is gone, and with it whoever waited for an answer. The work goes on, and answers are kept.
    pub(crate) fn disconnected(&self) {
        let mut gone = Vec::new();
        for entry in self.lock().entries.values_mut() {
            if let Progress::Working(waiting) = &mut entry.progress {
                gone.append(waiting);
            }
        }
        // Dropped without the lock: a responder does something when it is dropped.
        drop(gone);
    }

    /// What was offered last through a connection before this one, by thread.
    pub(crate) fn asked_before(&self, generation: u64) -> HashMap<ThreadId, Vec<InteractionId>> {
        let mut asked: HashMap<ThreadId, Vec<InteractionId>> = HashMap::new();
        for (id, entry) in self.lock().entries.iter().filter(|(_, entry)| entry.generation < generation) {
            asked.entry(entry.thread.clone()).or_default().push(id.clone());
        }
        asked
    }

    /// As [`Ledger::settle`], unless it was offered through this connection or a later one.
    pub(crate) fn settle_before(&self, id: &InteractionId, generation: u64) {
        if self.lock().entries.get(id).is_some_and(|entry| entry.generation < generation) {
            self.settle(id);
        }
    }

    /// The daemon refused the answer: it is forgotten, so that the next offer is worked on anew.
    pub(crate) fn refuse(&self, id: &InteractionId) {
        let mut state = self.lock();
        if matches!(state.entries.get(id), Some(Entry { progress: Progress::Finished(_), .. })) {
            state.entries.remove(id);
            state.finished.retain(|other| other != id);
        }
    }

    /// Stops all work. Nothing is answered; the connection is going.
    pub(crate) fn cancel_all(&self) {
        let entries = std::mem::take(&mut *self.lock()).entries;
        entries.into_values().for_each(|entry| entry.cancelled.cancel());
    }

    fn remove(&self, id: &InteractionId) -> Option<Entry> {
        let mut state = self.lock();
        let entry = state.entries.remove(id)?;
        if matches!(entry.progress, Progress::Finished(_)) {
            state.finished.retain(|other| other != id);
        }
        Some(entry)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Lets go of the oldest answers, and of the oldest interactions of all.
    fn bound(&mut self) {
        let surplus = self.finished.len().checked_sub(KEPT_ANSWERS + 1);
        let entry = surplus.and_then(|oldest| self.entries.get_mut(&self.finished[oldest]));
        if let Some(entry) = entry {
            entry.progress = Progress::Finished(Err(Box::new(lost())));
        }
        if self.finished.len() > KNOWN_ANSWERS
            && let Some(oldest) = self.finished.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }
}

fn send(responder: Responder, answer: Answer) {
    match answer {
        Ok(result) => responder.ok_raw(&result),
        Err(error) => responder.error(*error),
    }
}

fn lost() -> RpcError {
    let detail = ErrorDetail::Cancelled { reason: Some("answer_lost".to_owned()) };
    RpcError::new(detail, "This client answered before and has not kept the answer; it is not worked out twice.")
}

fn over() -> RpcError {
    RpcError::new(ErrorDetail::Cancelled { reason: Some("settled".to_owned()) }, "The interaction is over.")
}
