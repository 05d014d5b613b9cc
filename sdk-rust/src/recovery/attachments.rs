//! The threads a client is attached to, which it attaches to again on a new connection.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use ropewalk_protocol::ThreadId;

/// The threads of one client.
#[derive(Default)]
pub(crate) struct Attachments {
    threads: Mutex<HashMap<ThreadId, Attachment>>,
}

#[derive(Default)]
struct Attachment {
    /// Tools of ours that another process held when this client last attached.
    taken: Vec<String>,
}

impl Attachments {
    /// The client is attached to a thread.
    pub(crate) fn add(&self, thread: &ThreadId) {
        self.lock().entry(thread.clone()).or_default();
    }

    /// It is not any more.
    pub(crate) fn remove(&self, thread: &ThreadId) {
        self.lock().remove(thread);
    }

    /// Every thread.
    pub(crate) fn all(&self) -> Vec<ThreadId> {
        self.lock().keys().cloned().collect()
    }

    /// Which tools of ours another process holds.
    pub(crate) fn taken(&self, thread: &ThreadId) -> Vec<String> {
        self.lock().get(thread).map(|attachment| attachment.taken.clone()).unwrap_or_default()
    }

    /// Notes which tools of ours another process holds; whether that is news and there are any.
    pub(crate) fn note_taken(&self, thread: &ThreadId, taken: &[String]) -> bool {
        match self.lock().get_mut(thread) {
            Some(attachment) if attachment.taken != taken => {
                attachment.taken = taken.to_vec();
                !taken.is_empty()
            }
            _ => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ThreadId, Attachment>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
