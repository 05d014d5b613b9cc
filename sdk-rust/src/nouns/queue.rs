//! What waits on a branch, and changing it.

use super::{noun, verbs};

noun! {
    /// What waits on a branch. [`Runs::submit`](crate::Runs::submit) to a busy one adds to it.
    Queue
}

impl Queue {
    verbs! {
        /// What waits on a branch.
        list = QueueList;
        /// Gives an input that waits other words. It keeps its place, its message and its run.
        update = QueueUpdate;
        /// Takes back an input that waits.
        remove = QueueRemove;
        /// Takes back all that waits and may be changed.
        clear = QueueClear;
        /// Puts what waits into another order, which names each input once.
        reorder = QueueReorder;
    }
}
