//! Secrets of a home in memory: gone with the process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ropewalk_protocol::{EndpointId, SecretStore};

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
    fn get(&self, endpoint: &EndpointId) -> Result<Option<String>, SecretError> {
        Ok(self.lock().endpoints.get(endpoint).cloned())
    }

    fn set(&self, endpoint: &EndpointId, secret: &str) -> Result<(), SecretError> {
        self.lock().endpoints.insert(endpoint.clone(), secret.to_owned());
        Ok(())
    }

    fn remove(&self, endpoint: &EndpointId) -> Result<bool, SecretError> {
        Ok(self.lock().endpoints.remove(endpoint).is_some())
    }

    fn kind(&self) -> SecretStore {
        SecretStore::File
    }

    fn operation_key(&self) -> [u8; 32] {
        self.lock().operation_key
    }
}
