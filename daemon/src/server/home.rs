//! Where a daemon keeps its data and where its socket is.

use std::path::{Path, PathBuf};

use super::StartError;

/// What the environment says of places. Read once, where the program begins; empty values count as absent.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `ROPEWALK_HOME`
    pub ropewalk_home: Option<PathBuf>,
    /// `ROPEWALK_SOCKET`
    pub ropewalk_socket: Option<PathBuf>,
    /// `XDG_STATE_HOME`
    pub xdg_state_home: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`
    pub xdg_runtime_dir: Option<PathBuf>,
    /// `HOME`
    pub home: Option<PathBuf>,
    /// `LOCALAPPDATA`
    pub local_app_data: Option<PathBuf>,
}

/// What the command line says of places.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// `--home`
    pub home: Option<PathBuf>,
    /// `--socket`
    pub socket: Option<PathBuf>,
}

/// A home: its directory and its socket, both absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// Where everything is kept.
    pub directory: PathBuf,
    /// Where it is listened.
    pub socket: PathBuf,
}

impl Home {
    /// Finds the home: the command line before `ROPEWALK_*` before the platform's directories.
    ///
    /// # Errors
    /// When nothing names a directory, or a relative path cannot be made absolute.
    pub fn resolve(places: &Places, environment: &Environment) -> Result<Self, StartError> {
        let explicit = named(&places.home).or_else(|| named(&environment.ropewalk_home));
        let is_explicit = explicit.is_some();
        let directory = absolute(&explicit.or_else(|| platform_home(environment)).ok_or(StartError::NoHome)?)?;
        let runtime = || xdg(&environment.xdg_runtime_dir).filter(|_| !is_explicit);
        let socket = named(&places.socket)
            .or_else(|| named(&environment.ropewalk_socket))
            .or_else(|| runtime().map(|runtime| runtime.join("ropewalk").join("daemon.sock")))
            .unwrap_or_else(|| directory.join("daemon.sock"));
        Ok(Self { socket: absolute(&socket)?, directory })
    }
}

/// The platform's directory for the state of programs.
fn platform_home(environment: &Environment) -> Option<PathBuf> {
    if cfg!(windows) {
        return named(&environment.local_app_data).map(|data| data.join("ropewalk"));
    }
    let home = || named(&environment.home);
    if cfg!(target_os = "macos") {
        return home().map(|home| home.join("Library/Application Support/ropewalk"));
    }
    xdg(&environment.xdg_state_home)
        .or_else(|| home().map(|home| home.join(".local/state")))
        .map(|state| state.join("ropewalk"))
}

fn named(path: &Option<PathBuf>) -> Option<PathBuf> {
    path.clone().filter(|path| !path.as_os_str().is_empty())
}

/// The XDG specification has relative paths ignored.
fn xdg(path: &Option<PathBuf>) -> Option<PathBuf> {
    named(path).filter(|path| path.is_absolute())
}

fn absolute(path: &Path) -> Result<PathBuf, StartError> {
    std::path::absolute(path).map_err(StartError::io("Making absolute the path", path))
}
