//! The one way to answer a request: exactly once, also when whoever should have answered is gone.

use std::{any::Any, fmt, sync::Arc};

use ropewalk_protocol::{RequestId, RpcError};
use serde::Serialize;

use crate::{Peer, batch::Batch, encode};

/// Takes the answer to one request. Dropped without one it answers `internal`.
pub struct Responder {
    open: Option<Open>,
}

struct Open {
    peer: Peer,
    id: RequestId,
    batch: Option<Arc<Batch>>,
    after: After,
}

/// What an answer takes along: what to do when it is queued, and what to let go when it is written.
#[derive(Default)]
pub(crate) struct After {
    pub(crate) on_sent: Vec<Box<dyn FnOnce() + Send>>,
    pub(crate) holds: Vec<Box<dyn Any + Send>>,
}

impl Responder {
    pub(crate) fn new(peer: &Peer, id: RequestId, batch: Option<Arc<Batch>>) -> Self {
        Self { open: Some(Open { peer: peer.clone(), id, batch, after: After::default() }) }
    }

    /// Answers with a result.
    pub fn ok(mut self, result: &impl Serialize) {
        let Some(open) = self.open.take() else { return };
        let answer = match encode::result(&open.id, result) {
            Ok(answer) => answer,
            Err(error) => {
                encode::error(&open.id, &encode::internal_error(&format!("a result cannot be written: {error}")))
            }
        };
        open.send(answer);
    }

    /// Answers with a result that is JSON text already, on one line.
    pub fn ok_raw(mut self, result_json: &str) {
        let Some(open) = self.open.take() else { return };
        let answer = encode::raw_result(&open.id, result_json);
        open.send(answer);
    }

    /// Answers with an error.
    pub fn error(mut self, error: RpcError) {
        let Some(open) = self.open.take() else { return };
        let answer = encode::error(&open.id, &error);
        open.send(answer);
    }

    /// Runs `f` when the answer stands in the control lane, so that whatever the feed yields later is sent after it.
    /// Runs too when the connection is over.
    pub fn on_sent(&mut self, f: impl FnOnce() + Send + 'static) {
        if let Some(open) = &mut self.open {
            open.after.on_sent.push(Box::new(f));
        }
    }

    /// Keeps `guard` until the bytes of the answer were written to the stream, or the connection is over. Short answers are
    /// written together, up to 64 KiB of them: of those it is let go when that begins.
    pub fn hold(&mut self, guard: impl Any + Send) {
        if let Some(open) = &mut self.open {
            open.after.holds.push(Box::new(guard));
        }
    }
}

impl Open {
    fn send(self, answer: Vec<u8>) {
        let limit = self.peer.options().max_message_bytes;
        let answer = if answer.len() > limit {
            encode::error(&self.id, &encode::too_large("answer", limit, answer.len() as u64))
        } else {
            answer
        };
        match self.batch {
            Some(batch) => batch.add(&self.id, answer, self.after),
            None => self.peer.send_answer(answer, self.after),
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            if open.peer.is_closed() {
                // Nobody can hear an answer, so a request that was given up with its connection is no fault.
                open.peer.send_answer(Vec::new(), open.after);
                return;
            }
            let answer = encode::error(&open.id, &encode::internal_error("a request was dropped without an answer"));
            open.send(answer);
        }
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder").field("id", &self.open.as_ref().map(|open| &open.id)).finish_non_exhaustive()
    }
}
