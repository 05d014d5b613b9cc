//! What the engine knows of an attached client. The room above implements it.

use ropewalk_protocol::{
    Capabilities, ClientRef, InteractionId, InteractionInvalidAnswerParams, InteractionSettledParams, ThreadId,
};
use serde_json::value::RawValue;
use std::sync::Arc;

use super::ThreadHandle;

/// The reason of an error that stands for a result no JSON value can hold; its message says what the result does, as in
/// "holds a repeated key at /a". A tool that answered so has done its work.
pub const UNREPRESENTABLE_RESULT: &str = "unrepresentable_result";

/// One socket connection of one client, in this life of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// A request of the daemon to a client.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The interaction it belongs to.
    pub interaction_id: InteractionId,
    /// The method: `tool/call`, `approval/request` or `input/request`.
    pub method: &'static str,
    /// The parameters, with arguments.
    pub params: Arc<RawValue>,
    /// How often the interaction has been offered with this.
    pub attempt: u64,
}

/// Who is told that a thread has something new.
pub trait Subscriber: Send + Sync {
    /// The thread's bus has something new. Must not block.
    fn wake(&self, thread: &ThreadId);
}

/// A client that is attached to a thread.
pub trait AttachedClient: Send + Sync {
    /// Its connection.
    fn connection(&self) -> ConnectionId;
    /// Which process it is.
    fn client_ref(&self) -> &ClientRef;
    /// Whether the process named itself, so that it can come back.
    fn is_lasting(&self) -> bool;
    /// What it can do for the daemon.
    fn capabilities(&self) -> Capabilities;
    /// Asks it. Its answer comes back through [`ThreadHandle::answered`], however late.
    fn offer(&self, offer: Offer, thread: ThreadHandle);
    /// Tells it that an interaction it was offered is over, and forgets the request.
    fn settled(&self, params: &InteractionSettledParams);
    /// Forgets a thread that was deleted; it is attached to it no more.
    fn thread_gone(&self, thread: &ThreadId);
    /// Tells it that its answer was refused.
    fn invalid_answer(&self, params: &InteractionInvalidAnswerParams);
}
