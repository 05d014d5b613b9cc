//! The transport: messages as lines, over a child's pipes or an in-process pair. What must be right is held, what may be
//! ignored is counted and skipped (K04), and no line grows without bound (K08).
//!
//! Results of tool lists and tool calls are handed on as the server wrote them: read into types, one odd tool would take its
//! whole list with it (K01), and a schema would lose what the types do not know (K02).

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use rmcp::{
    RoleClient,
    model::{
        ClientJsonRpcMessage, ClientRequest, CustomResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
        ServerJsonRpcMessage, ServerResult,
    },
    transport::Transport,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{mpsc, watch},
};

use super::{
    beginning::Beginning,
    diagnostics::Diagnostics,
    reader::{Line, LineReader},
};

/// Bytes of one line; what is longer is skipped, and the call it answers fails.
pub const LINE_BYTES: usize = 16 << 20;

/// Messages that were read and not yet taken.
const INCOMING: usize = 64;

/// Bytes that may wait to be written to a server that does not read.
const OUTGOING_BYTES: usize = 32 << 20;

/// In the data of an error that we made ourselves in the place of an answer: what was wrong with it.
pub(super) const OURS: &str = "ropewalk";

/// The answer was longer than a line may be.
pub(super) const OVERSIZED: &str = "oversized";

/// The answer was no JSON that can be represented.
pub(super) const UNREADABLE: &str = "unreadable";

/// How a request's answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Handed on as it is.
    Raw,
    /// Read into types.
    Typed,
    /// Read into types, and what is no answer to the question which protocols it speaks is a refusal of that question: some
    /// servers answer all they do not know with an empty result, and these are greeted the old way.
    Discovery,
}

/// Requests that have no answer yet.
type Awaited = Arc<Mutex<BTreeMap<String, (RequestId, Reading)>>>;

/// A connection with a server, as lines.
pub struct Lines {
    incoming: mpsc::Receiver<ServerJsonRpcMessage>,
    outgoing: Option<mpsc::UnboundedSender<Vec<u8>>>,
    waiting_bytes: Arc<AtomicUsize>,
    awaited: Awaited,
}

/// Whether a server's side of a connection has ended.
pub type Ended = watch::Receiver<bool>;

impl Lines {
    /// Begins to read and write. Whoever writes on the other side is read until it ends, even when nobody takes anything any
    /// more: a pipe nobody drains would stop the server (K07).
    pub fn over(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
        diagnostics: Diagnostics,
    ) -> (Self, Ended) {
        let (sender, incoming) = mpsc::channel(INCOMING);
        let (outgoing, to_write) = mpsc::unbounded_channel();
        let (ended, has_ended) = watch::channel(false);
        let (awaited, waiting_bytes) = (Awaited::default(), Arc::<AtomicUsize>::default());
        let parser = Parser { awaited: awaited.clone(), diagnostics };
        tokio::spawn(async move {
            read_all(LineReader::new(read, LINE_BYTES), parser, sender).await;
            ended.send_replace(true);
        });
        tokio::spawn(write_all(write, to_write, waiting_bytes.clone()));
        (Self { incoming, outgoing: Some(outgoing), waiting_bytes, awaited }, has_ended)
    }

    fn enqueue(&self, message: &ClientJsonRpcMessage) -> io::Result<()> {
        let closed = || io::Error::new(io::ErrorKind::NotConnected, "the connection is closed");
        let outgoing = self.outgoing.as_ref().ok_or_else(closed)?;
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let length = line.len();
        if self.waiting_bytes.fetch_add(length, Ordering::Relaxed) + length > OUTGOING_BYTES {
            self.waiting_bytes.fetch_sub(length, Ordering::Relaxed);
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "the server does not read what it is sent"));
        }
        if let JsonRpcMessage::Request(request) = message {
            let reading = match request.request {
                ClientRequest::CallToolRequest(_) | ClientRequest::ListToolsRequest(_) => Reading::Raw,
                ClientRequest::DiscoverRequest(_) => Reading::Discovery,
                _ => Reading::Typed,
            };
            let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
            awaited.insert(key(&request.id), (request.id.clone(), reading));
        }
        outgoing.send(line).map_err(|_| closed())
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    /// Messages go out in the order in which they are sent: each is queued before this returns.
    fn send(&mut self, item: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        std::future::ready(self.enqueue(&item))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outgoing = None;
        Ok(())
    }
}

async fn write_all(
    mut write: impl AsyncWrite + Send + Unpin,
    mut lines: mpsc::UnboundedReceiver<Vec<u8>>,
    waiting_bytes: Arc<AtomicUsize>,
) {
    while let Some(line) = lines.recv().await {
        let written = write.write_all(&line).await;
        waiting_bytes.fetch_sub(line.len(), Ordering::Relaxed);
        if written.is_err() || lines.is_empty() && write.flush().await.is_err() {
            return;
        }
    }
    // The end of what it reads is how a server is told to go.
    let _ = write.shutdown().await;
}

async fn read_all<R: AsyncRead + Unpin>(
    mut reader: LineReader<R>,
    parser: Parser,
    sender: mpsc::Sender<ServerJsonRpcMessage>,
) {
    // Of a line that goes on: whether it has failed its call already.
    let mut has_failed = None;
    loop {
        let messages = match reader.next().await {
            Line::Whole(line) => parser.messages(line),
            Line::TooLong { head } => {
                parser.diagnostics.oversized();
                let failed = parser.too_long(head);
                has_failed = Some(failed.is_some());
                failed.into_iter().collect()
            }
            Line::Oversized { head, tail } => {
                let was_said = has_failed.take();
                if was_said.is_none() {
                    parser.diagnostics.oversized();
                }
                match was_said {
                    Some(true) => Vec::new(),
                    _ => parser.failed_answer(head, tail, OVERSIZED).into_iter().collect(),
                }
            }
            Line::End => return,
        };
        for message in messages {
            // Nobody takes it any more; what comes is still read, so that the server can end.
            let _ = sender.send(message).await;
        }
    }
}

