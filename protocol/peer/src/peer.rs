//! The handle of one end: calls, notifications, and how the connection is.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use ropewalk_protocol::{Method, Notification};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{
    CallError, Closed, Options, Pending,
    call::Reply,
    encode,
    responder::After,
    writer::{Outgoing, Queue},
};

/// One end of a connection. Clones are the same end.
#[derive(Clone)]
pub struct Peer(Arc<Inner>);

struct Inner {
    options: Options,
    control: mpsc::UnboundedSender<Outgoing>,
    /// Bytes in the control lane.
    queued_bytes: AtomicUsize,
    drained: Notify,
    /// Absent when the connection is over.
    pending: Mutex<Option<HashMap<i64, oneshot::Sender<Reply>>>>,
    next_id: AtomicI64,
    ignored_answers: AtomicU64,
    /// The end was decided.
    closing: CancellationToken,
    /// The end was reached: nothing is read or written any more.
    closed: CancellationToken,
}

impl Peer {
    pub(crate) fn new(options: Options) -> (Self, Queue) {
        let (control, queue) = mpsc::unbounded_channel();
        let inner = Inner {
            options,
            control,
            queued_bytes: AtomicUsize::new(0),
            drained: Notify::new(),
            pending: Mutex::new(Some(HashMap::new())),
            next_id: AtomicI64::new(1),
            ignored_answers: AtomicU64::new(0),
            closing: CancellationToken::new(),
            closed: CancellationToken::new(),
        };
        (Self(Arc::new(inner)), queue)
    }

    /// A connection that is over: whatever is sent on it is lost, and every call fails as closed.
    #[must_use]
    pub fn of_nobody() -> Self {
        let (peer, _) = Self::new(Options::default());
        peer.end();
        peer.ended();
        peer
    }

    /// Calls a method and reads its result.
    ///
    /// # Errors
    /// As [`CallError`] says. Dropping the future forgets the call; the other end is not told.
    pub async fn call<M: Method>(&self, params: &M::Params) -> Result<M::Result, CallError> {
        let result = self.start_call(M::NAME, params).map_err(|Closed| CallError::Closed)?.await?;
        serde_json::from_str(result.get()).map_err(|error| CallError::Unreadable(error.to_string()))
    }

    /// Calls a method by its name.
    ///
    /// # Errors
    /// As [`CallError`] says.
    pub async fn call_raw(&self, method: &str, params: Option<&RawValue>) -> Result<Box<RawValue>, CallError> {
        self.start(method, params).map_err(|Closed| CallError::Closed)?.await
    }

    /// Sends a request and returns what its answer will come through. A request that cannot be sent because of its size
    /// resolves to its error.
    ///
    /// # Errors
    /// When the connection is over.
    pub fn start_call(&self, method: &str, params: &impl Serialize) -> Result<Pending, Closed> {
        self.start(method, Some(params))
    }

    /// Sends a notification. One that is longer than a line may be is logged and not sent.
    ///
    /// # Errors
    /// When the connection is over.
    pub fn notify<N: Notification>(&self, params: &N::Params) -> Result<(), Closed> {
        match encode::notification_line::<N>(params) {
            Ok(line) if self.fits(&line) => self.send_line(line),
            Ok(line) => {
                tracing::error!(method = N::NAME, bytes = line.len(), "a notification is too large to be sent");
                Ok(())
            }
            Err(error) => {
                tracing::error!(method = N::NAME, %error, "a notification cannot be written");
                Ok(())
            }
        }
    }

    /// Sends a whole line, its line break included, that was encoded once for many.
    ///
    /// # Errors
    /// When the connection is over.
    pub fn send_line(&self, line: Bytes) -> Result<(), Closed> {
        self.send(Outgoing { line, holds: Vec::new() })
    }

    /// Ends the connection: no more is read, what stands in the control lane is written within the grace of the
    /// options, and calls that wait fail.
    pub fn close(&self) {
        self.end();
    }

