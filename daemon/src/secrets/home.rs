//! The secrets of a home on disk: in the keyring where there is one, else in the file, and never lost between the two.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use ropewalk_protocol::SecretStore;

use super::{
    FileSecrets, SecretChoice, SecretError, Secrets,
    keyring::{CALL_MS, Keyring, Person, START_MS},
};

/// Secrets of a home. The operation key is always in the file, and so is the list of what is in the keyring.
#[derive(Debug)]
pub struct HomeSecrets {
    file: FileSecrets,
    /// Absent when it is not to be asked.
    keyring: Option<Keyring>,
    kind: SecretStore,
    reason: Option<String>,
    known: Known,
}

/// What was read from the keyring or written to it, so that it is asked once in the life of a daemon: a keyring that is
/// locked again must not end the runs of the night.
#[derive(Default)]
struct Known(Mutex<BTreeMap<String, String>>);

impl HomeSecrets {
    /// Opens the secrets of a home that is locked and there, and moves what the file has to the keyring if there is one. May
    /// wait for the keyring for a few seconds.
    ///
    /// # Errors
    /// As [`FileSecrets::open`]; [`SecretError::NoKeyring`] when a keyring was asked for and there is none.
    pub fn open(home: &Path, choice: SecretChoice) -> Result<Self, SecretError> {
        Self::open_with(home, choice, Keyring::of_system)
    }

    /// The same with a keyring of a test's choosing.
    pub(super) fn open_with(
        home: &Path,
        choice: SecretChoice,
        keyring: impl FnOnce(String) -> Keyring,
    ) -> Result<Self, SecretError> {
        let file = FileSecrets::open(home)?;
        let keyring = (choice != SecretChoice::File).then(|| keyring(file.home_id()));
        let told = || Err("the daemon was started with `--secret-store file`".to_owned());
        let (kind, reason) = match keyring.as_ref().map_or_else(told, Keyring::check) {
            Ok(()) => (SecretStore::Keyring, None),
            Err(cause) if choice == SecretChoice::Keyring => return Err(SecretError::NoKeyring { cause }),
            Err(cause) if choice == SecretChoice::File => (SecretStore::File, Some(cause)),
            Err(cause) => (SecretStore::File, Some(format!("no keyring can be used: {cause}"))),
        };
        let mut secrets = Self { file, keyring, kind, reason, known: Known::default() };
        secrets.settle()?;
        Ok(secrets)
    }

    /// Moves the secrets of the file to the keyring, or says which ones a keyring that is gone has.
    fn settle(&mut self) -> Result<(), SecretError> {
        match (&self.keyring, self.kind) {
            (Some(keyring), SecretStore::Keyring) => {
                let names = self.file.names();
                let (moved, stopped) = moved(&self.file, keyring, &names);
                self.file.note_in_keyring(&moved)?;
                if let Some(cause) = stopped {
                    let left = names.len() - moved.len();
                    let reason =
                        format!("{left} of the keys are still in the file, as the keyring refused them: {cause}");
                    tracing::warn!("{reason}");
                    self.reason = Some(reason);
                } else if !moved.is_empty() {
                    tracing::info!(keys = moved.len(), "keys have moved from the file to the keyring");
                }
            }
            _ => {
                let reason = self.reason.as_deref().unwrap_or_default();
                tracing::info!(%reason, "keys are kept in a file only you can read, which is weaker than a keyring");
                for name in self.file.names_in_keyring() {
                    tracing::warn!(%name, %reason, "a key is in the keyring and cannot be read now");
                }
            }
        }
        Ok(())
    }

    /// Whose secret is in the keyring and not to be had from it without a person.
    fn is_out_of_reach(&self, name: &str) -> bool {
        self.kind == SecretStore::File && self.known.get(name).is_none() && self.file.is_in_keyring(name)
    }

    fn read_keyring(&self, name: &str) -> Result<Option<String>, SecretError> {
        let out_of_reach = |cause: String| SecretError::OutOfReach { cause };
        let Some(keyring) = &self.keyring else {
            return Err(out_of_reach(self.reason.clone().unwrap_or_default()));
        };
        // Where the file was chosen the keyring was locked or gone. It is looked at again, as it may be unlocked by now.
        let person = match self.kind {
            SecretStore::Keyring => Person::MayBeAsked,
            SecretStore::File => Person::MayNotBeAsked,
        };
        let secret = keyring.get(name, person).map_err(out_of_reach)?;
        let secret = secret.ok_or_else(|| out_of_reach("it has no such entry any more".to_owned()))?;
        self.known.set(name, &secret);
        Ok(Some(secret))
    }
}

impl Secrets for HomeSecrets {
    fn get(&self, name: &str) -> Result<Option<String>, SecretError> {
        if let Some(secret) = self.known.get(name) {
            return Ok(Some(secret));
        }
        match self.file.get(name)? {
            Some(secret) => Ok(Some(secret)),
            None if self.file.is_in_keyring(name) => self.read_keyring(name),
            None => Ok(None),
        }
    }

    fn set(&self, name: &str, secret: &str) -> Result<(), SecretError> {
        match (&self.keyring, self.kind) {
            (Some(keyring), SecretStore::Keyring) => {
                keyring.set(name, secret, CALL_MS).map_err(|cause| SecretError::Keyring { cause })?;
                // The other way round a crash between the two would leave a name whose secret is nowhere.
                self.file.note_in_keyring(&[name.to_owned()])?;
                self.known.set(name, secret);
            }
            _ => {
                self.file.set(name, secret)?;
                self.known.remove(name);
            }
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<bool, SecretError> {
        if self.file.is_in_keyring(name) {
            let Some(keyring) = &self.keyring else {
                return Err(SecretError::OutOfReach { cause: self.reason.clone().unwrap_or_default() });
            };
            keyring.remove(name).map_err(|cause| SecretError::OutOfReach { cause })?;
        }
        self.known.remove(name);
        self.file.remove(name)
    }

    fn kind(&self) -> SecretStore {
        self.kind
    }

    fn reason(&self) -> Option<String> {
        self.reason.clone()
    }

    fn out_of_reach(&self) -> Vec<String> {
        self.file.names_in_keyring().into_iter().filter(|name| self.is_out_of_reach(name)).collect()
    }

    fn operation_key(&self) -> [u8; 32] {
        self.file.operation_key()
    }
}

/// Writes secrets of the file to the keyring as well, up to the first that does not work, and says why it stopped.
fn moved(file: &FileSecrets, keyring: &Keyring, names: &[String]) -> (Vec<String>, Option<String>) {
    let mut moved = Vec::new();
    for name in names {
        let result = match file.get(name) {
            Ok(Some(secret)) => keyring.set(name, &secret, START_MS),
            Ok(None) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        match result {
            Ok(()) => moved.push(name.clone()),
            Err(cause) => return (moved, Some(cause)),
        }
    }
    (moved, None)
}

impl Known {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, name: &str) -> Option<String> {
        self.lock().get(name).cloned()
    }

    fn set(&self, name: &str, secret: &str) {
        self.lock().insert(name.to_owned(), secret.to_owned());
    }

    fn remove(&self, name: &str) {
        self.lock().remove(name);
    }
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Known").field(&self.lock().len()).finish()
    }
}
