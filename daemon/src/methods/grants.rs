//! `grant/…`: the directories of a project.

use ropewalk_protocol::{
    Grant, GrantAddParams, GrantChanged, GrantListParams, GrantRemoveParams, Page, Removed, RpcError,
};

use super::{caller::caller, check};
use crate::{dispatch::Call, page::PageQuery};

/// `grant/add`
///
/// # Errors
/// `invalidParams` (a path that is no directory, no capability), `notFound` (project), `conflict`, `unavailable`.
pub async fn add(call: Call, params: GrantAddParams) -> Result<GrantChanged, RpcError> {
    Ok(call.daemon.catalogue.add_grant(caller(&call), params).await?)
}

/// `grant/remove`
///
/// # Errors
/// `notFound` (project, grant), `conflict`, `unavailable`.
pub async fn remove(call: Call, params: GrantRemoveParams) -> Result<Removed, RpcError> {
    Ok(call.daemon.catalogue.remove_grant(caller(&call), params).await?)
}

/// `grant/list`
///
/// # Errors
/// `invalidParams`, `notFound` (project).
pub async fn list(call: Call, params: GrantListParams) -> Result<Page<Grant>, RpcError> {
    check::listed_of(&call.daemon, None, Some(&params.project_id))?;
    let snapshot = call.daemon.catalogue.snapshot();
    let query = PageQuery::new(&["grant/list ", &params.project_id], params.cursor.as_deref(), params.limit)?;
    let grants = snapshot.grants_after(&params.project_id, query.after()).map(|grant| (**grant).clone());
    Ok(query.fill(grants, |grant| grant.grant_id.to_string()))
}
