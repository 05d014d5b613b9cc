//! Where a path really leads: each existing component is looked at, and links are followed one by one.
//!
//! The answer only chooses the grant. What keeps an operation inside is that it is opened beneath the grant's own handle,
//! whatever has become of the path since.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
};

/// Links that one path may have, as many as Linux follows.
const LINKS: usize = 40;

/// Follows an absolute path: links and `..` are gone from the result. What does not exist is kept as it is named; a `..`
/// behind it leads nowhere.
///
/// # Errors
/// When there are more than 40 links, or something on the way cannot be looked at.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut rest = parts(path);
    let mut at = root_of(path);
    let mut links = 0;
    let mut exists = true;
    while let Some(part) = rest.pop_front() {
        match part {
            Part::Up if !exists => return Err(io::ErrorKind::NotFound.into()),
            Part::Up => {
                at.pop();
            }
            Part::Name(name) => {
                let next = at.join(name);
                match exists.then(|| next.symlink_metadata()) {
                    Some(Ok(found)) if found.is_symlink() => {
                        links += 1;
                        if links > LINKS {
                            return Err(io::Error::other("it leads through too many links"));
                        }
                        let target = next.read_link()?;
                        if target.is_absolute() {
                            at = root_of(&target);
                        }
                        let mut followed = parts(&target);
                        followed.append(&mut rest);
                        rest = followed;
                        continue;
                    }
                    Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => exists = false,
                }
                at = next;
            }
        }
    }
    Ok(at)
}

enum Part {
    Up,
    Name(OsString),
}

fn parts(path: &Path) -> VecDeque<Part> {
    path.components()
        .filter_map(|component| match component {
            Component::ParentDir => Some(Part::Up),
            Component::Normal(name) => Some(Part::Name(name.to_owned())),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

fn root_of(path: &Path) -> PathBuf {
    path.components().take_while(|part| matches!(part, Component::Prefix(_) | Component::RootDir)).collect()
}
