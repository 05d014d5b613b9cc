//! Secrets of a home in memory: gone with the process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ropewalk_protocol::SecretStore;

use super::{Contents, SecretError, Secrets};

/// Secrets in memory.
#[derive(Debug)]
pub struct MemorySecrets {
    contents: Mutex<Contents>,
}

impl MemorySecrets {
    /// No secrets yet.
    #[must_use]
    pub fn new() -> Self {
        Self { contents: Mutex::new(Contents::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemorySecrets {
    fn default() -> Self {
        Self::new()
    }
}

impl Secrets for MemorySecrets {
    fn get(&self, name: &str) -> Result<Option<String>, SecretError> {
        Ok(self.lock().secrets.get(name).cloned())
    }

    fn set(&self, name: &str, secret: &str) -> Result<(), SecretError> {
        self.lock().secrets.insert(name.to_owned(), secret.to_owned());
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<bool, SecretError> {
        Ok(self.lock().secrets.remove(name).is_some())
    }

    fn kind(&self) -> SecretStore {
        SecretStore::File
    }

    fn reason(&self) -> Option<String> {
        Some("the daemon keeps everything in memory, keys too".to_owned())
    }

    fn operation_key(&self) -> [u8; 32] {
        self.lock().operation_key
    }
}
