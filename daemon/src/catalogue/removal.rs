//! Deleting projects and threads: the one record that decides it, and the note that nothing of them is left.

use std::{collections::HashSet, sync::Arc};

use ropewalk_protocol::{Project, ProjectId, Removed, Revision, ThreadId};

use super::{
    Caller, Catalogue, Refusal, Snapshot,
    document::{DocumentChange, Noun},
    facts::{OtherFact, Outlived},
    memory,
    projects::existing,
    refusal::expect_revision,
    writer::Decision,
};
use crate::store::RowChange;

/// Threads that are to be deleted, alone or with their project.
#[derive(Clone, Debug, Default)]
pub struct Burial {
    /// Which. None of them changes any more until this is decided.
    pub threads: Vec<ThreadId>,
    /// The changes that take their rows away.
    pub rows: Vec<RowChange>,
    /// What began them, where that was an operation.
    pub outlived: Vec<Outlived>,
    /// Their project, and the revision that its deletion is based on.
    pub project: Option<(ProjectId, Option<Revision>)>,
    /// What goes with them, as a sentence.
    pub effect: String,
}

/// A project that could be deleted, and what of the catalogue would go with it.
#[derive(Clone, Debug)]
pub struct DoomedProject {
    /// The project.
    pub project: Arc<Project>,
    /// How many grants it has.
    pub grants: usize,
    /// How many rules of its own it has.
    pub policies: usize,
    /// How many memory entries it has.
    pub memory: usize,
}

impl Catalogue {
    /// Deletes threads, and a project if one is named: their tombstones, the project, its grants, its rules, its memory, its
    /// instructions and the rules of the threads are one record, and that decides.
    ///
    /// # Errors
    /// As [`Refusal`] says; the default project cannot be deleted.
    pub async fn bury(self: &Arc<Self>, caller: Caller, burial: Burial) -> Result<Removed, Refusal> {
        self.change(caller, move |snapshot, _| {
            let Burial { threads, rows, outlived, project, effect } = burial;
            let going: HashSet<&ThreadId> = threads.iter().collect();
            let mut changes =
                rules_of(snapshot, |policy| policy.thread_id.as_ref().is_some_and(|thread| going.contains(thread)));
            if let Some((id, expected)) = &project {
                doomed(snapshot, id, *expected)?;
                changes.extend(rules_of(snapshot, |policy| policy.project_id.as_ref() == Some(id)));
                let grants = snapshot.grants_after(id, None);
                changes.extend(grants.map(|grant| DocumentChange::Remove(Noun::Grant, grant.grant_id.to_string())));
                let memory = memory::of_project(snapshot, id);
                changes.extend(memory.map(|entry| DocumentChange::Remove(Noun::Memory, entry.entry_id.to_string())));
                if snapshot.instructions.contains_key(id) {
                    changes.push(DocumentChange::Remove(Noun::Instructions, id.to_string()));
                }
                changes.push(DocumentChange::Remove(Noun::Project, id.to_string()));
            }
            let tombstones = threads.into_iter().map(|thread_id| OtherFact::Tombstone { thread_id });
            let tombstones = tombstones.chain(outlived.into_iter().map(OtherFact::Outlived)).collect();
            let removed = Removed { applied: true, dry_run: false, effect, replayed: false };
            Ok(Decision::new(changes, move |_| removed).with(tombstones, rows))
        })
        .await
    }

    /// Notes that nothing is left of deleted threads.
    ///
    /// # Errors
    /// When that could not be stored; it may be said again.
    pub async fn note_gone(self: &Arc<Self>, threads: Vec<ThreadId>) -> Result<(), Refusal> {
        self.change(Caller::default(), |_, _| {
            let gone = threads.into_iter().map(|thread_id| OtherFact::Gone { thread_id }).collect();
            Ok(Decision::nothing(()).with(gone, Vec::new()))
        })
        .await
    }

    /// What of the catalogue would go with a project.
    ///
    /// # Errors
    /// `notFound`, `conflict`, and `invalidParams` for the default project.
    pub fn doomed_project(&self, id: &ProjectId, expected: Option<Revision>) -> Result<DoomedProject, Refusal> {
        let snapshot = self.snapshot();
        Ok(DoomedProject {
            project: Arc::clone(doomed(&snapshot, id, expected)?),
            grants: snapshot.grants_after(id, None).count(),
            policies: snapshot.policies.values().filter(|policy| policy.project_id.as_ref() == Some(id)).count(),
            memory: memory::of_project(&snapshot, id).count(),
        })
    }
}

fn doomed<'a>(snapshot: &'a Snapshot, id: &ProjectId, expected: Option<Revision>) -> Result<&'a Arc<Project>, Refusal> {
    let project = existing(snapshot, id)?;
    if project.is_default {
        let message = "The default project cannot be deleted: threads that name no project live in it. Delete its threads \
                       instead.";
        return Err(Refusal::invalid("/projectId", "is_default", message));
    }
    expect_revision("project", expected, project.revision, project)?;
    Ok(project)
}

fn rules_of(snapshot: &Snapshot, is_meant: impl Fn(&ropewalk_protocol::Policy) -> bool) -> Vec<DocumentChange> {
    let meant = snapshot.policies.values().filter(|policy| is_meant(policy));
    meant.map(|policy| DocumentChange::Remove(Noun::Policy, policy.policy_id.to_string())).collect()
}
