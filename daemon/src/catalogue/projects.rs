//! Projects: made, changed, and found by the directory they work on.

use std::sync::Arc;

use ropewalk_protocol::{
    Capability, EndpointId, Grant, Policy, Project, ProjectChanged, ProjectCreateParams, ProjectEnsureParams,
    ProjectEnsured, ProjectId, ProjectUpdateParams,
};

use super::{
    Caller, Catalogue, Refusal, Snapshot, bindings, directory,
    document::{Document, DocumentChange},
    instructions,
    policies::has_expired,
    refusal::expect_revision,
    rules,
    writer::{Decision, Moment},
};

/// Longest description, in characters.
const DESCRIPTION_CHARACTERS: usize = 2_048;

impl Catalogue {
    /// Makes a project.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn create_project(
        self: &Arc<Self>,
        caller: Caller,
        params: ProjectCreateParams,
    ) -> Result<ProjectChanged, Refusal> {
        self.change(caller, move |snapshot, moment| create(snapshot, moment, params)).await
    }

    /// Changes what is named of a project.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn update_project(
        self: &Arc<Self>,
        caller: Caller,
        params: ProjectUpdateParams,
    ) -> Result<ProjectChanged, Refusal> {
        self.change(caller, move |snapshot, moment| update(snapshot, moment, params)).await
    }

    /// The project of a directory: the oldest one that has a grant on exactly this directory, else a new one with a
    /// read and write grant on it. Two that ask at once get the same one.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn ensure_project(
        self: &Arc<Self>,
        caller: Caller,
        params: ProjectEnsureParams,
    ) -> Result<ProjectEnsured, Refusal> {
        let path = directory::canonical(&params.path).await?;
        self.change(caller, move |snapshot, moment| ensure(snapshot, moment, &path, params.name)).await
    }

    /// A project with its grants and its own rules, as `project/read` shows it.
    ///
    /// # Errors
    /// When there is no such project.
    pub fn read_project(&self, id: &ProjectId) -> Result<Project, Refusal> {
        let snapshot = self.snapshot();
        let project = existing(&snapshot, id)?;
        let now = self.clock.now();
        let is_shown = |policy: &&Arc<Policy>| policy.project_id.as_ref() == Some(id) && !has_expired(policy, now);
        let policies = snapshot.policies.values().filter(is_shown);
        Ok(Project {
            grants: Some(snapshot.grants_after(id, None).map(|grant| (**grant).clone()).collect()),
            policies: Some(policies.map(|policy| self.show_policy(policy)).collect()),
            ..(**project).clone()
        })
    }

    pub(super) async fn make_default_project(self: &Arc<Self>) -> Result<(), Refusal> {
        self.change(Caller::default(), |_, moment| {
            let project = Project { is_default: true, ..blank(moment, "Default".to_owned()) };
            Ok(Decision::new(vec![DocumentChange::Put(Document::Project(project))], |_| ()))
        })
        .await
    }
}

/// The project with an id.
pub(super) fn existing<'a>(snapshot: &'a Snapshot, id: &ProjectId) -> Result<&'a Arc<Project>, Refusal> {
    snapshot.projects.get(id).ok_or_else(|| Refusal::not_found("project", id))
}

/// The project after a change of it, or of something that belongs to it.
pub(super) fn touched(project: &Project, moment: &Moment<'_>) -> DocumentChange {
    let project = Project { revision: project.revision + 1, updated_at: moment.now, ..project.clone() };
    DocumentChange::Put(Document::Project(project))
}

fn create(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    params: ProjectCreateParams,
) -> Result<Decision<ProjectChanged>, Refusal> {
    let project = Project {
        description: params.description,
        instructions: params.instructions,
        default_endpoint_id: params.default_endpoint_id,
        servers: bindings::merged(snapshot, &[], params.servers.as_deref())?,
        ..blank(moment, params.name)
    };
    check(snapshot, &project)?;
    Ok(changed(vec![DocumentChange::Put(Document::Project(project.clone()))], project.project_id))
}

fn update(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    params: ProjectUpdateParams,
) -> Result<Decision<ProjectChanged>, Refusal> {
    let before = existing(snapshot, &params.project_id)?;
    expect_revision("project", params.expected_revision, before.revision, before)?;
    let mut project = (**before).clone();
    if let Some(name) = params.name {
        project.name = name;
    }
    params.description.apply(&mut project.description);
    params.instructions.apply(&mut project.instructions);
    params.default_endpoint_id.apply(&mut project.default_endpoint_id);
    project.servers = bindings::merged(snapshot, &before.servers, params.servers.as_deref())?;
    if project == **before {
        return Ok(Decision::nothing(ProjectChanged { project, replayed: false }));
    }
    // An endpoint removed since it was named must not keep the rest from being changed.
    let named_anew = project.default_endpoint_id != before.default_endpoint_id;
    check_texts(&project)?;
    check_endpoint(snapshot, project.default_endpoint_id.as_ref().filter(|_| named_anew))?;
    let mut changes = vec![touched(&project, moment)];
    changes.extend(instructions::following(snapshot, before, &project));
    Ok(changed(changes, project.project_id))
}

fn ensure(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    path: &str,
    name: Option<String>,
) -> Result<Decision<ProjectEnsured>, Refusal> {
    let of_directory =
        |project: &&Arc<Project>| snapshot.grants_after(&project.project_id, None).any(|grant| grant.path == path);
    if let Some(project) = snapshot.projects.values().find(of_directory) {
        let project = (**project).clone();
        return Ok(Decision::nothing(ProjectEnsured { project, created: false, replayed: false }));
    }
    let project = blank(moment, name.unwrap_or_else(|| directory::name_of(path)));
    check(snapshot, &project)?;
    let grant = Grant {
        grant_id: moment.id(),
        project_id: project.project_id.clone(),
        name: directory::name_of(path),
        path: path.to_owned(),
        capabilities: vec![Capability::Read, Capability::Write],
        created_at: moment.now,
    };
    let answer = ProjectEnsured { project: project.clone(), created: true, replayed: false };
    let documents = [Document::Project(project), Document::Grant(grant)];
    Ok(Decision::new(documents.map(DocumentChange::Put).into(), move |_| answer))
}

fn changed(changes: Vec<DocumentChange>, id: ProjectId) -> Decision<ProjectChanged> {
    Decision::new(changes, move |after| ProjectChanged { project: (*after.projects[&id]).clone(), replayed: false })
}

fn blank(moment: &Moment<'_>, name: String) -> Project {
    Project {
        project_id: moment.id(),
        name,
        description: None,
        instructions: None,
        default_endpoint_id: None,
        is_default: false,
        servers: Vec::new(),
        created_at: moment.now,
        updated_at: moment.now,
        revision: 1,
        grants: None,
        policies: None,
    }
}

fn check(snapshot: &Snapshot, project: &Project) -> Result<(), Refusal> {
    check_texts(project)?;
    check_endpoint(snapshot, project.default_endpoint_id.as_ref())
}

fn check_texts(project: &Project) -> Result<(), Refusal> {
    rules::name("/name", &project.name)?;
    rules::text("/description", project.description.as_deref().unwrap_or_default(), DESCRIPTION_CHARACTERS)?;
    instructions::check_text("/instructions", project.instructions.as_deref().unwrap_or_default())
}

fn check_endpoint(snapshot: &Snapshot, id: Option<&EndpointId>) -> Result<(), Refusal> {
    match id {
        Some(id) if !snapshot.endpoints.contains_key(id) => Err(Refusal::not_found("endpoint", id)),
        _ => Ok(()),
    }
}
