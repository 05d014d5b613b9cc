//! `project/…`: what threads live in.

use ropewalk_protocol::{
    ListParams, Page, Project, ProjectChanged, ProjectCreateParams, ProjectDeleteParams, ProjectEnsureParams,
    ProjectEnsured, ProjectParams, ProjectResult, ProjectUpdateParams, Removed, RpcError, SecurityReplaceParams,
    SecurityReplaced,
};

use super::caller::{caller, deletion};
use crate::{dispatch::Call, page::PageQuery};

/// `project/create`
///
/// # Errors
/// `invalidParams`, `notFound` (endpoint, server), `unavailable`.
pub async fn create(call: Call, params: ProjectCreateParams) -> Result<ProjectChanged, RpcError> {
    Ok(call.daemon.catalogue.create_project(caller(&call), params).await?)
}

/// `project/read`
///
/// # Errors
/// `notFound`.
pub async fn read(call: Call, params: ProjectParams) -> Result<ProjectResult, RpcError> {
    Ok(ProjectResult { project: call.daemon.catalogue.read_project(&params.project_id)? })
}

/// `project/list`
///
/// # Errors
/// `invalidParams`.
pub async fn list(call: Call, params: ListParams) -> Result<Page<Project>, RpcError> {
    let query = PageQuery::new(&["project/list"], params.cursor.as_deref(), params.limit)?;
    let snapshot = call.daemon.catalogue.snapshot();
    let projects = snapshot.projects_after(query.after()).map(|project| (**project).clone());
    Ok(query.fill(projects, |project| project.project_id.to_string()))
}

/// `project/update`
///
/// # Errors
/// `invalidParams`, `notFound` (project, endpoint, server), `conflict`, `unavailable`.
pub async fn update(call: Call, params: ProjectUpdateParams) -> Result<ProjectChanged, RpcError> {
    let switches_servers = params.servers.is_some();
    let changed = call.daemon.catalogue.update_project(caller(&call), params).await?;
    if switches_servers {
        call.daemon.engine.servers_changed().await;
    }
    Ok(changed)
}

/// `project/security/replace`
///
/// # Errors
/// `invalidParams` (a path that is no directory, a source that there is not, a member that is there twice), `notFound`
/// (project), `conflict`, `unavailable`.
pub async fn replace_security(call: Call, params: SecurityReplaceParams) -> Result<SecurityReplaced, RpcError> {
    let id = params.project_id.clone();
    let before = call.daemon.catalogue.read_project(&id)?.policies.unwrap_or_default();
    let replaced = call.daemon.catalogue.replace_security(caller(&call), params).await?;
    if replaced.applied {
        let after = replaced.project.policies.as_deref().unwrap_or_default();
        let gone = before.iter().filter(|policy| !after.contains(policy));
        let new = after.iter().filter(|policy| !before.contains(policy));
        for policy in gone.chain(new) {
            call.daemon.engine.rule_changed(policy, Some(call.client.client_ref().client_name)).await;
        }
    }
    Ok(replaced)
}

/// `project/delete`
///
/// # Errors
/// `notFound`, `invalidParams` (the default project), `conflict`, `unavailable`.
pub async fn delete(call: Call, params: ProjectDeleteParams) -> Result<Removed, RpcError> {
    let deletion = deletion(&call, params.dry_run, params.expected_revision);
    call.daemon.engine.delete_project(&params.project_id, deletion).await
}

/// `project/ensure`
///
/// # Errors
/// `invalidParams` (a path that is no directory), `unavailable`.
pub async fn ensure(call: Call, params: ProjectEnsureParams) -> Result<ProjectEnsured, RpcError> {
    Ok(call.daemon.catalogue.ensure_project(caller(&call), params).await?)
}
