//! The one place that holds the connection. Everything that is sent goes through here, so that recovery has one home.

use std::{
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

use ropewalk_peer::Peer;
use ropewalk_protocol::{DaemonStatus, Empty, ErrorDetail, Limits, Method, ToolProgressParams, ToolProgressSent};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::Error;

/// Room for everything of a message that is not its parameters or result.
const ENVELOPE_BYTES: u64 = 4_096;
/// How often a daemon that is still starting is asked again.
const STARTING_PAUSE: Duration = Duration::from_millis(200);
/// After so long without a word a daemon is asked how it is, by those who wait for events.
const QUIET: Duration = Duration::from_secs(60);
/// What the wire says a wait takes when its length is not given.
const DEFAULT_WAIT_MS: u64 = 60_000;

/// The connection to the daemon, and how long its answers may take.
pub(crate) struct Link {
    peer: Mutex<Option<Peer>>,
    limits: OnceLock<Limits>,
    patience: Duration,
    heard: Mutex<Option<Instant>>,
}

impl Link {
    /// A link without a connection; every call on it says that it is disconnected.
    pub(crate) const fn new(patience: Duration) -> Self {
        Self { peer: Mutex::new(None), limits: OnceLock::new(), patience, heard: Mutex::new(None) }
    }

    pub(crate) fn connect(&self, peer: Peer) {
        *self.slot() = Some(peer);
    }

    /// Keeps the limits of the handshake.
    pub(crate) fn learn(&self, limits: &Limits) {
        let _ = self.limits.set(limits.clone());
    }

    /// Forgets the connection and closes it. Calls that wait fail with [`Error::Disconnected`].
    pub(crate) fn disconnect(&self) -> Option<Peer> {
        let peer = self.slot().take();
        if let Some(peer) = &peer {
            peer.close();
        }
        peer
    }

    /// Something came from the daemon.
    pub(crate) fn hear(&self) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Resolves when the daemon is mute: silent for a minute, and then not even saying how it is.
    pub(crate) async fn mute(&self) -> Error {
        loop {
            let heard = *self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            let asked_at = heard.unwrap_or_else(Instant::now) + QUIET;
            sleep_until(asked_at).await;
            let silent =
                self.heard.lock().unwrap_or_else(PoisonError::into_inner).is_none_or(|at| at + QUIET <= asked_at);
            // A refusal is a sign of life as good as any.
            if silent
                && let Err(error) = self.call::<DaemonStatus>(&Empty {}).await
                && error.kind().is_none()
            {
                return error;
            }
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.slot().as_ref().is_some_and(|peer| !peer.is_closed())
    }

    /// The longest parameters or result that fit into a message.
    pub(crate) fn room(&self) -> u64 {
        let limit = self.limits.get().map_or(ropewalk_protocol::limits::MAX_MESSAGE_BYTES, |it| it.max_message_bytes);
        limit.saturating_sub(ENVELOPE_BYTES)
    }

    pub(crate) fn progress(&self, progress: &ToolProgressParams) {
        if let Ok(peer) = self.peer() {
            // On a connection that ends, life is shown by the next offer instead.
            let _ = peer.notify::<ToolProgressSent>(progress);
        }
    }

    /// Calls a method and reads its answer.
    pub(crate) async fn call<M: Method>(&self, params: &M::Params) -> Result<M::Result, Error> {
        let params = to_raw_value(params).map_err(|error| unreadable(M::NAME, &error))?;
        let answer = self.call_raw(M::NAME, &params).await?;
        serde_json::from_str(answer.get()).map_err(|error| unreadable(M::NAME, &error))
    }

    /// Calls a method with parameters as they are. A daemon that is still starting is asked until it is ready or the
    /// patience is at its end.
    pub(crate) async fn call_raw(&self, method: &str, params: &RawValue) -> Result<Box<RawValue>, Error> {
        let actual = params.get().len() as u64;
        if actual > self.room() {
            return Err(Error::TooLarge { method: method.to_owned(), limit: self.room(), actual });
        }
        let patience = self.patience + wait_of(method, params);
        let deadline = Instant::now() + patience;
        loop {
            let peer = self.peer()?;
            let answer = timeout_at(deadline, peer.call_raw(method, Some(params))).await;
            if answer.is_ok() {
                self.hear();
            }
            let answer = answer.map_err(|_| Error::Timeout {
                what: method.to_owned(),
                after_ms: u64::try_from(patience.as_millis()).unwrap_or(u64::MAX),
            })?;
            match answer.map_err(|error| Error::of_call(method, error)) {
                Err(error) if is_starting(&error) && Instant::now() + STARTING_PAUSE < deadline => {
                    sleep(STARTING_PAUSE).await;
                }
                answer => return answer,
            }
        }
    }

    fn peer(&self) -> Result<Peer, Error> {
        self.slot().clone().ok_or(Error::Disconnected)
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Peer>> {
        self.peer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_starting(error: &Error) -> bool {
    matches!(error.kind(), Some(ErrorDetail::Unavailable { reason, .. }) if reason == "starting")
}

/// The waiting a request asks for itself, which comes on top of the patience.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Waits {
    wait: bool,
    wait_ms: u64,
    wait_timeout_ms: Option<u64>,
    timeout_ms: Option<u64>,
    grace_ms: u64,
}

fn wait_of(method: &str, params: &RawValue) -> Duration {
    let waits: Waits = serde_json::from_str(params.get()).unwrap_or_default();
    let millis = match method {
        "run/submit" if waits.wait => waits.wait_timeout_ms.unwrap_or(DEFAULT_WAIT_MS),
        "run/submit" => 0,
        "run/wait" => waits.timeout_ms.unwrap_or(DEFAULT_WAIT_MS),
        // Here `timeoutMs` is what the rule says, not how long to wait.
        "policy/set" => 0,
        _ => waits.wait_ms.max(waits.timeout_ms.unwrap_or(0)).max(waits.grace_ms),
    };
    Duration::from_millis(millis)
}

fn unreadable(method: &str, error: &serde_json::Error) -> Error {
    Error::Unreadable { method: method.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests;