    /// Whether the end of the connection was decided, by either side.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.closing.is_cancelled()
    }

    /// Resolves when nothing is read or written any more.
    pub async fn closed(&self) {
        self.0.closed.cancelled().await;
    }

    /// Bytes in the control lane. Whoever sends without being asked looks here, so as not to fill the memory with what
    /// nobody reads.
    #[must_use]
    pub fn queued_bytes(&self) -> usize {
        self.0.queued_bytes.load(Ordering::Acquire)
    }

    /// How many answers came that nobody waited for.
    #[must_use]
    pub fn ignored_answers(&self) -> u64 {
        self.0.ignored_answers.load(Ordering::Relaxed)
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// Decides the end. Waiting calls fail at once.
    pub(crate) fn end(&self) {
        self.0.closing.cancel();
        let pending = self.0.pending.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(pending);
    }

    pub(crate) fn ended(&self) {
        self.0.closed.cancel();
    }

    /// Queues an answer without its line break, then does what was to be done after it.
    pub(crate) fn send_answer(&self, mut answer: Vec<u8>, after: After) {
        answer.push(b'\n');
        // When the connection is over the answer is lost, and what it holds is let go all the same.
        let _ = self.send(Outgoing { line: answer.into(), holds: after.holds });
        for f in after.on_sent {
            f();
        }
    }

    /// Hands an answer to the call that waits for it.
    pub(crate) fn settle(&self, id: Option<i64>, reply: Reply) {
        let waiting = id.and_then(|id| self.take_pending(id));
        // A call may be given up between being found and being answered.
        if waiting.is_none_or(|waiting| waiting.send(reply).is_err()) {
            self.0.ignored_answers.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn forget(&self, id: i64) {
        self.take_pending(id);
    }

    /// The writer has taken `bytes` off the control lane.
    pub(crate) fn written(&self, bytes: usize) {
        self.0.queued_bytes.fetch_sub(bytes, Ordering::AcqRel);
        if self.0.options.pause_reading_above_bytes.is_some() {
            self.0.drained.notify_one();
        }
    }

    /// Waits until the control lane is short enough for more to be read.
    pub(crate) async fn room_to_read(&self) {
        let Some(bound) = self.0.options.pause_reading_above_bytes else { return };
        while self.0.queued_bytes.load(Ordering::Acquire) > bound {
            self.0.drained.notified().await;
        }
    }

    fn start(&self, method: &str, params: Option<&(impl Serialize + ?Sized)>) -> Result<Pending, Closed> {
        let id = self.0.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = oneshot::channel();
        let pending = Pending { peer: self.clone(), id, reply };
        let line = match encode::call_line(Some(id), method, params.as_ref()) {
            Ok(line) if self.fits(&line) => line,
            Ok(line) => {
                let (limit, actual) = (self.0.options.max_message_bytes as u64, line.len() as u64 - 1);
                let _ = sender.send(Err(CallError::TooLarge { what: "request", limit, actual }));
                return Ok(pending);
            }
            Err(error) => {
                let _ = sender.send(Err(CallError::Unreadable(format!("the request cannot be written: {error}"))));
                return Ok(pending);
            }
        };
        match &mut *self.0.pending.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(waiting) => waiting.insert(id, sender),
            None => return Err(Closed),
        };
        self.send_line(line)?;
        Ok(pending)
    }

    fn fits(&self, line: &[u8]) -> bool {
        line.len() <= self.0.options.max_message_bytes + 1
    }

    fn take_pending(&self, id: i64) -> Option<oneshot::Sender<Reply>> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.remove(&id)
    }

    fn send(&self, outgoing: Outgoing) -> Result<(), Closed> {
        if self.is_closed() {
            return Err(Closed);
        }
        self.0.queued_bytes.fetch_add(outgoing.line.len(), Ordering::AcqRel);
        self.0.control.send(outgoing).map_err(|_| Closed)
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}
