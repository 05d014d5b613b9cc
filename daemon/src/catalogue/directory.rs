//! Directories as grants name them: absolute, existing, every link resolved.

use std::{io, path::Path, time::Duration};

use super::Refusal;

/// How long the file system may take; a network mount can be gone.
const ANSWER_MS: u64 = 10_000;

/// The canonical form of an existing directory.
///
/// # Errors
/// `invalidParams` at `/path` when it is no such directory, [`Refusal::Silent`] when nobody can tell in time.
pub(super) async fn canonical(path: &str) -> Result<String, Refusal> {
    if path.is_empty() {
        return Err(refused("empty", "The path is empty. Name an existing directory by its absolute path."));
    }
    if !Path::new(path).is_absolute() {
        return Err(refused("not_absolute", "The path is relative. A directory is named by its absolute path."));
    }
    let owned = path.to_owned();
    let looked_up = tokio::task::spawn_blocking(move || look_up(Path::new(&owned)));
    match tokio::time::timeout(Duration::from_millis(ANSWER_MS), looked_up).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(Refusal::Stopping),
        Err(_) => Err(Refusal::Silent { path: path.to_owned(), after_ms: ANSWER_MS }),
    }
}

/// The last part of a canonical path, for a name; the whole of it where there is no such part.
pub(super) fn name_of(path: &str) -> String {
    let last = Path::new(path).file_name().and_then(|last| last.to_str()).unwrap_or(path);
    let line: String =
        last.chars().map(|character| if character.is_control() { ' ' } else { character }).take(120).collect();
    if line.trim().is_empty() { "Directory".to_owned() } else { line }
}

fn look_up(path: &Path) -> Result<String, Refusal> {
    let canonical = path.canonicalize().map_err(|cause| unreadable(&cause))?;
    if !canonical.metadata().map_err(|cause| unreadable(&cause))?.is_dir() {
        return Err(refused("not_a_directory", "There is something at this path, but it is no directory."));
    }
    canonical.into_os_string().into_string().map_err(|_| {
        refused("not_utf8", "The directory's real path is not valid UTF-8, so it cannot be named on the wire.")
    })
}

fn unreadable(cause: &io::Error) -> Refusal {
    match cause.kind() {
        io::ErrorKind::NotFound => refused("not_found", "There is no directory at this path. Make it first."),
        io::ErrorKind::NotADirectory => refused("not_a_directory", "A part of this path is no directory."),
        io::ErrorKind::PermissionDenied => {
            refused("unreadable", "The daemon's user may not look at this path. Change its permissions first.")
        }
        _ => refused("unreadable", &format!("The path cannot be looked at: {cause}.")),
    }
}

fn refused(reason: &'static str, message: &str) -> Refusal {
    Refusal::invalid("/path", reason, message)
}

/// What a person who grants a directory should know of it, where there is something to know. `home` is where the daemon lives.
pub(super) fn warning_about(path: &Path, home: Option<&Path>) -> Option<String> {
    if let Some(home) = home.filter(|home| path.starts_with(home)) {
        return Some(format!(
            "This is in the daemon's own home, {}, with its data and its secrets: the file tools refuse everything in it, \
             so this grant opens nothing.",
            home.display()
        ));
    }
    let wide = if path == Path::new("/") {
        Some("This is every file of this computer that your user can reach.".to_owned())
    } else if SYSTEM.iter().any(|system| path.starts_with(system)) {
        Some(
            "This is no directory of files, but the system itself: its devices, its processes, what it is set to."
                .to_owned(),
        )
    } else {
        None
    };
    let closed = home.filter(|home| home.starts_with(path)).map(closed_within);
    let said: Vec<String> = wide.into_iter().chain(closed).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// What looks like directories, and is the kernel.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

fn closed_within(home: &Path) -> String {
    format!("The daemon's own home, {}, is in it; the file tools refuse everything in there.", home.display())
}
