//! `daemon/backup` and `daemon/check`: keeping what is stored, and looking whether it is whole.

use std::path::Path;

use ropewalk_protocol::{BackupParams, BackupResult, CheckResult, Empty, RpcError};

use crate::{dispatch::Call, engine::storage_error};

/// `daemon/backup`
///
/// # Errors
/// `invalidParams` for a path that cannot be used, `overloaded` beside another one, `unavailable`.
pub async fn backup(call: Call, params: BackupParams) -> Result<BackupResult, RpcError> {
    let daemon = &call.daemon;
    let size = daemon.store.backup(Path::new(&params.path), daemon.clock.now()).await;
    let size = size.map_err(|error| storage_error(&error))?;
    Ok(BackupResult { lines: size.lines, bytes: size.bytes, damaged: size.damaged })
}

/// `daemon/check`
///
/// # Errors
/// `overloaded` beside another one, `unavailable`.
pub async fn check(call: Call, _: Empty) -> Result<CheckResult, RpcError> {
    call.daemon.store.check().await.map_err(|error| storage_error(&error))
}
