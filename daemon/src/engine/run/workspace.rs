//! Reading `AGENTS.md` of the directories a project may read: at every step, so that a change is seen by the next one.

use std::{
    fs::File,
    io::{ErrorKind, Read as _},
    path::Path,
    time::Duration,
};

use ropewalk_protocol::{Capability, ProjectId};

use crate::{context::layers::WorkspaceFile, engine::Shared};

/// The file's name.
const NAME: &str = "AGENTS.md";
/// Directories looked into.
const DIRECTORIES: usize = 16;
/// Bytes read of one file: far more than any budget has room for.
const FILE_BYTES: u64 = 1 << 20;
/// What is said of a link that is not followed.
const LEADS_OUT: &str = "it is a link that leads out of its directory";
/// How long a disk may take. A step waits no longer for a directory that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The `AGENTS.md` of a project's directories, in the order of their grants. One that is not there is left out.
pub async fn files(shared: &Shared, project: &ProjectId) -> Vec<WorkspaceFile> {
    let snapshot = shared.catalogue.snapshot();
    let readable = snapshot.grants_after(project, None);
    let readable = readable.filter(|grant| grant.capabilities.contains(&Capability::Read));
    let directories: Vec<String> = readable.map(|grant| grant.path.clone()).take(DIRECTORIES).collect();
    if directories.is_empty() {
        return Vec::new();
    }
    let read = tokio::task::spawn_blocking(move || directories.iter().filter_map(|path| file(path)).collect());
    tokio::select! {
        biased;
        files = read => files.unwrap_or_default(),
        () = shared.clock.sleep(PATIENCE) => {
            tracing::warn!(%project, "reading AGENTS.md of this project took too long; this step goes without");
            Vec::new()
        }
    }
}

fn file(directory: &str) -> Option<WorkspaceFile> {
    let path = Path::new(directory).join(NAME).to_string_lossy().into_owned();
    let text = match opened(Path::new(directory)) {
        Ok(file) => text(file),
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        // The kernel's words for it are about devices.
        Err(error) if error.kind() == ErrorKind::CrossesDevices => Err(LEADS_OUT.to_owned()),
        Err(error) => Err(error.to_string()),
    };
    Some(WorkspaceFile { path, text })
}

fn text(file: File) -> Result<String, String> {
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if metadata.len() > FILE_BYTES {
        // A character may have been cut in two.
        let whole = bytes.iter().rposition(|byte| byte & 0xc0 != 0x80).unwrap_or(0);
        bytes.truncate(whole);
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    Ok(if metadata.len() > FILE_BYTES { format!("{text}\n[only the first MiB was read]") } else { text })
}

/// Opens the file beneath its directory: a link that leads out of it is not followed, and nothing is waited for.
#[cfg(target_os = "linux")]
fn opened(directory: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags, ResolveFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(directory, flags | OFlags::DIRECTORY, Mode::empty())?;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(&directory, NAME, flags | OFlags::NONBLOCK, Mode::empty(), beneath)?.into())
}

/// Opens the file, unless it is a link that leads out of its directory.
#[cfg(not(target_os = "linux"))]
fn opened(directory: &Path) -> std::io::Result<File> {
    let path = directory.join(NAME).canonicalize()?;
    if !path.starts_with(directory.canonicalize()?) {
        return Err(std::io::Error::other(LEADS_OUT));
    }
    if !path.metadata()?.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    File::open(path)
}

#[cfg(test)]
mod tests;
