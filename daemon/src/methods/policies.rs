//! `policy/…`: what tools may do.

use ropewalk_protocol::{
    Page, Policy, PolicyChanged, PolicyListParams, PolicyOrigin, PolicyRemoveParams, PolicySetParams, Removed, RpcError,
};

use super::{caller::caller, check};
use crate::{catalogue::is_listed, dispatch::Call, page::PageQuery};

/// `policy/set`
///
/// # Errors
/// `invalidParams` (a source that there is not, as well), `notFound` (project, thread), `conflict`, `unavailable`.
pub async fn set(call: Call, params: PolicySetParams) -> Result<PolicyChanged, RpcError> {
    check::source(&call.daemon, &params)?;
    let changed = call.daemon.catalogue.set_policy(caller(&call), PolicyOrigin::Owner, params).await?;
    call.daemon.engine.rule_changed(&changed.policy, Some(call.client.client_ref().client_name)).await;
    Ok(changed)
}

/// `policy/remove`
///
/// # Errors
/// `notFound`, `conflict`, `unavailable`.
pub async fn remove(call: Call, params: PolicyRemoveParams) -> Result<Removed, RpcError> {
    let before = call.daemon.catalogue.snapshot().policies.get(&params.policy_id).cloned();
    let removed = call.daemon.catalogue.remove_policy(caller(&call), params).await?;
    if let Some(policy) = before {
        call.daemon.engine.rule_changed(&policy, Some(call.client.client_ref().client_name)).await;
    }
    Ok(removed)
}

/// `policy/list`
///
/// # Errors
/// `notFound` (thread, project), `invalidParams`.
pub async fn list(call: Call, params: PolicyListParams) -> Result<Page<Policy>, RpcError> {
    check::listed_of(&call.daemon, params.thread_id.as_ref(), params.project_id.as_ref())?;
    let query = PageQuery::new(&["policy/list"], params.cursor.as_deref(), params.limit)?;
    let catalogue = &call.daemon.catalogue;
    let snapshot = catalogue.snapshot();
    let now = call.daemon.clock.now();
    let policies = snapshot.policies_after(query.after()).filter(|policy| is_listed(policy, &params, now));
    Ok(query.fill(policies.map(|policy| catalogue.show_policy(policy)), |policy| policy.policy_id.to_string()))
}
