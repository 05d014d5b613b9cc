//! The branches of a thread this client is attached to.

use std::fmt;

use ropewalk_protocol::{
    Branch, BranchDelete, BranchDeleteParams, BranchId, BranchList, BranchListParams, BranchUpdate, BranchUpdateParams,
    Patch, Removed,
};

use super::Thread;
use crate::{Error, ids};

/// The branches of one thread, as [`Thread::branches`] gives them.
#[derive(Clone)]
pub struct ThreadBranches {
    thread: Thread,
}

impl ThreadBranches {
    pub(super) const fn new(thread: Thread) -> Self {
        Self { thread }
    }

    /// All of them, by id: the original one, whose id is the thread's, and those that were forked.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn list(&self) -> Result<Vec<Branch>, Error> {
        let (mut branches, mut cursor) = (Vec::new(), None);
        loop {
            let params = BranchListParams { thread_id: self.thread.id.clone(), cursor, limit: None };
            let page = self.thread.client.call::<BranchList>(params).await?;
            branches.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(branches);
            }
        }
    }

    /// Gives a branch a title, or takes it away.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn rename(&self, branch: impl Into<BranchId>, title: Option<&str>) -> Result<Branch, Error> {
        let params = BranchUpdateParams {
            thread_id: self.thread.id.clone(),
            branch_id: branch.into(),
            title: title.map_or(Patch::Clear, |title| Patch::Set(title.to_owned())),
            operation_id: Some(ids::fresh().into()),
        };
        Ok(self.thread.client.call::<BranchUpdate>(params).await?.branch)
    }

    /// Deletes a branch: its run is stopped, what waits on it is dropped, and branches forked from it stay. Says what went.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call); `invalidState` for the original branch, which goes with its thread.
    pub async fn delete(&self, branch: impl Into<BranchId>) -> Result<Removed, Error> {
        self.remove(branch.into(), false).await
    }

    /// Says what [`delete`](Self::delete) would do, and changes nothing.
    ///
    /// # Errors
    /// As [`delete`](Self::delete).
    pub async fn rehearse_delete(&self, branch: impl Into<BranchId>) -> Result<Removed, Error> {
        self.remove(branch.into(), true).await
    }

    async fn remove(&self, branch_id: BranchId, dry_run: bool) -> Result<Removed, Error> {
        let params = BranchDeleteParams {
            thread_id: self.thread.id.clone(),
            branch_id,
            dry_run: Some(dry_run),
            expected_revision: None,
            operation_id: Some(ids::fresh().into()),
        };
        self.thread.client.call::<BranchDelete>(params).await
    }
}

impl fmt::Debug for ThreadBranches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBranches").field("thread", &self.thread.id).finish_non_exhaustive()
    }
}
