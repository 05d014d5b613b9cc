//! Keys of endpoints and the key of operation digests, in a place that no log, event, error or backup reaches.

mod file;
mod home;
mod keyring;
mod memory;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
};

use rand::RngCore as _;
use ropewalk_protocol::SecretStore;
use serde::{Deserialize, Serialize};

pub use file::FileSecrets;
pub use home::HomeSecrets;
pub use memory::MemorySecrets;

/// Which place for secrets a daemon is to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretChoice {
    /// The keyring if it answers and is unlocked at the start, else the file.
    #[default]
    Auto,
    /// The keyring; without one the daemon does not start.
    Keyring,
    /// The file; the keyring is never asked.
    File,
}

/// Where secrets are kept, under names such as an endpoint's id. Nothing of them is in any `Debug` output or error.
///
/// The calls may wait for the disk for as long as a small file takes to be written and synced, and for a keyring for up to
/// 25 s, because it may ask a person.
pub trait Secrets: fmt::Debug + Send + Sync + 'static {
    /// The secret of that name, if there is one.
    ///
    /// # Errors
    /// When the place cannot be read.
    fn get(&self, name: &str) -> Result<Option<String>, SecretError>;

    /// Sets a secret. When it returns `Ok`, the secret survives a power cut.
    ///
    /// # Errors
    /// When the place cannot be written; the secret is then the one from before.
    fn set(&self, name: &str, secret: &str) -> Result<(), SecretError>;

    /// Removes a secret, and returns whether it was there.
    ///
    /// # Errors
    /// When the place cannot be written; the secret is then still there.
    fn remove(&self, name: &str) -> Result<bool, SecretError>;

    /// What kind of place new secrets go to.
    fn kind(&self) -> SecretStore;

    /// Why it is the weaker kind, or what else is not as it should be: a sentence without its full stop.
    fn reason(&self) -> Option<String> {
        None
    }

    /// The names of secrets that are in a keyring which cannot be used now: [`get`](Self::get) fails for them.
    fn out_of_reach(&self) -> Vec<String> {
        Vec::new()
    }

    /// The key of the digests by which a repeated operation is recognised, the same for the life of the home.
    fn operation_key(&self) -> [u8; 32];
}

/// Why secrets could not be read or written. Never holds one.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SecretError {
    /// The file could not be read.
    #[error("the secrets in {} could not be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// The file could not be written; what was in it is unchanged.
    #[error("the secrets in {} could not be written: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// The file is not what this daemon writes.
    #[error(
        "{} is not a file of secrets (line {line}, column {column}); move it away, start again, and set the keys anew",
        path.display()
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1; 0 at the beginning of a line.
        column: usize,
    },
    /// No keyring can be used, and nothing else was allowed.
    #[error(
        "no keyring can be used: {cause}. Start or unlock one, or start the daemon with `--secret-store auto`, which \
         falls back to a file"
    )]
    NoKeyring {
        /// Why.
        cause: String,
    },
    /// The keyring did not do its part.
    #[error("the keyring did not do its part: {cause}")]
    Keyring {
        /// Why.
        cause: String,
    },
    /// The secret is in a keyring that cannot be used.
    #[error("it is in the keyring, which cannot be used: {cause}. Unlock or start the keyring, or store the key anew")]
    OutOfReach {
        /// Why.
        cause: String,
    },
    /// The file is of a newer version.
    #[error("{} has format version {found}, and this build knows up to {known}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// Ours.
        known: u64,
    },
}

const VERSION: u64 = 1;

/// Everything that is secret. It has no `Debug` of its own content, so that it cannot be printed by accident.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contents {
    version: u64,
    operation_key: [u8; 32],
    /// Tells the entries of this home from those of others in a keyring they share.
    #[serde(default)]
    home_id: String,
    secrets: BTreeMap<String, String>,
    /// The names of the secrets that are in the keyring: without this list a keyring that is gone would look like no key.
    #[serde(default)]
    in_keyring: BTreeSet<String>,
}

impl Contents {
    /// No secrets yet but a new operation key.
    fn new() -> Self {
        let mut operation_key = [0; 32];
        rand::rng().fill_bytes(&mut operation_key);
        let (secrets, in_keyring) = (BTreeMap::new(), BTreeSet::new());
        Self { version: VERSION, operation_key, home_id: new_home_id(), secrets, in_keyring }
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contents").field("secrets", &self.secrets.len()).finish_non_exhaustive()
    }
}

fn new_home_id() -> String {
    format!("{:032x}", u128::from_ne_bytes(rand::random()))
}
