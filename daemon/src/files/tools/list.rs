//! `list_dir`: what is in a directory.

use cap_std::fs::FileType;
use ropewalk_protocol::Capability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Done, Stop};
use crate::files::{reach::Reach, refusal::Refusal, walk};

/// What to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListDir {
    /// The directory, by its absolute path.
    path: String,
    /// How many entries to answer at most.
    #[serde(default = "most")]
    #[schemars(range(min = 1, max = MOST))]
    max_entries: usize,
}

/// More are not answered, whatever is asked.
const MOST: usize = 10_000;

fn most() -> usize {
    1_000
}

/// What is in a directory, by name.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// The directory.
    path: String,
    /// What is in it.
    entries: Vec<Found>,
    /// Whether there is more than was answered.
    truncated: bool,
}

/// Something in a directory.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct Found {
    /// Its name.
    name: String,
    /// What it is.
    kind: Kind,
    /// The size of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
}

/// What something in a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A link, wherever it leads.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl Kind {
    /// The kind of this type.
    pub fn of(file_type: FileType) -> Self {
        if file_type.is_file() {
            Self::File
        } else if file_type.is_dir() {
            Self::Directory
        } else if file_type.is_symlink() {
            Self::Link
        } else {
            Self::Other
        }
    }
}

/// Lists the directory.
pub fn run(reach: &Reach, args: &ListDir, stop: &Stop) -> Result<Done, Refusal> {
    let spot = reach.find(&args.path, &[Capability::Read])?;
    let failed = |error| Refusal::io(&spot.path, error);
    let dir = spot.dir()?;
    let names = walk::entries(&dir, stop).map_err(|error| error.at(&spot.path))?;
    let truncated = names.len() > args.max_entries.min(MOST);
    let mut entries = Vec::new();
    let mut text = String::new();
    for entry in names.into_iter().take(args.max_entries.min(MOST)) {
        let name = entry.name.to_string_lossy().into_owned();
        let size_bytes = match entry.kind {
            Kind::File => Some(dir.symlink_metadata(&entry.name).map_err(failed)?.len()),
            _ => None,
        };
        text.push_str(&match (entry.kind, size_bytes) {
            (Kind::Directory, _) => format!("{name}/\n"),
            (Kind::Link, _) => format!("{name} (link)\n"),
            (Kind::Other, _) => format!("{name} (special)\n"),
            (Kind::File, size) => format!("{name} ({} bytes)\n", size.unwrap_or_default()),
        });
        entries.push(Found { name, kind: entry.kind, size_bytes });
    }
    if entries.is_empty() {
        text.push_str("[the directory is empty]");
    }
    if truncated {
        text.push_str("[cut: the directory has more entries; ask with a larger maxEntries]");
    }
    Done::new(text, &Listed { path: spot.path.display().to_string(), entries, truncated })
}
