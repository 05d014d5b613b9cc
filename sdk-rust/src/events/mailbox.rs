//! What has arrived for one reader. Bounded: what does not fit is fetched from the daemon's log when the reader gets there.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::Waker,
};

use ropewalk_protocol::{RpcError, Seq, ThreadId};

use super::Delivered;
use crate::Error;

/// Events a reader may be behind before the log is read instead.
const EVENTS: usize = 256;
/// Bytes of events a reader may be behind before the log is read instead.
const BYTES: usize = 1_048_576;

/// How a reader's events come to an end.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// The thread or client was closed from this side.
    Closed,
    /// The connection was lost for good; the link knows why.
    Lost,
    /// This thread could not be taken up again.
    Failed(Failure),
}

/// Why a thread could not be taken up again on a new connection.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The daemon refused.
    Refused(Box<RpcError>),
    /// Its log ends before an event that was seen.
    LogShortened {
        /// Which thread.
        thread: ThreadId,
        /// The last event that was seen.
        seen: Seq,
    },
}

impl Failure {
    /// What the thread's readers are told.
    pub(crate) fn error(&self) -> Error {
        match self {
            Self::Refused(error) => Error::Rpc(error.clone()),
            Self::LogShortened { thread, seen } => Error::LogShortened { thread_id: thread.clone(), seen: *seen },
        }
    }
}

/// The queue of one reader.
#[derive(Debug)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    queue: VecDeque<Delivered>,
    bytes: usize,
    newest: Seq,
    end: Option<End>,
    waker: Option<Waker>,
}

/// What a reader finds.
#[derive(Debug)]
pub(crate) enum Next {
    /// The event that has waited longest.
    Event(Delivered),
    /// Nothing waits; the newest durable position that was ever seen.
    Empty(Seq),
    /// Nothing waits and nothing will come; the newest position and the reason.
    Ended(Seq, End),
}

impl Mailbox {
    /// An empty mailbox of a thread whose newest known event is `newest`.
    pub(crate) const fn new(newest: Seq) -> Self {
        let state = State { queue: VecDeque::new(), bytes: 0, newest, end: None, waker: None };
        Self { state: Mutex::new(state) }
    }

    /// Takes an event in, or only its position when there is no room.
    pub(crate) fn put(&self, event: &Delivered) {
        let mut state = self.lock();
        state.newest = state.newest.max(event.position());
        let fits = state.queue.is_empty() || state.bytes + event.bytes <= BYTES;
        let merged = fits && state.queue.back_mut().is_some_and(|last| last.merge(event));
        if fits && !merged && state.queue.len() < EVENTS {
            state.queue.push_back(event.clone());
            state.bytes += event.bytes;
        } else if merged {
            state.bytes += event.bytes;
        }
        state.wake();
    }

    /// Learns that there are events up to `seq`.
    pub(crate) fn advance(&self, seq: Seq) {
        let mut state = self.lock();
        state.newest = state.newest.max(seq);
        state.wake();
    }

    /// Nothing more will come.
    pub(crate) fn end(&self, end: End) {
        let mut state = self.lock();
        state.end.get_or_insert(end);
        state.wake();
    }

    /// Takes the next event out, or leaves the waker to be called when there is something.
    pub(crate) fn take(&self, waker: &Waker) -> Next {
        let mut state = self.lock();
        if let Some(event) = state.queue.pop_front() {
            state.bytes = if state.queue.is_empty() { 0 } else { state.bytes.saturating_sub(event.bytes) };
            return Next::Event(event);
        }
        if let Some(end) = state.end.clone() {
            return Next::Ended(state.newest, end);
        }
        state.waker = Some(waker.clone());
        Next::Empty(state.newest)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
