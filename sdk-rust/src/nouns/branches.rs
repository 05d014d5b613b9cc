//! The branches of any thread, by their ids.

use super::{noun, verbs};

noun! {
    /// The branches of any thread. [`Thread::branches`](crate::Thread::branches) has those of one;
    /// [`RunRequest::fork`](crate::RunRequest::fork) makes them.
    Branches
}

impl Branches {
    verbs! {
        /// A page of the branches of a thread, by id.
        list = BranchList;
        /// Changes the title of a branch: null clears it.
        update = BranchUpdate;
        /// Deletes a branch, with its run and what waits on it; or says what would go.
        delete = BranchDelete;
    }
}
