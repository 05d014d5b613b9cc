//! Reading `AGENTS.md` and `CLAUDE.md` of the directories a project may read: at every step, so that a change is seen by the
//! next one.

use std::{
    fs::File,
    io::{ErrorKind, Read as _},
    path::Path,
    time::Duration,
};

use ropewalk_protocol::{Capability, InstructionsSource, ProjectId};

use super::room;
use crate::{
    catalogue::SCRIPTED,
    context::{
        Budgets,
        budgets::DEFAULT_WINDOW,
        layers::{self, WorkspaceFile},
    },
    engine::Shared,
};

/// The names of the files, in the order in which a directory's are told.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Directories looked into.
const DIRECTORIES: usize = 16;
/// Bytes read of one file: far more than any budget has room for.
const FILE_BYTES: u64 = 1 << 20;
/// What is said of a link that is not followed.
const LEADS_OUT: &str = "it is a link that leads out of its directory";
/// What is said of files on a disk that does not answer.
const SILENT: &str = "its disk does not answer";
/// How long a disk may take. A step waits no longer for a directory that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The files of a project's directories, in the order of their grants, where its runs are told them. One that is not there is
/// left out.
pub async fn files(shared: &Shared, project: &ProjectId) -> Vec<WorkspaceFile> {
    if shared.catalogue.snapshot().instructions_record(project).include_workspace_files {
        all(shared, project).await
    } else {
        Vec::new()
    }
}

/// The files of a project's directories as sources of its instructions, whether or not its runs are told them: cut as for the
/// endpoint that its threads use by themselves.
pub async fn sources(shared: &Shared, project: &ProjectId) -> Vec<InstructionsSource> {
    let files = all(shared, project).await;
    layers::sources(&files, &budgets(shared, project))
}

fn budgets(shared: &Shared, project: &ProjectId) -> Budgets {
    let snapshot = shared.catalogue.snapshot();
    // Without an endpoint there is no window; the scripted one stands for a usual one.
    let endpoint = snapshot.which_endpoint(None, project).ok().or_else(|| snapshot.endpoints.get(SCRIPTED).cloned());
    endpoint.map_or_else(|| Budgets::of(DEFAULT_WINDOW, None), |endpoint| room::room(shared, &endpoint).budgets)
}

async fn all(shared: &Shared, project: &ProjectId) -> Vec<WorkspaceFile> {
    let snapshot = shared.catalogue.snapshot();
    let readable = snapshot.grants_after(project, None);
    let readable = readable.filter(|grant| grant.capabilities.contains(&Capability::Read));
    let directories: Vec<String> = readable.map(|grant| grant.path.clone()).take(DIRECTORIES).collect();
    if directories.is_empty() {
        return Vec::new();
    }
    let asked = directories.clone();
    let read = tokio::task::spawn_blocking(move || asked.iter().flat_map(|path| of_directory(path)).collect());
    tokio::select! {
        biased;
        files = read => files.unwrap_or_default(),
        () = shared.clock.sleep(PATIENCE) => {
            tracing::warn!(%project, "reading the files of this project's directories took too long; this step goes without");
            let silent = |path: &String| WorkspaceFile { path: path.clone(), text: Err(SILENT.to_owned()) };
            directories.iter().map(silent).collect()
        }
    }
}

fn of_directory(directory: &str) -> Vec<WorkspaceFile> {
    NAMES.iter().filter_map(|name| file(directory, name)).collect()
}

fn file(directory: &str, name: &str) -> Option<WorkspaceFile> {
    let path = Path::new(directory).join(name).to_string_lossy().into_owned();
    let text = match opened(Path::new(directory), name) {
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
fn opened(directory: &Path, name: &str) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags, ResolveFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(directory, flags | OFlags::DIRECTORY, Mode::empty())?;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(&directory, name, flags | OFlags::NONBLOCK, Mode::empty(), beneath)?.into())
}

/// Opens the file, unless it is a link that leads out of its directory.
#[cfg(not(target_os = "linux"))]
fn opened(directory: &Path, name: &str) -> std::io::Result<File> {
    let path = directory.join(name).canonicalize()?;
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
