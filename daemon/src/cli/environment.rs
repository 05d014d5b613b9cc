//! The environment, read in one place: the entry point hands the way to read it to the command line.

use std::{ffi::OsString, fmt, path::PathBuf, sync::Arc};

use crate::{server, sessions::child::passed_on};

/// What the environment of the process says. Empty values count as absent.
#[derive(Clone)]
pub struct Environment {
    lookup: Arc<Lookup>,
}

/// Reads one variable.
type Lookup = dyn Fn(&str) -> Option<OsString> + Send + Sync;

impl Environment {
    /// An environment that is read with this function.
    pub fn new(lookup: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static) -> Self {
        Self { lookup: Arc::new(lookup) }
    }

    /// A variable that is set to something.
    pub(crate) fn get(&self, variable: &str) -> Option<OsString> {
        (self.lookup)(variable).filter(|value| !value.is_empty())
    }

    /// A variable that is set to text.
    pub(crate) fn text(&self, variable: &str) -> Option<String> {
        self.get(variable)?.into_string().ok()
    }

    /// What decides where a home and its socket are.
    pub(crate) fn places(&self) -> server::Environment {
        let path = |variable| self.get(variable).map(PathBuf::from);
        server::Environment {
            ropewalk_home: path("ROPEWALK_HOME"),
            ropewalk_socket: path("ROPEWALK_SOCKET"),
            xdg_state_home: path("XDG_STATE_HOME"),
            xdg_runtime_dir: path("XDG_RUNTIME_DIR"),
            home: path("HOME"),
            local_app_data: path("LOCALAPPDATA"),
        }
    }

    /// What processes of servers find in their environment: what a program needs to find its way, and nothing of ours (K48).
    pub(crate) fn for_children(&self) -> Vec<(OsString, OsString)> {
        passed_on(|name| self.get(name))
    }

    /// How this program is called where it runs: from a clone it is `cargo run --`.
    pub(crate) fn program(&self) -> &'static str {
        if self.get("CARGO_MANIFEST_DIR").is_some() { "cargo run --" } else { "ropewalk" }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}
