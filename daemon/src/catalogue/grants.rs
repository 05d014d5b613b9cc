//! Grants: the directories a project's file tools may use.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use ropewalk_protocol::{Capability, Grant, GrantAddParams, GrantChanged, GrantRemoveParams, Removed};

use super::{
    Caller, Catalogue, Refusal, Snapshot, directory,
    document::{Document, DocumentChange, Noun},
    projects::{existing, touched},
    refusal::expect_revision,
    rules,
    writer::{Decision, Moment},
};

impl Catalogue {
    /// Grants a project a directory. A project has one grant for each directory: a second one replaces the first under
    /// its id.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn add_grant(self: &Arc<Self>, caller: Caller, params: GrantAddParams) -> Result<GrantChanged, Refusal> {
        let capabilities = distinct(&params.capabilities)?;
        if let Some(name) = &params.name {
            rules::name("/name", name)?;
        }
        existing(&self.snapshot(), &params.project_id)?;
        let path = directory::canonical(&params.path).await?;
        let warning = directory::warning_about(Path::new(&path), self.home.get().map(PathBuf::as_path));
        self.change(caller, move |snapshot, moment| {
            let grant = granted(snapshot, moment, params, path, capabilities)?;
            let project = existing(snapshot, &grant.project_id)?;
            let changes = vec![DocumentChange::Put(Document::Grant(grant.clone())), touched(project, moment)];
            Ok(Decision::new(changes, move |_| GrantChanged { grant, warning, replayed: false }))
        })
        .await
    }

    /// Takes a grant back.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn remove_grant(self: &Arc<Self>, caller: Caller, params: GrantRemoveParams) -> Result<Removed, Refusal> {
        self.change(caller, move |snapshot, moment| remove(snapshot, moment, &params)).await
    }
}

fn granted(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    params: GrantAddParams,
    path: String,
    capabilities: Vec<Capability>,
) -> Result<Grant, Refusal> {
    let project = existing(snapshot, &params.project_id)?;
    expect_revision("project", params.expected_revision, project.revision, project)?;
    let before = snapshot.grants_after(&params.project_id, None).find(|grant| grant.path == path);
    Ok(Grant {
        grant_id: before.map_or_else(|| moment.id(), |grant| grant.grant_id.clone()),
        project_id: params.project_id,
        name: params.name.unwrap_or_else(|| directory::name_of(&path)),
        path,
        capabilities,
        created_at: before.map_or(moment.now, |grant| grant.created_at),
    })
}

fn remove(snapshot: &Snapshot, moment: &Moment<'_>, params: &GrantRemoveParams) -> Result<Decision<Removed>, Refusal> {
    let project = existing(snapshot, &params.project_id)?;
    let grant = snapshot
        .grants
        .get(&params.grant_id)
        .filter(|grant| grant.project_id == params.project_id)
        .ok_or_else(|| Refusal::not_found("grant", &params.grant_id))?;
    expect_revision("project", params.expected_revision, project.revision, project)?;
    let effect = format!("Takes the grant on {} back from {}.", grant.path, project.name);
    let changes = vec![DocumentChange::Remove(Noun::Grant, grant.grant_id.to_string()), touched(project, moment)];
    Ok(Decision::new(changes, move |_| Removed { applied: true, dry_run: false, effect, replayed: false }))
}

/// The capabilities, each once, in the order of the wire's list.
pub(super) fn distinct(capabilities: &[Capability]) -> Result<Vec<Capability>, Refusal> {
    let mut capabilities = capabilities.to_vec();
    capabilities.sort_unstable();
    capabilities.dedup();
    if capabilities.is_empty() {
        let message = "A grant allows something: name at least one of read, write and execute.";
        return Err(Refusal::invalid("/capabilities", "empty", message));
    }
    Ok(capabilities)
}
