//! Calls over one connection that nothing else goes through yet: the handshake, and taking up what was open.

use std::time::Duration;

use ropewalk_peer::{CallError, Peer};
use ropewalk_protocol::{Initialize, InitializeParams, Initialized, Method};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    Error,
    link::{NOT_READY_PAUSE, is_not_ready, millis, unreadable},
};

/// How long a request that the daemon refuses for now is asked again, where it does not say that it is starting.
const REFUSED_FOR: Duration = Duration::from_secs(5);

/// What a client says of itself on every connection.
pub(crate) struct Greeting {
    pub(crate) params: InitializeParams,
    /// How long the handshake may take.
    pub(crate) patience: Duration,
}

/// A connection that is closed when this is dropped, unless it is kept.
pub(crate) struct Wire {
    peer: Option<Peer>,
    patience: Duration,
}

impl Wire {
    pub(crate) const fn new(peer: Peer, patience: Duration) -> Self {
        Self { peer: Some(peer), patience }
    }

    /// The connection is good: it stays.
    pub(crate) fn keep(mut self) -> Peer {
        self.peer.take().expect("it is taken here alone")
    }

    pub(crate) fn peer(&self) -> &Peer {
        self.peer.as_ref().expect("it is there until it is kept")
    }

    /// Shakes hands.
    pub(crate) async fn greet(&self, greeting: &Greeting) -> Result<Initialized, Error> {
        let params = to_raw(&greeting.params)?;
        let answer = self.answer(Initialize::NAME, &params, Instant::now() + greeting.patience).await;
        let answer = answer.map_err(|error| match error {
            Error::Timeout { what, .. } => Error::Timeout { what, after_ms: millis(greeting.patience) },
            error => error,
        })?;
        serde_json::from_str(answer.get()).map_err(|error| unreadable(Initialize::NAME, &error))
    }

    /// Calls a method that may be called twice. A daemon that is starting is asked again until the patience ends, one that
    /// refuses for now for a while: what one thread meets holds up all.
    pub(crate) async fn call<M: Method>(&self, params: &M::Params) -> Result<M::Result, Error> {
        self.read::<M, M::Result>(params).await
    }

    /// As [`Wire::call`], for who reads less of the result, and so knows what it reads in that of a newer daemon too.
    pub(crate) async fn read<M: Method, T: DeserializeOwned>(&self, params: &M::Params) -> Result<T, Error> {
        let params = to_raw(params)?;
        let begun = Instant::now();
        loop {
            match self.answer(M::NAME, &params, begun + self.patience).await {
                Err(error) if error.is_refusal_for_now() => {
                    let patience = if is_not_ready(&error) { self.patience } else { REFUSED_FOR };
                    if begun.elapsed() + NOT_READY_PAUSE >= patience {
                        return Err(error);
                    }
                    sleep(NOT_READY_PAUSE).await;
                }
                answer => {
                    return serde_json::from_str(answer?.get()).map_err(|error| unreadable(M::NAME, &error));
                }
            }
        }
    }

    async fn answer(&self, method: &str, params: &RawValue, deadline: Instant) -> Result<Box<RawValue>, Error> {
        let late = |_| Error::Timeout { what: method.to_owned(), after_ms: millis(self.patience) };
        let answer = timeout_at(deadline, self.peer().call_raw(method, Some(params))).await.map_err(late)?;
        answer.map_err(|error: CallError| Error::of_call(method, error))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let Some(peer) = &self.peer {
            peer.close();
        }
    }
}

fn to_raw(params: &impl Serialize) -> Result<Box<RawValue>, Error> {
    to_raw_value(params)
        .map_err(|error| Error::Unreadable { method: "parameters".to_owned(), reason: error.to_string() })
}
