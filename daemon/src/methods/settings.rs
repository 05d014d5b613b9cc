//! `settings/…`: what holds for the whole daemon.

use ropewalk_protocol::{Empty, RpcError, SettingsChanged, SettingsResult, SettingsUpdateParams};

use super::caller::caller;
use crate::dispatch::Call;

/// `settings/read`
///
/// # Errors
/// None of its own.
pub async fn read(call: Call, _: Empty) -> Result<SettingsResult, RpcError> {
    Ok(SettingsResult { settings: (*call.daemon.catalogue.snapshot().settings).clone() })
}

/// `settings/update`
///
/// # Errors
/// `invalidParams` (out of range), `notFound` (endpoint), `conflict`, `unavailable`.
pub async fn update(call: Call, params: SettingsUpdateParams) -> Result<SettingsChanged, RpcError> {
    Ok(call.daemon.catalogue.update_settings(caller(&call), params).await?)
}
