//! `ropewalk backup` and `ropewalk restore`: everything but the keys in one file, and a home made of it.

use std::path::{Path, PathBuf};

use clap::Args;
use ropewalk_protocol::{BackupParams, DaemonBackup, ErrorDetail};
use serde_json::json;

use super::{
    failure::{Exit, Failure},
    session::Context,
    text::bytes,
};
use crate::start;

/// Write everything but the keys into one file
///
/// Work goes on meanwhile: the file has everything that was acknowledged at one moment. It gets its name when it is
/// whole and synced, so that it is whole or not there, and it can be read by you alone.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  ropewalk backup ~/ropewalk-backup.jsonl")]
pub(crate) struct BackupArgs {
    /// Where it goes; nothing is written over
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Make a home of a backup
///
/// Needs no daemon, and refuses a home that has one or is not empty, and a file that is not a whole backup. Keys are in no
/// backup: set them anew afterwards.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  ropewalk restore ~/ropewalk-backup.jsonl --home ~/restored")]
pub(crate) struct RestoreArgs {
    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs `backup`.
pub(crate) async fn backup(args: BackupArgs, context: &Context) -> Result<Exit, Failure> {
    let path = absolute(&args.file);
    let Some(text) = path.to_str() else {
        return Err(Failure::Usage(format!("{} is no path of Unicode, and a request is.", path.display())));
    };
    let client = context.client().await?;
    let params = BackupParams { path: text.to_owned() };
    context
        .show::<DaemonBackup>(&client, params, |result| {
            let size = bytes(result.bytes);
            let mut words = format!("{} has everything but the keys: {} lines, {size}.", path.display(), result.lines);
            for log in &result.damaged {
                words.push_str(&format!(
                    "\nDamaged, and in it as it is: the log {log}. `doctor --check` names the place."
                ));
            }
            words
        })
        .await
}

/// Runs `restore`.
pub(crate) async fn restore(args: RestoreArgs, context: &Context) -> Result<Exit, Failure> {
    let home = context.home()?;
    let restored = start::restore(&home, &absolute(&args.file)).await.map_err(|error| match &error.data.detail {
        // The sentence is for a person here: there is no request whose parameters could be meant.
        ErrorDetail::InvalidParams { .. } => Failure::Failed(error.message),
        _ => Failure::Embed(error),
    })?;
    let (logs, blobs, missing) = (restored.logs, restored.blobs, &restored.missing);
    let mut words = format!("{} has {logs} logs and {blobs} payloads again.", home.directory.display());
    for log in missing {
        words.push_str(&format!("\nNot there: {log}, which was missing when the backup was made."));
    }
    let program = context.environment.program();
    words.push_str(&format!("\nKeys are in no backup: `{program} endpoint key NAME` sets each anew."));
    context.result(&json!({ "logs": logs, "blobs": blobs, "missing": missing }), &words);
    Ok(Exit::DONE)
}

/// A path that means the same to a daemon in another directory.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
