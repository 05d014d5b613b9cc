//! Calls: sent when there is a connection, and again when it was lost before the answer came.

use std::{sync::atomic::Ordering, time::Duration};

use ropewalk_peer::{CallError, Peer};
use ropewalk_protocol::{DaemonShutdown, ErrorDetail, Method};
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::{Instant, sleep, timeout_at};

use super::{Link, NOT_READY_PAUSE, millis, phase::Phase, request::Request, unreadable};
use crate::Error;

impl Link {
    /// Calls a method and reads its answer.
    pub(crate) async fn call<M: Method>(&self, params: &M::Params) -> Result<M::Result, Error> {
        self.call_on::<M>(params).await.map(|(result, _)| result)
    }

    /// As [`Link::call`], with the generation of the connection that the answer came through.
    pub(crate) async fn call_on<M: Method>(&self, params: &M::Params) -> Result<(M::Result, u64), Error> {
        let params = to_raw_value(params).map_err(|error| unreadable(M::NAME, &error))?;
        let (answer, generation) = self.send(M::NAME, &params).await?;
        let result = serde_json::from_str(answer.get()).map_err(|error| unreadable(M::NAME, &error))?;
        Ok((result, generation))
    }

    /// Calls a method with parameters as they are, but for an operation id where one is missing.
    pub(crate) async fn call_raw(&self, method: &str, params: &RawValue) -> Result<Box<RawValue>, Error> {
        self.send(method, params).await.map(|(answer, _)| answer)
    }

    /// Sends a request until it is answered: again when its connection is lost, if that cannot have it done twice, and
    /// when the daemon is not ready for it yet. The time without a connection does not count against its deadline.
    async fn send(&self, method: &str, params: &RawValue) -> Result<(Box<RawValue>, u64), Error> {
        let request = Request::new(method, params)?;
        let (limit, actual) = (self.room(), request.length());
        if actual > limit {
            return Err(Error::TooLarge { method: method.to_owned(), limit, actual });
        }
        if method == DaemonShutdown::NAME {
            // Whoever has a daemon stopped does not have it started again by that.
            self.stops.store(true, Ordering::SeqCst);
        }
        let patience = self.patience + request.wait();
        let late = || Error::Timeout { what: method.to_owned(), after_ms: millis(patience) };
        let (mut deadline, mut sent_at, mut lost) = (Instant::now() + patience, None, None);
        loop {
            let (peer, generation) = self.ready(lost, &mut deadline).await?.ok_or_else(late)?;
            let waited = sent_at.get_or_insert_with(Instant::now).elapsed();
            let params = request.params(if lost.is_some() { waited } else { Duration::ZERO })?;
            let Ok(pending) = peer.start_call(method, &&*params) else {
                lost = Some(generation);
                continue;
            };
            let answer = timeout_at(deadline, pending).await.map_err(|_| late())?;
            match answer {
                Err(CallError::Closed) if request.is_repeatable() => lost = Some(generation),
                Err(CallError::Closed) => return Err(self.interrupted(method)),
                answer => {
                    self.hear();
                    match answer.map_err(|error| Error::of_call(method, error)) {
                        Err(error) if is_not_ready(&error) && Instant::now() + NOT_READY_PAUSE < deadline => {
                            sleep(NOT_READY_PAUSE).await;
                        }
                        Err(error) if self.is_going(&error) => lost = Some(generation),
                        Err(error) => {
                            if method == DaemonShutdown::NAME {
                                self.stops.store(false, Ordering::SeqCst);
                            }
                            return Err(error);
                        }
                        Ok(answer) => return Ok((answer, generation)),
                    }
                }
            }
        }
    }

    /// The connection, another one than that which was lost; none at the deadline, which is put off by the time without
    /// a connection. That time has an end of its own.
    async fn ready(&self, lost: Option<u64>, deadline: &mut Instant) -> Result<Option<(Peer, u64)>, Error> {
        let mut phases = self.phase.subscribe();
        let gone =
            phases.wait_for(|phase| !matches!(phase, Phase::Connected { generation, .. } if Some(*generation) == lost));
        if timeout_at(*deadline, gone).await.is_err() {
            return Ok(None);
        }
        let since = Instant::now();
        let there = phases.wait_for(|phase| !matches!(phase, Phase::Away)).await.map(|phase| phase.clone());
        *deadline += since.elapsed();
        match there {
            Ok(Phase::Connected { peer, generation }) => Ok(Some((peer, generation))),
            Ok(Phase::Over(over)) => Err(over.error()),
            Ok(Phase::Away) | Err(_) => Err(Error::Disconnected),
        }
    }

    /// What is said of a request that may not be sent again.
    fn interrupted(&self, method: &str) -> Error {
        match &*self.phase.borrow() {
            Phase::Over(over) => over.error(),
            _ if method == DaemonShutdown::NAME => Error::Disconnected,
            _ => Error::EffectUnknown { method: method.to_owned() },
        }
    }

    /// Whether a daemon that is ending refused, before anything was done, what the next one can be asked for.
    fn is_going(&self, error: &Error) -> bool {
        matches!(error.kind(), Some(ErrorDetail::ShuttingDown { .. })) && self.is_lasting()
    }
}

/// Whether the same request is worth sending again in a moment.
pub(crate) fn is_not_ready(error: &Error) -> bool {
    matches!(error.kind(), Some(ErrorDetail::Unavailable { reason, .. })
        if reason == "starting" || reason == "operation_in_progress")
}
