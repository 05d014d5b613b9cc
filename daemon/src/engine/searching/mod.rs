//! Searching the messages of all threads: off the threads that answer everybody else, for a bounded time, and no longer than
//! somebody waits for it.

mod archive;
mod living;
mod page;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use ropewalk_protocol::{BranchId, ErrorDetail, ProjectId, RpcError, ThreadId};
use tokio_util::sync::CancellationToken;

use self::archive::LogArchive;
pub use self::page::SearchPage;
use super::{Engine, Shared, lookup, rows, storage_error};
use crate::{
    engine::rows::ThreadRow,
    search::{Bounds, Found, Place, Query, scan},
    store::keys,
};

/// How long one page of a search may take before it ends where it is.
const PAGE_TIME: Duration = Duration::from_secs(2);

/// How many searches are at work at once; others wait for their turn.
pub(super) const AT_ONCE: usize = 2;

/// Which messages are looked through.
#[derive(Clone, Debug)]
struct Scope {
    /// Those of one project.
    project_id: Option<ProjectId>,
    /// Those of one thread.
    thread_id: Option<ThreadId>,
    /// Those of the chain of one branch of that thread.
    branch_id: Option<BranchId>,
}

impl Scope {
    /// Whether there is what it names.
    ///
    /// # Errors
    /// `notFound` (project, thread, branch), `invalidParams` for a branch of no thread or a thread of another project.
    fn check(&self, shared: &Shared) -> Result<(), RpcError> {
        if let Some(id) = self.project_id.as_ref().filter(|id| !shared.catalogue.snapshot().projects.contains_key(*id))
        {
            return Err(RpcError::not_found("project", id));
        }
        let Some(thread_id) = &self.thread_id else {
            return match &self.branch_id {
                Some(_) => Err(RpcError::invalid_params(
                    "/branchId",
                    "no_thread",
                    "A branch is looked through as one of its thread. Name that as threadId.",
                )),
                None => Ok(()),
            };
        };
        lookup::known_thread(shared, thread_id)?;
        let row: Option<ThreadRow> =
            rows::get(&*shared.store, &keys::thread(thread_id)).map_err(|error| storage_error(&error))?;
        let lives_in = row.map(|row| row.thread.project_id);
        if let Some((named, lives_in)) = self.project_id.as_ref().zip(lives_in).filter(|(named, home)| *named != home) {
            let message = format!("Thread {thread_id} is not in project {named}; it lives in project {lives_in}.");
            return Err(RpcError::invalid_params("/threadId", "other_project", message));
        }
        let Some(branch_id) = &self.branch_id else { return Ok(()) };
        let branch =
            shared.store.get(&keys::part("branch", thread_id, branch_id)).map_err(|error| storage_error(&error))?;
        branch.map(drop).ok_or_else(|| RpcError::not_found("branch", branch_id))
    }
}

impl Engine {
    /// A page of a search, from a place on.
    ///
    /// # Errors
    /// As [`Scope::check`], and `unavailable`, when a log cannot be read. What is damaged of a log is passed over.
    async fn look(&self, query: Query, scope: Scope, after: Option<Place>, bounds: Bounds) -> Result<Found, RpcError> {
        scope.check(&self.shared)?;
        let over = CancellationToken::new();
        // Whoever waited for the answer may be gone before it comes.
        let _unheard = over.clone().drop_guard();
        let _turn = self.searches.acquire().await;
        let archive = LogArchive::new(Arc::clone(&self.shared), scope);
        let is_over = over.clone();
        let mut search =
            tokio::task::spawn_blocking(move || scan(&archive, &query, after, bounds, &|| is_over.is_cancelled()));
        let searched = tokio::select! {
            biased;
            searched = &mut search => searched,
            () = self.shared.clock.sleep(PAGE_TIME) => {
                over.cancel();
                search.await
            }
        };
        searched.unwrap_or_else(|_| {
            let detail = ErrorDetail::Internal { reference: "search".to_owned() };
            Err(RpcError::new(detail, "The search broke down. The daemon's log says why."))
        })
    }
}
