//! `list_dir`: what is in a directory.

use cap_std::fs::FileType;
use ropewalk_protocol::Capability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Done, Room, Stop, text::on_a_line};
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
    let dir = spot.dir()?;
    let names = walk::entries(&dir, stop).map_err(|error| error.at(&spot.path))?;
    let all = names.len();
    let mut entries = Vec::new();
    let (mut text, mut room) = (String::new(), Room::default());
    for entry in names.into_iter().take(args.max_entries.min(MOST)) {
        let name = entry.name.to_string_lossy().into_owned();
        let size_bytes = match entry.kind {
            // One that has gone since is listed by its name; it does not hide the others.
            Kind::File => dir.symlink_metadata(&entry.name).ok().map(|metadata| metadata.len()),
            _ => None,
        };
        let told = told(&on_a_line(&name), entry.kind, size_bytes);
        if !room.take(told.chars().count()) {
            break;
        }
        text.push_str(&told);
        entries.push(Found { name, kind: entry.kind, size_bytes });
    }
    let truncated = entries.len() < all;
    if all == 0 {
        text.push_str("[the directory is empty]");
    }
    if truncated {
        text.push_str(&format!(
            "[cut: these are {} of {all} entries; find_files finds others by a pattern]",
            entries.len()
        ));
    }
    Done::new(text, &Listed { path: spot.path.display().to_string(), entries, truncated })
}

fn told(name: &str, kind: Kind, size_bytes: Option<u64>) -> String {
    match (kind, size_bytes) {
        (Kind::Directory, _) => format!("{name}/\n"),
        (Kind::Link, _) => format!("{name} (link)\n"),
        (Kind::Other, _) => format!("{name} (special)\n"),
        (Kind::File, Some(size)) => format!("{name} ({size} bytes)\n"),
        (Kind::File, None) => format!("{name}\n"),
    }
}
