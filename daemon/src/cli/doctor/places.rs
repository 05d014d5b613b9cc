//! What can be seen of a home without its daemon: the directory, who may read it, the socket, and the room on the disk.

use std::{fs, io::ErrorKind, path::Path};

use ropewalk_protocol::ErrorDetail;

use super::Finding;
use crate::{cli::text::bytes, server::Home, start};

/// Under this much room the daemon takes no new work.
const NEEDED_BYTES: u64 = 16 << 20;
/// Under this much room it is time to make some.
const COMFORTABLE_BYTES: u64 = 256 << 20;

/// Looks at the home and at its socket.
pub(super) fn check(home: &Home) -> Vec<Finding> {
    let directory = &home.directory;
    let mut findings = vec![private("home", directory, "the daemon makes it when it first starts")];
    findings.extend(stored(home));
    findings.extend(secrets(&directory.join("secrets")));
    findings.extend(lost(&directory.join("lost")));
    if let Some(parent) = home.socket.parent().filter(|parent| parent != directory) {
        findings.push(private("socket", parent, "the daemon makes it when it first starts"));
    }
    findings.push(room(directory));
    findings
}

/// A directory that should be ours alone.
fn private(check: &'static str, path: &Path, absent: &str) -> Finding {
    let shown = path.display();
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Finding::note(check, format!("{shown} is not there yet; {absent}"))
        }
        Err(error) => {
            Finding::problem(check, format!("{shown} cannot be looked at: {error}"), "name another one with --home")
        }
        Ok(found) if !found.is_dir() => {
            Finding::problem(check, format!("{shown} is no directory"), "move it away, or name another one with --home")
        }
        Ok(found) => match exposed(&found, 0o077) {
            Some(Exposed::Owner(uid)) => Finding::problem(
                check,
                format!("{shown} belongs to user {uid}"),
                "run this as that user, or name another one with --home",
            ),
            Some(Exposed::Mode(mode)) => Finding::problem(
                check,
                format!("{shown} can be entered by others (mode {mode:o})"),
                format!("chmod 700 '{shown}'"),
            ),
            None => Finding::ok(check, format!("{shown}, yours alone")),
        },
    }
}

/// What the home holds, where this build cannot open it.
fn stored(home: &Home) -> Option<Finding> {
    let error = start::can_open(home).err()?;
    let fix = match &error.data.detail {
        ErrorDetail::Unavailable { reason, .. } if reason == "store_version" => {
            "use the newer Ropewalk that wrote it, or name another home with --home"
        }
        ErrorDetail::Unavailable { reason, .. } if reason == "half_restored" => {
            "run `ropewalk restore` again with the same backup, or name another home with --home"
        }
        _ => "have it readable again, or name another home with --home",
    };
    Some(Finding::problem("format", error.message, fix))
}

/// The file with the keys, if there is one.
fn secrets(path: &Path) -> Option<Finding> {
    let found = fs::metadata(path).ok()?;
    let shown = path.display();
    Some(match exposed(&found, 0o077) {
        Some(Exposed::Owner(uid)) => Finding::problem(
            "secrets",
            format!("{shown} belongs to user {uid}"),
            "keys belong to who uses them; remove it and set them anew",
        ),
        Some(Exposed::Mode(mode)) => Finding::problem(
            "secrets",
            format!("{shown} can be read by others (mode {mode:o})"),
            format!("chmod 600 '{shown}', and replace the keys in it if others were there"),
        ),
        None => Finding::ok("secrets", format!("{shown}, readable by you alone")),
    })
}

/// What a start has put aside.
fn lost(path: &Path) -> Option<Finding> {
    let count = fs::read_dir(path).ok()?.count();
    (count > 0).then(|| {
        Finding::warning(
            "logs",
            format!("{count} pieces of logs were never acknowledged and have been put aside"),
            format!("nothing is missing; look at {} and remove it when you like", path.display()),
        )
    })
}

enum Exposed {
    Owner(u32),
    Mode(u32),
}

/// Why others may get at a file, if they may.
#[cfg(unix)]
fn exposed(found: &fs::Metadata, forbidden: u32) -> Option<Exposed> {
    use std::os::unix::fs::MetadataExt;

    let mode = found.mode() & 0o777;
    match () {
        () if found.uid() != rustix::process::geteuid().as_raw() => Some(Exposed::Owner(found.uid())),
        () if mode & forbidden != 0 => Some(Exposed::Mode(mode)),
        () => None,
    }
}

#[cfg(not(unix))]
fn exposed(_: &fs::Metadata, _: u32) -> Option<Exposed> {
    None
}

/// The room on the disk, as far up as there is a directory already.
fn room(path: &Path) -> Finding {
    let existing = path.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(path);
    if is_read_only(existing) {
        let message = "the disk of the home can only be read, so that nothing new is stored";
        return Finding::problem("disk", message, "mount it so that it can be written to");
    }
    match free_bytes(existing) {
        None => Finding::note("disk", "the free room cannot be found out here"),
        Some(free) => judged(free),
    }
}

pub(super) fn judged(free: u64) -> Finding {
    let message = format!("{} free", bytes(free));
    let fix = "make room on the disk of the home, or move the home and name it with --home";
    match free {
        ..NEEDED_BYTES => {
            Finding::problem("disk", format!("{message}; new work is refused under {}", bytes(NEEDED_BYTES)), fix)
        }
        NEEDED_BYTES..COMFORTABLE_BYTES => Finding::warning("disk", message, fix),
        COMFORTABLE_BYTES.. => Finding::ok("disk", message),
    }
}

#[cfg(unix)]
fn free_bytes(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(unix)]
fn is_read_only(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

#[cfg(not(unix))]
fn is_read_only(_: &Path) -> bool {
    false
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}