/// Makes messages of lines.
struct Parser {
    awaited: Awaited,
    diagnostics: Diagnostics,
}

impl Parser {
    fn messages(&self, line: &[u8]) -> Vec<ServerJsonRpcMessage> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Vec::new();
        }
        match serde_json::from_slice(line) {
            Ok(Value::Array(batch)) => batch.into_iter().filter_map(|value| self.message(value, line)).collect(),
            Ok(value) => self.message(value, line).into_iter().collect(),
            Err(_) => {
                let answer = self.failed_answer(line, line, UNREADABLE);
                if answer.is_none() {
                    self.diagnostics.junk(line);
                }
                answer.into_iter().collect()
            }
        }
    }

    fn message(&self, mut value: Value, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let fields = value.as_object_mut();
        let is_answer = |fields: &serde_json::Map<String, Value>| {
            !fields.contains_key("method") && (fields.contains_key("result") || fields.contains_key("error"))
        };
        match fields {
            Some(fields) if is_answer(fields) => self.answer(fields),
            Some(fields) if fields.get("method").is_some_and(Value::is_string) => {
                fields.insert("jsonrpc".to_owned(), json!("2.0"));
                let message = serde_json::from_value(value);
                if message.is_err() {
                    self.diagnostics.stray();
                }
                message.ok()
            }
            _ => {
                self.diagnostics.junk(line);
                None
            }
        }
    }

    /// The answer to a request of ours; one that nobody waits for is counted (M57).
    fn answer(&self, fields: &mut serde_json::Map<String, Value>) -> Option<ServerJsonRpcMessage> {
        let id = fields.get("id").filter(|id| !id.is_null());
        let known = id.and_then(|id| self.take(&key_of(id)));
        if let Some(error) = fields.get("error").filter(|error| !error.is_null()) {
            if id.is_some() && known.is_none() {
                self.diagnostics.stray();
                return None;
            }
            return Some(ServerJsonRpcMessage::error(error_of(error), known.map(|(id, _)| id)));
        }
        let Some((id, reading)) = known else {
            self.diagnostics.stray();
            return None;
        };
        let result = fields.remove("result").unwrap_or_default();
        let typed = match reading {
            Reading::Raw => None,
            Reading::Typed | Reading::Discovery => serde_json::from_value(result.clone()).ok(),
        };
        if reading == Reading::Discovery && !matches!(typed, Some(ServerResult::DiscoverResult(_))) {
            let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "The answer is none to server/discover.", None);
            return Some(ServerJsonRpcMessage::error(error, Some(id)));
        }
        let result = typed.unwrap_or_else(|| ServerResult::CustomResult(CustomResult::new(result)));
        Some(ServerJsonRpcMessage::response(result, id))
    }

    /// An error in the place of an answer that cannot be read, where it can be told what it answers.
    fn failed_answer(&self, head: &[u8], tail: &[u8], what: &str) -> Option<ServerJsonRpcMessage> {
        let (id, _) = Beginning::of(head).id.and_then(|id| self.take(&id)).or_else(|| self.take(&last_id(tail)?))?;
        Some(failed(id, what))
    }

    /// An error in the place of an answer that is too long already, and has not ended. One that says at its end what it answers
    /// can only answer the one request there is; of several it is waited for to say which.
    fn too_long(&self, head: &[u8]) -> Option<ServerJsonRpcMessage> {
        let begun = Beginning::of(head);
        if let Some(id) = &begun.id {
            return self.take(id).map(|(id, _)| failed(id, OVERSIZED));
        }
        let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        // Only what is handed on as it is can be long.
        let mut long = awaited.iter().filter(|(_, (_, reading))| *reading == Reading::Raw).map(|(key, _)| key.clone());
        let only = long.next().filter(|_| begun.is_answer && long.next().is_none())?;
        awaited.remove(&only).map(|(id, _)| failed(id, OVERSIZED))
    }

    fn take(&self, id: &str) -> Option<(RequestId, Reading)> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

fn error_of(error: &Value) -> ErrorData {
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), ToOwned::to_owned);
    // What we say ourselves in the data of an error is never taken from a server.
    let data = error.get("data").filter(|data| data.get(OURS).is_none()).cloned();
    ErrorData::new(ErrorCode(code.unwrap_or(-32_000)), message, data)
}

/// An id as a key: a number that comes back as text is the same id.
fn key(id: &RequestId) -> String {
    id.to_string()
}

/// The same, of an id as it came.
pub(super) fn key_of(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), ToOwned::to_owned)
}

fn failed(id: RequestId, what: &str) -> ServerJsonRpcMessage {
    let data = json!({ OURS: what });
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, "The answer cannot be read.", Some(data));
    ServerJsonRpcMessage::error(error, Some(id))
}

/// The last id in the end of a line. What a result has inside of itself comes before that of the message, where that is at the
/// end at all.
fn last_id(tail: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(tail);
    let (_, rest) = text.rsplit_once("\"id\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let id: String = rest.trim_start_matches('"').chars().take_while(char::is_ascii_digit).collect();
    (!id.is_empty()).then_some(id)
}
