//! One connection as the daemon sees it: admits each request, and has it answered.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU8, Ordering},
};

use futures::FutureExt;
use ropewalk_peer::{Peer, Request, Responder, Service};
use ropewalk_protocol::{
    CancelRequest, CancelRequestParams, DaemonShutdown, Initialize, Lane, Method, MethodEntry, Notification, RequestId,
    RpcError,
};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::{
    Serving,
    admission::{Class, Load, Permit},
    connections::Slot,
    grace_ms,
    refusals::{
        already_initialized, cancelled, method_not_found, not_initialized, shutting_down, starting, waits_in_batch,
    },
    waits::Waits,
};
use crate::dispatch::{Call, Host, Peek, Standing, UntilAnswered, answer, is_answered_while_starting};

const NEW: u8 = 0;
const IN_HANDSHAKE: u8 = 1;
const INITIALIZED: u8 = 2;

/// One connection.
pub(crate) struct Session<H: Host> {
    serving: Serving<H>,
    client: Arc<H::Client>,
    load: Arc<Load>,
    handshake: Arc<AtomicU8>,
    waits: Arc<Waits>,
    /// Cancelled with the end of the connection.
    over: CancellationToken,
    slot: Mutex<Option<Slot>>,
}

/// A request that may be answered.
struct Admitted {
    entry: &'static MethodEntry,
    peek: Peek,
    permit: Permit,
}

impl<H: Host> Session<H> {
    pub(crate) fn new(serving: Serving<H>, client: Arc<H::Client>, load: Arc<Load>, slot: Slot) -> Self {
        Self {
            serving,
            client,
            load,
            handshake: Arc::default(),
            waits: Arc::default(),
            over: CancellationToken::new(),
            slot: Mutex::new(Some(slot)),
        }
    }

    fn admit(&self, method: &str, params: Option<&RawValue>, in_batch: bool) -> Result<Admitted, RpcError> {
        self.check_handshake(method)?;
        let Some(entry) = self.serving.table.entry(method) else { return Err(method_not_found(method)) };
        check_standing(self.serving.host.standing(), entry)?;
        let peek = Peek::at(entry, params)?;
        if in_batch && peek.waits {
            return Err(waits_in_batch(method));
        }
        let permit = self.load.admit(Class::of(entry.lane, peek.waits))?;
        if method == Initialize::NAME
            && self.handshake.compare_exchange(NEW, IN_HANDSHAKE, Ordering::AcqRel, Ordering::Acquire).is_err()
        {
            return Err(already_initialized());
        }
        Ok(Admitted { entry, peek, permit })
    }

    fn check_handshake(&self, method: &str) -> Result<(), RpcError> {
        let state = self.handshake.load(Ordering::Acquire);
        match (method == Initialize::NAME, state) {
            (true, NEW) | (false, INITIALIZED) => Ok(()),
            (true, _) => Err(already_initialized()),
            (false, _) => Err(not_initialized()),
        }
    }

    /// Answers an admitted request: at once if its handler is ready at once, else in a task of its own.
    fn start(
        &self,
        admitted: Admitted,
        id: Option<RequestId>,
        params: Option<Box<RawValue>>,
        in_batch: bool,
        responder: Option<Responder>,
    ) {
        let Admitted { entry, peek, permit } = admitted;
        let until_answered = UntilAnswered::default();
        let wait = peek.waits.then(|| self.waits.begin(id, &self.over));
        let call = Call {
            daemon: self.serving.host.clone(),
            client: self.client.clone(),
            method: entry.name,
            on_behalf: None,
            operation: None,
            replay: None,
            cancel: wait.as_ref().map_or_else(|| self.over.clone(), |wait| wait.token.clone()),
            in_batch,
            until_answered: until_answered.clone(),
            claim: Arc::default(),
        };
        let serving = self.serving.clone();
        let handshake = (entry.name == Initialize::NAME).then(|| self.handshake.clone());
        let mut work = Box::pin(async move {
            let answering = answer(&serving.table, call, params.as_deref(), peek.operation_id, peek.waits);
            let answered = match wait {
                None => answering.await,
                Some(wait) => tokio::select! {
                    biased;
                    () = wait.token.cancelled() => Err(cancelled()),
                    () = serving.connections.end_of_waiting().cancelled() => Err(shutting_down(grace_ms(&*serving.host))),
                    answered = answering => answered,
                },
            };
            if let Some(handshake) = handshake {
                handshake.store(if answered.is_ok() { INITIALIZED } else { NEW }, Ordering::Release);
            }
            respond(responder, answered, permit, until_answered);
        });
        if work.as_mut().now_or_never().is_none() {
            tokio::spawn(work);
        }
    }
}

impl<H: Host> Service for Session<H> {
    fn request(&self, _: &Peer, request: Request) {
        let Request { id, method, params, in_batch, responder } = request;
        match self.admit(&method, params.as_deref(), in_batch) {
            Ok(admitted) => self.start(admitted, Some(id), params, in_batch, Some(responder)),
            Err(error) => responder.error(error),
        }
    }

    fn notification(&self, _: &Peer, method: String, params: Option<Box<RawValue>>) {
        if self.handshake.load(Ordering::Acquire) != INITIALIZED {
            return;
        }
        if method == CancelRequest::NAME {
            let params = params.and_then(|params| serde_json::from_str::<CancelRequestParams>(params.get()).ok());
            if let Some(CancelRequestParams { id }) = params {
                self.waits.cancel(&id);
            }
        } else if self.serving.table.entry(&method).is_some() {
            // A request whose sender does not want to know how it went.
            if let Ok(admitted) = self.admit(&method, params.as_deref(), false) {
                self.start(admitted, None, params, false, None);
            }
        } else {
            self.serving.host.notification(&self.client, &method, params.as_deref());
        }
    }

    fn closed(&self, _: &Peer) {
        self.over.cancel();
        self.serving.host.disconnected(&self.client);
        drop(self.slot.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

fn respond(
    responder: Option<Responder>,
    answered: Result<String, RpcError>,
    permit: Permit,
    until_answered: UntilAnswered,
) {
    let Some(mut responder) = responder else { return until_answered.release() };
    responder.hold(permit);
    responder.on_sent(move || until_answered.release());
    match answered {
        Ok(result) => responder.ok_raw(&result),
        Err(error) => responder.error(error),
    }
}

fn check_standing(standing: Standing, entry: &MethodEntry) -> Result<(), RpcError> {
    match standing {
        Standing::Starting { progress } if !is_answered_while_starting(entry) => Err(starting(progress)),
        // Stopping twice is no new work.
        Standing::Stopping { grace_ms } if entry.lane == Lane::Work && entry.name != DaemonShutdown::NAME => {
            Err(shutting_down(grace_ms))
        }
        _ => Ok(()),
    }
}
