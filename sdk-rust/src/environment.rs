//! Where things are: the only place of the SDK that reads the environment.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::Error;

/// The longest path a Unix socket can have, its terminating zero not counted.
const SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
/// The program that is started on demand.
const PROGRAM: &str = if cfg!(windows) { "ropewalk.exe" } else { "ropewalk" };
/// What a client is called when its executable has no usable name.
const FALLBACK_NAME: &str = "ropewalk-sdk";

/// Where the daemon is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// The home, when the caller or the environment names one.
    pub(crate) home: Option<PathBuf>,
    /// The socket.
    pub(crate) socket: PathBuf,
}

impl Places {
    /// Home: as given, else `$ROPEWALK_HOME`, else the platform's state directory. Socket: as given, else
    /// `$ROPEWALK_SOCKET`, else in an explicit home, else in `$XDG_RUNTIME_DIR`, else in the home.
    pub(crate) fn find(home: Option<PathBuf>, socket: Option<PathBuf>) -> Result<Self, Error> {
        let home = home.or_else(|| path_from("ROPEWALK_HOME"));
        let socket = socket.or_else(|| path_from("ROPEWALK_SOCKET"));
        let runtime = path_from("XDG_RUNTIME_DIR");
        let places = Self::choose(home, socket, runtime, state_directory)?;
        places.check_length()?;
        Ok(places)
    }

    fn choose(
        home: Option<PathBuf>,
        socket: Option<PathBuf>,
        runtime: Option<PathBuf>,
        state: impl FnOnce() -> Option<PathBuf>,
    ) -> Result<Self, Error> {
        let socket = match (socket, &home, runtime) {
            (Some(socket), _, _) => socket,
            (None, Some(home), _) => home.join("daemon.sock"),
            (None, None, Some(runtime)) => runtime.join("ropewalk").join("daemon.sock"),
            (None, None, None) => match state() {
                Some(state) => state.join("daemon.sock"),
                None => {
                    return Err(Error::InvalidOption {
                        option: "home",
                        reason: "no home directory is known; give one, or set ROPEWALK_HOME.".to_owned(),
                    });
                }
            },
        };
        Ok(Self { home, socket })
    }

    fn check_length(&self) -> Result<(), Error> {
        let bytes = self.socket.as_os_str().len();
        if cfg!(unix) && bytes > SOCKET_PATH_BYTES {
            let reason = format!("its path has {bytes} bytes, at most {SOCKET_PATH_BYTES} are possible here");
            return Err(Error::Connect { socket: self.socket.clone(), reason, source: None });
        }
        Ok(())
    }
}

/// The programs that may be the daemon, in the order in which they are tried: `$ROPEWALK_BIN` alone where it is set, else
/// `ropewalk` beside the own executable, else every one in `PATH`.
pub(crate) fn daemon_programs() -> Vec<PathBuf> {
    if let Some(program) = path_from("ROPEWALK_BIN") {
        return vec![program];
    }
    let beside = env::current_exe().ok().and_then(|own| Some(own.parent()?.join(PROGRAM)));
    let in_path =
        env::var_os("PATH").map(|path| env::split_paths(&path).map(|dir| dir.join(PROGRAM)).collect::<Vec<_>>());
    beside.into_iter().chain(in_path.unwrap_or_default()).collect()
}

/// The name of the own executable, as far as it can be a client's name.
pub(crate) fn client_name() -> String {
    env::current_exe()
        .ok()
        .as_deref()
        .and_then(Path::file_stem)
        .map_or_else(|| FALLBACK_NAME.to_owned(), |stem| clean_name(&stem.to_string_lossy()))
}

fn clean_name(name: &str) -> String {
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).take(64).collect();
    if name.is_empty() { FALLBACK_NAME.to_owned() } else { name }
}

fn state_directory() -> Option<PathBuf> {
    if cfg!(windows) {
        return Some(path_from("LOCALAPPDATA")?.join("ropewalk"));
    }
    if cfg!(target_os = "macos") {
        return Some(path_from("HOME")?.join("Library/Application Support/ropewalk"));
    }
    if let Some(state) = path_from("XDG_STATE_HOME") {
        return Some(state.join("ropewalk"));
    }
    Some(path_from("HOME")?.join(".local/state/ropewalk"))
}

/// A variable that is set to something.
fn path_from(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests;
