//! Items: what happened in a thread, for who shows it.

use ropewalk_protocol::{Item, ItemId, ItemRead, ItemReadParams, ThreadId};

use super::{noun, verbs};
use crate::Error;

noun! {
    /// What happened in a thread. [`Thread::events_after`](crate::Thread::events_after) continues it.
    Items
}

impl Items {
    verbs! {
        /// The completed items of a branch or a run, newest first.
        list = ItemList;
    }

    /// An item, completed or still open.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn read(&self, thread: impl Into<ThreadId>, item: impl Into<ItemId>) -> Result<Item, Error> {
        let params = ItemReadParams { thread_id: thread.into(), item_id: item.into() };
        Ok(self.client.call::<ItemRead>(params).await?.item)
    }
}
