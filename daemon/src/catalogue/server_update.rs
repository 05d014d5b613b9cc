//! What a change makes of a server.

use std::collections::BTreeMap;

use ropewalk_protocol::ServerUpdateParams;

use super::{Refusal, ServerRecord, servers::builtin};

/// Whether an environment is the one that is kept already. Where that cannot be told it counts as another.
pub(super) fn is_kept(env: &BTreeMap<String, String>, kept: Option<&Option<String>>) -> bool {
    match kept {
        None => false,
        Some(None) => env.is_empty(),
        Some(Some(text)) => serde_json::from_str::<BTreeMap<_, _>>(text).is_ok_and(|kept| kept == *env),
    }
}

/// A server after a change. One that is started with other arguments or another environment is another program as far as
/// anybody can tell: what was decided about the former is not decided about it, so it goes back to review.
pub(super) fn updated(
    before: &ServerRecord,
    params: ServerUpdateParams,
    has_new_env: bool,
) -> Result<ServerRecord, Refusal> {
    let of_daemon = before.is_builtin();
    let changes_more = params.name.is_some()
        || params.trusted.is_some()
        || params.private_network.is_some()
        || params.args.is_some()
        || params.env.is_some();
    if of_daemon && changes_more {
        return Err(builtin(before));
    }
    if params.private_network == Some(true) {
        let message = "A program has no address, so no network either. Leave privateNetwork out.";
        return Err(Refusal::invalid("/privateNetwork", "transport_not_supported", message));
    }
    let mut record = before.clone();
    if let Some(name) = params.name {
        record.name = name;
        record.name_was_given = true;
    }
    record.enabled = params.enabled.unwrap_or(record.enabled);
    record.args = params.args.unwrap_or(record.args);
    record.env_names = params.env.map_or(record.env_names, |env| env.into_keys().collect());
    if has_new_env || record.args != before.args {
        record.approved.clear();
        record.cleared.clear();
        (record.reviewed, record.trusted) = (false, false);
    }
    record.trusted = params.trusted.unwrap_or(record.trusted);
    if has_new_env || record != *before {
        record.revision += 1;
    }
    Ok(record)
}
