//! Deleting threads and projects: one record of the daemon's log decides, and what follows is done again until it is done.
//!
//! A thread that is to go is sealed first, so that nobody changes it while that is being decided. Then its tombstone is
//! committed, which takes its rows away. Then its owner ends, its log is removed, and a last record says that it is gone.

use std::{future::Future, sync::Arc};

use ropewalk_protocol::{ClientRef, DataKind, ErrorDetail, ProjectId, Removed, Revision, RpcError, ThreadId};

use super::{
    Engine, history, lookup,
    operations::{Sealed, counted},
    removal::{rows_of_thread, what_began},
    storage_error,
};
use crate::{
    catalogue::{Burial, Caller, DoomedProject, Operation},
    store::{LogName, keys},
};

/// A deletion that was asked for.
#[derive(Clone, Debug)]
pub struct Deletion {
    /// Whether it is only rehearsed.
    pub dry_run: bool,
    /// The revision that it is based on.
    pub expected_revision: Option<Revision>,
    /// Who asks.
    pub by: ClientRef,
    /// The operation; a rehearsal does not use it up.
    pub operation: Option<Operation>,
}

impl Engine {
    /// Deletes a thread. When it resolves with `Ok`, the thread is gone for everybody, whatever happens then.
    ///
    /// # Errors
    /// `notFound`, `conflict`, `unavailable`; the thread is still there then, with its runs stopped at most.
    pub async fn delete_thread(self: &Arc<Self>, id: &ThreadId, deletion: Deletion) -> Result<Removed, RpcError> {
        let thread = match self.thread(id) {
            Err(error) if history::is_damage(&error) => return self.delete_unreadable(id, deletion).await,
            thread => thread?,
        };
        if deletion.dry_run {
            return Ok(rehearsed(thread.rehearse_deletion(deletion.expected_revision).await?));
        }
        let this = self.clone();
        seen_through(async move {
            let sealed = thread.seal(deletion.expected_revision, deletion.by.clone()).await?;
            let effect = sealed.effect.clone();
            this.bury(vec![thread.id().clone()], vec![sealed], None, effect, &deletion).await
        })
        .await
    }

    /// Deletes a thread of whose log nothing can be read: there is nothing to seal, and nobody has ever had it awake.
    async fn delete_unreadable(self: &Arc<Self>, id: &ThreadId, deletion: Deletion) -> Result<Removed, RpcError> {
        let effect = format!("Deletes the thread {id} for good, of which nothing can be read.");
        if deletion.dry_run {
            return Ok(rehearsed(effect));
        }
        let (this, threads) = (self.clone(), vec![id.clone()]);
        seen_through(async move { this.bury(threads, Vec::new(), None, effect, &deletion).await }).await
    }

    /// Deletes a project with its threads, its grants and its rules. No thread begins in it meanwhile.
    ///
    /// # Errors
    /// `notFound`, `conflict`, `invalidParams` for the default project, `unavailable`; nothing is deleted then.
    pub async fn delete_project(self: &Arc<Self>, id: &ProjectId, deletion: Deletion) -> Result<Removed, RpcError> {
        let doomed = self.shared.catalogue.doomed_project(id, deletion.expected_revision)?;
        if deletion.dry_run {
            let threads = lookup::threads_of_project(&self.shared, id)?;
            return Ok(rehearsed(effect_of(&doomed, threads.len())));
        }
        let (this, id) = (self.clone(), id.clone());
        seen_through(async move {
            let _nobody_begins = this.beginnings.write().await;
            let (mut threads, mut sealed) = (Vec::new(), Vec::new());
            for thread_id in lookup::threads_of_project(&this.shared, &id)? {
                match this.seal_if_there(&thread_id, &deletion.by).await {
                    Ok(Some(thread)) => sealed.push(thread),
                    Ok(None) => continue,
                    // Of whose log nothing can be read, nothing is awake.
                    Err(error) if history::is_damage(&error) => {}
                    Err(error) => return Err(error),
                }
                threads.push(thread_id);
            }
            let effect = effect_of(&doomed, threads.len());
            this.bury(threads, sealed, Some((id, deletion.expected_revision)), effect, &deletion).await
        })
        .await
    }

