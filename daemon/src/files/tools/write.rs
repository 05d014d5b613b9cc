//! `write_file`: a file gets this content, whole or not at all.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Write},
};

use cap_std::fs::{Dir, OpenOptions, Permissions};
use ropewalk_protocol::{Capability, FileChange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Changed, Done, Stop};
use crate::files::{
    reach::{Reach, Spot, kind},
    refusal::Refusal,
};

/// What to write.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteFile {
    /// The file, by its absolute path. Directories that are missing are made.
    path: String,
    /// What the file will contain.
    content: String,
    /// What to do when there is a file already.
    #[serde(default)]
    #[schemars(schema_with = "if_exists")]
    if_exists: IfExists,
}

/// What to do when there is a file already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IfExists {
    /// It gets the new content and keeps its mode.
    #[default]
    Replace,
    /// Nothing is written.
    Fail,
}

fn if_exists(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    // Plain strings: models know these better than alternatives that are described one by one.
    schemars::json_schema!({ "type": "string", "enum": ["replace", "fail"] })
}

/// What was written.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileWritten {
    /// The file.
    path: String,
    /// Whether it was made or changed.
    change: FileChange,
    /// Its size now.
    size_bytes: u64,
}

/// Writes the file.
pub fn run(reach: &Reach, args: &WriteFile, stop: &Stop) -> Result<Done, Refusal> {
    let _alone = reach.writing();
    stop.check()?;
    let spot = reach.find(&args.path, &[Capability::Write])?;
    let change = put(&spot, args.content.as_bytes(), args.if_exists)?;
    written(&spot, args.content.len(), change)
}

/// What is told of a file that was written.
pub fn written(spot: &Spot<'_>, bytes: usize, change: FileChange) -> Result<Done, Refusal> {
    let path = spot.path.display().to_string();
    let verb = if change == FileChange::Created { "Created" } else { "Changed" };
    let text = format!("{verb} \"{path}\", {bytes} bytes.");
    let mut done = Done::new(text, &FileWritten { path: path.clone(), change, size_bytes: bytes as u64 })?;
    done.change = Some(Changed { path, change });
    Ok(done)
}

/// Puts content into a file: written beside it under a name of its own, and renamed within the same open directory, so
/// that nobody sees half of it and nothing that happens to the path meanwhile leads elsewhere.
pub fn put(spot: &Spot<'_>, content: &[u8], if_exists: IfExists) -> Result<FileChange, Refusal> {
    let (dir, name) = spot.parent(true)?;
    let failed = |error| Refusal::io(&spot.path, error);
    let permissions = match dir.symlink_metadata(&name) {
        Ok(found) if found.is_file() => Some(found.permissions()),
        Ok(found) => {
            let path = spot.path.display().to_string();
            return Err(Refusal::Kind { path, is: kind(&found), wanted: "a file" });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let exists = permissions.is_some();
    if exists && if_exists == IfExists::Fail {
        return Err(Refusal::asked(format!("\"{}\" exists already, and was not changed", spot.path.display())));
    }
    let beside = OsString::from(format!(".ropewalk-{}.tmp", Uuid::new_v4().simple()));
    let put = fill(&dir, &beside, content, permissions).and_then(|()| settle(&dir, &beside, &name, if_exists));
    if let Err(error) = put {
        // What is left beside the file must not stay; that the file is as it was is what counts.
        let _ = dir.remove_file(&beside);
        return Err(failed(error));
    }
    Ok(if exists { FileChange::Modified } else { FileChange::Created })
}

fn fill(dir: &Dir, beside: &OsStr, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if permissions.is_some() {
        use cap_std::fs::OpenOptionsExt;
        // What replaces a file that only its owner may read is at no moment readable by others.
        options.mode(0o600);
    }
    let mut file = dir.open_with(beside, &options)?;
    file.write_all(content)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

/// Under its name at last. A link fails where a file has come to be since, a rename replaces it.
fn settle(dir: &Dir, beside: &OsStr, name: &OsStr, if_exists: IfExists) -> io::Result<()> {
    match if_exists {
        IfExists::Replace => dir.rename(beside, dir, name),
        IfExists::Fail => {
            dir.hard_link(beside, dir, name)?;
            dir.remove_file(beside)
        }
    }
}
