//! `file_info`: what is at a path.

use jiff::Timestamp;
use ropewalk_protocol::Capability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Done, Stop, list::Kind};
use crate::files::{reach::Reach, refusal::Refusal};

/// What to look at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileInfo {
    /// A file or directory, by its absolute path.
    path: String,
}

/// What is there.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    /// Where it is, links followed.
    path: String,
    /// What it is.
    kind: Kind,
    /// Its size.
    size_bytes: u64,
    /// When it was last changed, as the file system says.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    /// The bits of its mode, in octal.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
}

/// Looks at it.
pub fn run(reach: &Reach, args: &FileInfo, _: &Stop) -> Result<Done, Refusal> {
    let spot = reach.find(&args.path, &[Capability::Read])?;
    let metadata = spot.metadata()?;
    let modified = metadata.modified().ok().and_then(|time| Timestamp::try_from(time.into_std()).ok());
    let info = Info {
        path: spot.path.display().to_string(),
        kind: Kind::of(metadata.file_type()),
        size_bytes: metadata.len(),
        modified: modified.map(|time| time.to_string()),
        mode: mode(&metadata),
    };
    let kind = crate::files::reach::kind(&metadata);
    let mut text = format!("\"{}\" is {kind}, {} bytes", info.path, info.size_bytes);
    if let Some(modified) = &info.modified {
        text.push_str(&format!(", last changed {modified}"));
    }
    if let Some(mode) = &info.mode {
        text.push_str(&format!(", mode {mode}"));
    }
    text.push('.');
    Done::new(text, &info)
}

#[cfg(unix)]
fn mode(metadata: &cap_std::fs::Metadata) -> Option<String> {
    use cap_std::fs::PermissionsExt;
    Some(format!("{:04o}", metadata.permissions().mode() & 0o7777))
}

#[cfg(not(unix))]
fn mode(_: &cap_std::fs::Metadata) -> Option<String> {
    None
}
