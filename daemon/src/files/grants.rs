//! What the file server was granted: directories, each with what may be done in it.

use std::path::PathBuf;

use cap_std::{ambient_authority, fs::Dir};
use ropewalk_protocol::Capability;
use serde::{Deserialize, Serialize};

use super::resolve::resolve;

/// A directory that is granted, as the server is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The directory, by its absolute path.
    pub path: String,
    /// What may be done in it.
    pub capabilities: Vec<Capability>,
}

/// A grant whose directory is open: whatever is done in it is done beneath this handle.
#[derive(Debug)]
pub struct Granted {
    /// Where the directory really is.
    pub path: PathBuf,
    /// Its handle.
    pub dir: Dir,
    /// What may be done in it.
    pub capabilities: Vec<Capability>,
}

/// Opens what is granted, the innermost directory first. A directory that is not there grants nothing, nor does one that is
/// named by a relative path or by one with a link in it: grants are kept by the real path. Each of them is told to `note`.
pub fn open_all(grants: &[Grant], mut note: impl FnMut(&str)) -> Vec<Granted> {
    let mut open = Vec::new();
    for grant in grants {
        match open_one(grant) {
            Ok(granted) => open.push(granted),
            Err(error) => note(&format!("the grant of \"{}\" is not used: {error}", grant.path)),
        }
    }
    open.sort_by_key(|granted: &Granted| std::cmp::Reverse(granted.path.components().count()));
    open
}

fn open_one(grant: &Grant) -> std::io::Result<Granted> {
    let named = PathBuf::from(&grant.path);
    if !named.is_absolute() {
        return Err(std::io::Error::other("its path is relative"));
    }
    let path = resolve(&named)?;
    // A person granted the place that this path named then. Whoever has put a link there since does not choose another one.
    if path != named {
        return Err(std::io::Error::other(format!("a link stands in its way, which leads to \"{}\"", path.display())));
    }
    let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
    Ok(Granted { path, dir, capabilities: grant.capabilities.clone() })
}
