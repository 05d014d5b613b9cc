//! Who reads the events of which thread, and how far each thread is known to have come.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ropewalk_protocol::{Seq, ThreadId, limits};

use super::{Delivered, End, Failure, Mailbox};

/// The threads of one client and their readers.
#[derive(Default)]
pub(crate) struct Hub {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    threads: HashMap<ThreadId, Readers>,
    end: Option<End>,
}

#[derive(Default)]
struct Readers {
    newest: Seq,
    mailboxes: Vec<Arc<Mailbox>>,
    /// Set when the thread could not be taken up again, until somebody takes it up.
    failure: Option<Failure>,
}

impl Hub {
    /// Hands an event to all readers of its thread.
    pub(crate) fn publish(&self, thread: ThreadId, event: &Delivered) {
        let mut state = self.lock();
        // The answer that makes a thread known may still be on its way to its caller; the position must not be lost.
        let room = state.threads.len() < 2 * limits::SUBSCRIPTIONS as usize;
        if !room && !state.threads.contains_key(&thread) {
            return;
        }
        let readers = state.threads.entry(thread).or_default();
        readers.newest = readers.newest.max(event.position());
        readers.mailboxes.iter().for_each(|mailbox| mailbox.put(event));
    }

    /// Learns that a thread has come as far as `seq`.
    pub(crate) fn advance(&self, thread: &ThreadId, seq: Seq) {
        let mut state = self.lock();
        let readers = state.threads.entry(thread.clone()).or_default();
        readers.newest = readers.newest.max(seq);
        readers.mailboxes.iter().for_each(|mailbox| mailbox.advance(seq));
    }

    /// How far a thread is known to have come; 0 for one nothing is known of.
    pub(crate) fn newest(&self, thread: &ThreadId) -> Seq {
        self.lock().threads.get(thread).map_or(0, |readers| readers.newest)
    }

    /// A new reader of a thread, and the position it starts behind.
    pub(crate) fn subscribe(&self, thread: &ThreadId) -> (Arc<Mailbox>, Seq) {
        let mut state = self.lock();
        let end = state.end.clone();
        let readers = state.threads.entry(thread.clone()).or_default();
        let mailbox = Arc::new(Mailbox::new(readers.newest));
        match end.or_else(|| readers.failure.clone().map(End::Failed)) {
            Some(end) => mailbox.end(end),
            None => readers.mailboxes.push(Arc::clone(&mailbox)),
        }
        (mailbox, readers.newest)
    }

    /// A reader has gone.
    pub(crate) fn unsubscribe(&self, thread: &ThreadId, mailbox: &Arc<Mailbox>) {
        if let Some(readers) = self.lock().threads.get_mut(thread) {
            readers.mailboxes.retain(|other| !Arc::ptr_eq(other, mailbox));
        }
    }

    /// The thread could not be taken up again: its readers end, and so does whoever comes to read.
    pub(crate) fn fail(&self, thread: &ThreadId, failure: Failure) {
        let mut state = self.lock();
        let readers = state.threads.entry(thread.clone()).or_default();
        readers.mailboxes.drain(..).for_each(|mailbox| mailbox.end(End::Failed(failure.clone())));
        readers.failure = Some(failure);
    }

    /// A thread that could not be taken up again is taken up anew, from its snapshot.
    pub(crate) fn reopen(&self, thread: &ThreadId) {
        let mut state = self.lock();
        if state.threads.get(thread).is_some_and(|readers| readers.failure.is_some()) {
            state.threads.remove(thread);
        }
    }

    /// The thread was closed from this side: its readers end.
    pub(crate) fn close(&self, thread: &ThreadId) {
        if let Some(readers) = self.lock().threads.remove(thread) {
            readers.mailboxes.iter().for_each(|mailbox| mailbox.end(End::Closed));
        }
    }

    /// Nothing more comes for anybody. The first reason counts.
    pub(crate) fn end(&self, end: End) {
        let mut state = self.lock();
        let end = state.end.get_or_insert(end).clone();
        for (_, readers) in state.threads.drain() {
            readers.mailboxes.iter().for_each(|mailbox| mailbox.end(end.clone()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
