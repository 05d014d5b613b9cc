//! Reads lines and hands each to whom it is for: the service, or the call it answers.

use std::sync::Arc;

use ropewalk_protocol::{ErrorData, ErrorDetail, RequestId, RpcError};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::AsyncRead;

use crate::{
    CallError, Peer, Request, Responder, Service,
    batch::Batch,
    call::Reply,
    encode,
    envelope::{self, Answer, Line, Message},
    frame::{Frame, Lines},
    scan, sniff,
};

/// How many lines that nobody works for are taken before the writer has its turn.
const LINES_AT_ONCE: u32 = 16;

/// Reads until the stream or the connection ends.
pub(crate) async fn run<R: AsyncRead + Unpin>(stream: R, peer: &Peer, service: &dyn Service) {
    let read = async {
        let mut lines = Lines::new(stream, peer.options().max_message_bytes);
        loop {
            let mut taken = 0_u32;
            while let Some(frame) = lines.take() {
                // Many requests may come in one piece, and each may take long: between any two of them what is answered is
                // written, and other connections have their turn. One that comes alone waits for nobody.
                if taken >= LINES_AT_ONCE {
                    tokio::task::yield_now().await;
                    taken = 0;
                }
                taken += if take_frame(peer, service, frame) { LINES_AT_ONCE } else { 1 };
                peer.room_to_read().await;
                if peer.is_closed() {
                    return Ok(());
                }
            }
            if !lines.fill().await? {
                return Ok::<(), std::io::Error>(());
            }
        }
    };
    tokio::select! {
        biased;
        () = peer.closing().cancelled() => {}
        read = read => if let Err(error) = read {
            tracing::debug!(%error, "a connection cannot be read from any more");
        }
    }
}

/// Takes a line. Whether the service was asked for something.
fn take_frame(peer: &Peer, service: &dyn Service, frame: Frame) -> bool {
    let line = match frame {
        Frame::Line(line) => line,
        Frame::TooLong { head, actual } => {
            take_too_long(peer, &head, actual);
            return false;
        }
    };
    let text = match std::str::from_utf8(&line) {
        Ok(text) => text,
        Err(error) => {
            refuse_text(peer, error.valid_up_to(), "is not UTF-8");
            return false;
        }
    };
    match envelope::read(text, peer.options().max_batch) {
        Ok(Line::One(message)) => {
            let is_request = matches!(message, Message::Request { .. });
            Context { peer, service, batch: None }.take(message, text);
            is_request
        }
        Ok(Line::Batch(members, count)) => {
            take_batch(peer, service, &members, count);
            true
        }
        Err(error) => {
            refuse_text(peer, error.column().saturating_sub(1), "is not JSON");
            false
        }
    }
}

fn take_batch(peer: &Peer, service: &dyn Service, members: &[&RawValue], count: usize) {
    if count == 0 {
        return answer(peer, RequestId::Null, invalid_request("empty_batch"));
    }
    if count > members.len() {
        return answer(peer, RequestId::Null, invalid_request("batch_too_large"));
    }
    let context = Context { peer, service, batch: Some(Arc::new(Batch::new(peer))) };
    for member in members {
        context.take(envelope::read_member(member), member.get());
    }
}

fn take_too_long(peer: &Peer, head: &[u8], actual: u64) {
    let limit = peer.options().max_message_bytes;
    let sniffed = sniff::sniff(head);
    match sniffed.id {
        Some(RequestId::Number(id)) if sniffed.is_answer => {
            peer.settle(Some(id), Err(CallError::TooLarge { what: "answer", limit: limit as u64, actual }));
        }
        // An answer must not be answered: its id could be that of another request in the other direction.
        Some(_) if sniffed.is_answer => peer.settle(None, Err(CallError::Closed)),
        id => answer(peer, id.unwrap_or(RequestId::Null), encode::too_large("message", limit, actual)),
    }
}

/// What a message comes in.
struct Context<'a> {
    peer: &'a Peer,
    service: &'a dyn Service,
    batch: Option<Arc<Batch>>,
}

