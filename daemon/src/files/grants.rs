//! What the file server was granted: directories, each with what may be done in it.

use std::path::{Path, PathBuf};

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

impl Grant {
    /// Whether a path is the directory or lies within it.
    fn is_around(&self, path: &str) -> bool {
        Path::new(path).starts_with(&self.path)
    }
}

/// What the server is told before anything else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// What is granted.
    pub grants: Vec<Grant>,
    /// Directories that no grant opens, whatever it is of: those the daemon itself lives in.
    #[serde(default)]
    pub closed: Vec<PathBuf>,
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

/// What is left of grants when those that there are now have been looked at: what both allow, and nothing else. Grants of which
/// nothing was taken back are left as they are, whatever has come to them since.
#[must_use]
pub fn what_is_left(of: &[Grant], now: &[Grant]) -> Vec<Grant> {
    let is_whole = |grant: &Grant| {
        let still = |capability| now.iter().any(|it| it.is_around(&grant.path) && it.capabilities.contains(capability));
        grant.capabilities.iter().all(still)
    };
    if of.iter().all(is_whole) {
        return of.to_vec();
    }
    let mut left: Vec<Grant> = Vec::new();
    for (former, current) in of.iter().flat_map(|former| now.iter().map(move |current| (former, current))) {
        let path = match (former.is_around(&current.path), current.is_around(&former.path)) {
            (true, _) => &current.path,
            (false, true) => &former.path,
            (false, false) => continue,
        };
        let mut capabilities = former.capabilities.clone();
        capabilities.retain(|capability| current.capabilities.contains(capability));
        match left.iter_mut().find(|grant| grant.path == *path) {
            Some(grant) => grant.capabilities.extend(capabilities),
            None => left.push(Grant { path: path.clone(), capabilities }),
        }
    }
    for grant in &mut left {
        grant.capabilities.sort_unstable();
        grant.capabilities.dedup();
    }
    left.retain(|grant| !grant.capabilities.is_empty());
    left.sort_by(|a, b| a.path.cmp(&b.path));
    left
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
