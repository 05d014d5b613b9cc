//! Threads by their ids, and the two ways to get a [`Thread`](crate::Thread) to work with.

use ropewalk_protocol::{Thread as Header, ThreadId, ThreadParams, ThreadRead};

use super::{noun, verbs};
use crate::{
    Error,
    thread::{ResumeThread, StartThread},
};

noun! {
    /// Threads.
    Threads
}

impl Threads {
    /// Starts a thread; await the builder.
    pub fn start(&self) -> StartThread {
        StartThread::new(self.client.clone())
    }

    /// Takes up a thread that exists; await the builder.
    pub fn resume(&self, thread: impl Into<ThreadId>) -> ResumeThread {
        ResumeThread::new(self.client.clone(), thread.into())
    }

    verbs! {
        /// The threads, newest first.
        list = ThreadList;
        /// Changes the header of a thread: what is named is set, null clears.
        update = ThreadUpdate;
        /// Archives a thread, or takes it back.
        archive = ThreadArchive;
        /// Says that somebody has read what happened up to an event.
        mark_read = ThreadMarkRead;
        /// Deletes a thread for good, or says what would go with it.
        delete = ThreadDelete;
        /// The chain of a branch from head to root: exactly what the model sees.
        messages = ThreadMessages;
        /// The messages of all threads, or of some, that have a text. A page with a cursor may be empty: go on with it.
        search = ThreadSearch;
        /// A page of durable events. [`Thread::events`](crate::Thread::events) is the pleasant way to read them.
        events = ThreadEvents;
        /// The effective tools of a thread.
        tools = ThreadTools;
    }

    /// The header of a thread, with its branches.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn read(&self, thread: impl Into<ThreadId>) -> Result<Header, Error> {
        Ok(self.client.call::<ThreadRead>(ThreadParams { thread_id: thread.into() }).await?.thread)
    }
}
