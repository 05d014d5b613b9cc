//! The keyrings of the systems we know: the Secret Service on Linux, the keychain on macOS.

use std::sync::Arc;

use keyring_core::{CredentialStore, Error};

use super::KeyringSystem;

/// The one of this system.
pub(super) struct Native;

#[cfg(target_os = "linux")]
impl KeyringSystem for Native {
    fn check(&self) -> Result<(), String> {
        use dbus_secret_service::{EncryptionType, SecretService};

        // The crate behind the store unlocks whatever it touches; this one looks without asking anybody.
        let service = SecretService::connect_with_max_prompt_timeout(EncryptionType::Dh, 0);
        let service = service.map_err(|error| linux_words(&error))?;
        let collection = service.get_default_collection().map_err(|error| linux_words(&error))?;
        match collection.is_locked() {
            Ok(false) => Ok(()),
            Ok(true) => Err("it is locked".to_owned()),
            Err(error) => Err(linux_words(&error)),
        }
    }

    fn open(&self) -> Result<Arc<CredentialStore>, Error> {
        Ok(dbus_secret_service_keyring_store::Store::new()?)
    }
}

#[cfg(target_os = "linux")]
fn linux_words(error: &dbus_secret_service::Error) -> String {
    use dbus_secret_service::Error;

    match error {
        Error::Unavailable => "there is no session bus, or nothing that keeps secrets on it".to_owned(),
        Error::NoResult => {
            "it has no default collection; log in to the desktop once, or make one in its settings".to_owned()
        }
        Error::Dbus(error) => error.message().map_or_else(|| error.to_string(), str::to_owned),
        other => other.to_string(),
    }
}

#[cfg(target_os = "macos")]
impl KeyringSystem for Native {
    fn check(&self) -> Result<(), String> {
        self.open().map(drop).map_err(|error| error.to_string())
    }

    fn open(&self) -> Result<Arc<CredentialStore>, Error> {
        Ok(apple_native_keyring_store::keychain::Store::new()?)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
impl KeyringSystem for Native {
    fn check(&self) -> Result<(), String> {
        Err("this build knows no keyring of this system".to_owned())
    }

    fn open(&self) -> Result<Arc<CredentialStore>, Error> {
        Err(Error::NotSupportedByStore("this build knows no keyring of this system".to_owned()))
    }
}
