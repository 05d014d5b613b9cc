//! Secrets in a file that only its owner can read: the weaker choice, and the one that is always there. It also says which
//! secrets are in the keyring.

use std::{
    fs::{self, Permissions},
    io::ErrorKind,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use ropewalk_protocol::SecretStore;
use serde::Deserialize;

use super::{Contents, SecretError, Secrets, VERSION, new_home_id};
use crate::store::files;

/// Secrets in `HOME/secrets`, mode 0600, replaced as a whole at every change.
#[derive(Debug)]
pub struct FileSecrets {
    path: PathBuf,
    contents: Mutex<Contents>,
}

impl FileSecrets {
    /// Opens the secrets of a home that is locked and there, or makes them with a new operation key.
    ///
    /// # Errors
    /// When the file cannot be read, is not one of ours or of a newer version, or cannot be made.
    pub fn open(home: &Path) -> Result<Self, SecretError> {
        let path = home.join("secrets");
        let bytes = match read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let secrets = Self { path, contents: Mutex::new(Contents::new()) };
                secrets.write(&secrets.lock())?;
                return Ok(secrets);
            }
            Err(error) => return Err(SecretError::Read { path, cause: error.to_string() }),
        };
        let contents = parse(&path, &bytes)?;
        // A file that came from elsewhere may be open to others, and would stay so until the next change.
        fs::set_permissions(&path, Permissions::from_mode(0o600))
            .map_err(|error| SecretError::Write { path: path.clone(), cause: error.to_string() })?;
        let secrets = Self { path, contents: Mutex::new(contents) };
        if secrets.lock().home_id.is_empty() {
            secrets.change(|contents| contents.home_id = new_home_id())?;
        }
        Ok(secrets)
    }

    /// What tells this home's entries in a keyring from those of others; the same for the life of the home.
    pub(super) fn home_id(&self) -> String {
        self.lock().home_id.clone()
    }

    /// The names of the secrets that are in the file itself.
    pub(super) fn names(&self) -> Vec<String> {
        self.lock().secrets.keys().cloned().collect()
    }

    /// The names of the secrets that are in the keyring.
    pub(super) fn names_in_keyring(&self) -> Vec<String> {
        self.lock().in_keyring.iter().cloned().collect()
    }

    /// Whether a secret is in the keyring.
    pub(super) fn is_in_keyring(&self, name: &str) -> bool {
        self.lock().in_keyring.contains(name)
    }

    /// Notes that secrets are in the keyring now, and forgets what the file has of them.
    pub(super) fn note_in_keyring(&self, names: &[String]) -> Result<(), SecretError> {
        let is_noted = |contents: &Contents| {
            names.iter().all(|name| contents.in_keyring.contains(name) && !contents.secrets.contains_key(name))
        };
        if is_noted(&self.lock()) {
            return Ok(());
        }
        self.change(|contents| {
            for name in names {
                contents.secrets.remove(name);
                contents.in_keyring.insert(name.clone());
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, contents: &Contents) -> Result<(), SecretError> {
        let bytes = serde_json::to_vec_pretty(contents).expect("secrets are strings and numbers");
        files::replace(&self.path, &bytes)
            .map_err(|error| SecretError::Write { path: self.path.clone(), cause: error.to_string() })
    }

    /// Makes a change in a copy, and takes it over once it lasts.
    fn change<T>(&self, change: impl FnOnce(&mut Contents) -> T) -> Result<T, SecretError> {
        let mut contents = self.lock();
        let mut changed = contents.clone();
        let result = change(&mut changed);
        self.write(&changed)?;
        *contents = changed;
        Ok(result)
    }
}

/// The bytes of the file. What is none, such as a pipe, is refused before anybody waits for it.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is no file; move it away and start again"));
    }
    fs::read(path)
}

/// Reads the file. The errors of its parser quote what they could not read, so only the place is kept of them.
fn parse(path: &Path, bytes: &[u8]) -> Result<Contents, SecretError> {
    #[derive(Deserialize)]
    struct Version {
        version: u64,
    }
    let malformed = |error: serde_json::Error| SecretError::Malformed {
        path: path.to_owned(),
        line: error.line(),
        column: error.column(),
    };
    let Version { version } = serde_json::from_slice(bytes).map_err(malformed)?;
    if version > VERSION {
        return Err(SecretError::Version { path: path.to_owned(), found: version, known: VERSION });
    }
    serde_json::from_slice(bytes).map_err(malformed)
}

impl Secrets for FileSecrets {
    fn get(&self, name: &str) -> Result<Option<String>, SecretError> {
        Ok(self.lock().secrets.get(name).cloned())
    }

    fn set(&self, name: &str, secret: &str) -> Result<(), SecretError> {
        self.change(|contents| {
            contents.secrets.insert(name.to_owned(), secret.to_owned());
            contents.in_keyring.remove(name);
        })
    }

    fn remove(&self, name: &str) -> Result<bool, SecretError> {
        if !self.lock().secrets.contains_key(name) && !self.is_in_keyring(name) {
            return Ok(false);
        }
        self.change(|contents| contents.secrets.remove(name).is_some() | contents.in_keyring.remove(name))
    }

    fn kind(&self) -> SecretStore {
        SecretStore::File
    }

    fn operation_key(&self) -> [u8; 32] {
        self.lock().operation_key
    }
}