    /// Removes what is left of threads whose tombstone stands, and notes that it is gone. What cannot be removed now is
    /// tried again the next time. Returns how many are gone.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub async fn clear_tombstones(&self) -> Result<usize, RpcError> {
        let standing = lookup::scan(&self.shared, keys::tombstones())?;
        let standing = standing.iter().filter_map(|(key, _)| key.last_part().map(ThreadId::from)).collect();
        Ok(self.clear_away(standing).await)
    }

    async fn seal_if_there(self: &Arc<Self>, id: &ThreadId, by: &ClientRef) -> Result<Option<Sealed>, RpcError> {
        let thread = match self.thread(id) {
            Ok(thread) => thread,
            Err(error) if is_not_found(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        match thread.seal(None, by.clone()).await {
            Ok(sealed) => Ok(Some(sealed)),
            // Another client was first, and has deleted it.
            Err(error) if is_not_found(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes down that threads are deleted and removes what is left of them. Those that are awake are sealed.
    async fn bury(
        &self,
        threads: Vec<ThreadId>,
        sealed: Vec<Sealed>,
        project: Option<(ProjectId, Option<Revision>)>,
        effect: String,
        deletion: &Deletion,
    ) -> Result<Removed, RpcError> {
        let known = threads.iter().filter(|id| lookup::thread_exists(&self.shared, id)).count();
        let (mut rows, mut outlived) = (Vec::new(), Vec::new());
        for id in &threads {
            rows.extend(rows_of_thread(&*self.shared.store, id).map_err(|error| storage_error(&error))?);
            outlived.extend(what_began(&*self.shared.store, id).map_err(|error| storage_error(&error))?);
        }
        let caller = Caller { client: Some(deletion.by.clone()), operation: deletion.operation.clone() };
        let burial = Burial { threads: threads.clone(), rows, outlived, project, effect };
        let removed = self.shared.catalogue.bury(caller, burial).await?;
        self.have_ended(known);
        for sealed in sealed {
            sealed.goes();
        }
        for id in &threads {
            (self.shared.changes)(DataKind::Thread, id, Some(&deletion.by.instance_id));
        }
        self.shared.quieter.notify_waiters();
        self.clear_away(threads).await;
        Ok(removed)
    }

    /// Removes the logs of threads whose tombstones are durable, and notes which are gone.
    async fn clear_away(&self, threads: Vec<ThreadId>) -> usize {
        let mut gone = Vec::with_capacity(threads.len());
        for id in threads {
            match self.shared.store.remove(&LogName::Thread(id.clone())).await {
                Ok(()) => gone.push(id),
                Err(error) => tracing::warn!(thread = %id, %error, "a deleted thread's log is still there"),
            }
        }
        let count = gone.len();
        if count > 0
            && let Err(error) = self.shared.catalogue.note_gone(gone.clone()).await
        {
            tracing::warn!(%error, "that deleted threads are gone could not be noted; the next start does it");
        }
        for id in gone {
            // What two threads need stays; the rest of their payloads goes with them.
            if let Err(error) = self.shared.store.release_blobs(&LogName::Thread(id.clone())).await {
                tracing::warn!(thread = %id, %error, "payloads of a deleted thread are still there; the next start removes them");
            }
        }
        count
    }
}

/// Does something to its end, even when nobody waits for it any more.
async fn seen_through<T: Send + 'static>(
    work: impl Future<Output = Result<T, RpcError>> + Send + 'static,
) -> Result<T, RpcError> {
    match tokio::spawn(work).await {
        Ok(outcome) => outcome,
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(RpcError::new(ErrorDetail::ShuttingDown { grace_ms: 0 }, "The daemon is ending.")),
        },
    }
}

fn is_not_found(error: &RpcError) -> bool {
    matches!(error.data.detail, ErrorDetail::NotFound { .. })
}

fn rehearsed(effect: String) -> Removed {
    Removed { applied: false, dry_run: true, effect, replayed: false }
}

fn effect_of(doomed: &DoomedProject, threads: usize) -> String {
    let memory = match doomed.memory {
        0 => String::new(),
        entries => format!("{}, ", counted(entries, "memory entry", "memory entries")),
    };
    format!(
        "Deletes the project {} for good, with {memory}{}, {} and {}. Files in its directories stay.",
        doomed.project.name,
        counted(threads, "thread", "threads"),
        counted(doomed.grants, "grant", "grants"),
        counted(doomed.policies, "rule", "rules"),
    )
}
