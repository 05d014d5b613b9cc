//! The daemon itself and its settings.

use ropewalk_protocol::{
    BackupParams, BackupResult, CheckResult, DaemonBackup, DaemonCheck, DaemonShutdown, DaemonState, DaemonStatus,
    Empty, Settings as Values, SettingsRead, ShutdownParams,
};

use super::{noun, verbs};
use crate::Error;

noun! {
    /// The daemon itself.
    Daemon
}

impl Daemon {
    /// How the daemon is.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn status(&self) -> Result<DaemonState, Error> {
        self.client.call::<DaemonStatus>(Empty {}).await
    }

    /// Stops the daemon for everybody: it takes no more work, parks what runs, writes everything down and exits.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn shutdown(&self, params: ShutdownParams) -> Result<(), Error> {
        self.client.call::<DaemonShutdown>(params).await.map(|Empty {}| ())
    }

    /// Writes everything but the secrets into a new file of that absolute path, as it is at one moment.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn backup(&self, path: impl Into<String>) -> Result<BackupResult, Error> {
        self.client.call::<DaemonBackup>(BackupParams { path: path.into() }).await
    }

    /// Looks whether what is stored is whole, and the index what follows from the logs.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn check(&self) -> Result<CheckResult, Error> {
        self.client.call::<DaemonCheck>(Empty {}).await
    }
}

noun! {
    /// Settings of the daemon.
    Settings
}

impl Settings {
    /// The settings as they are.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn read(&self) -> Result<Values, Error> {
        Ok(self.client.call::<SettingsRead>(Empty {}).await?.settings)
    }

    verbs! {
        /// Changes settings: what is named is set, null clears.
        update = SettingsUpdate;
    }
}