impl Context<'_> {
    /// Takes a message whose whole text is `text`.
    fn take(&self, message: Message<'_>, text: &str) {
        let options = self.peer.options();
        let too_deep = scan::too_deep(text, options.max_depth);
        match message {
            Message::Request { id, method, params } => {
                let refusal = match too_deep {
                    Some(actual) => Some(encode::too_large("depth", options.max_depth, actual as u64)),
                    None => params.and_then(|params| scan::flaw(params.get())).map(unrepresentable),
                };
                let responder = Responder::new(self.peer, id.clone(), self.batch.clone());
                if let Some(error) = refusal {
                    return responder.error(error);
                }
                let params = params.map(ToOwned::to_owned);
                let in_batch = self.batch.is_some();
                self.service.request(self.peer, Request { id, method, params, in_batch, responder });
            }
            Message::Notification { method, params } => {
                if too_deep.is_some() || params.is_some_and(|params| scan::flaw(params.get()).is_some()) {
                    tracing::debug!(method, "a notification that cannot be represented was ignored");
                    return;
                }
                self.service.notification(self.peer, method, params.map(ToOwned::to_owned));
            }
            Message::Answer { id, outcome } => {
                let reply = match too_deep {
                    Some(actual) => Err(CallError::TooLarge {
                        what: "depth",
                        limit: options.max_depth as u64,
                        actual: actual as u64,
                    }),
                    None => reply_of(outcome),
                };
                self.peer.settle(id, reply);
            }
            Message::Invalid { id, reason } => {
                Responder::new(self.peer, id, self.batch.clone()).error(invalid_request(reason));
            }
        }
    }
}

fn reply_of(outcome: Answer<'_>) -> Reply {
    match outcome {
        Answer::Result(result) => match scan::flaw(result.get()) {
            None => Ok(result.to_owned()),
            Some(scan::Flaw { path, reason }) => {
                Err(CallError::Unrepresentable(format!("holds a {} at {path}", reason.replace('_', " "))))
            }
        },
        Answer::Error(error) => Err(error_of(error)),
        Answer::Both => Err(CallError::Unreadable("it has both a result and an error".to_owned())),
    }
}

/// An error of the other end, which need not be a Ropewalk program.
fn error_of(raw: &RawValue) -> CallError {
    #[derive(Deserialize)]
    struct Plain {
        code: i32,
        #[serde(default)]
        message: String,
    }
    if let Ok(error) = serde_json::from_str(raw.get()) {
        return CallError::Rpc(error);
    }
    match serde_json::from_str::<Plain>(raw.get()) {
        Ok(Plain { code, message }) => {
            let detail = match code {
                -32601 => ErrorDetail::MethodNotFound { method: String::new() },
                _ => ErrorDetail::Internal { reference: String::new() },
            };
            let data = ErrorData { detail, retryable: false, retry_after_ms: None };
            CallError::Rpc(RpcError { code, message, data })
        }
        Err(error) => CallError::Unreadable(format!("its error is none: {error}")),
    }
}

fn refuse_text(peer: &Peer, position: usize, what: &str) {
    let message = format!("The line {what} from byte {position} on. Send one JSON-RPC 2.0 message a line.");
    answer(peer, RequestId::Null, RpcError::new(ErrorDetail::Parse { position: Some(position as u64) }, message));
}

fn invalid_request(reason: &str) -> RpcError {
    // A reason is one word for programs; the version's dot does not survive in it.
    let words = reason.replace('_', " ").replace("2 0", "\"2.0\"");
    let message = format!("This is no JSON-RPC 2.0 request: {words}.");
    RpcError::new(ErrorDetail::InvalidRequest { reason: reason.to_owned() }, message)
}

fn unrepresentable(flaw: scan::Flaw) -> RpcError {
    let message = format!(
        "The parameters hold what cannot be represented at \"{}\": {}.",
        flaw.path,
        flaw.reason.replace('_', " ")
    );
    RpcError::invalid_params(flaw.path, flaw.reason, message)
}

fn answer(peer: &Peer, id: RequestId, error: RpcError) {
    Responder::new(peer, id, None).error(error);
}
