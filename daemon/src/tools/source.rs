//! Where tools live: one trait, however they are reached.

use std::sync::Arc;

use futures::future::BoxFuture;
use ropewalk_protocol::{CallId, Change, Part, Severity};
use serde_json::{Map, Value};

use super::{CallFailure, ToolSpec, path::Walked};

/// A call on its way to its source: decided, checked, and not yet made. Nothing but the path can make one, and it can be
/// given away only once.
#[derive(Debug)]
pub struct SourceCall {
    /// Proof that it has come along the path.
    pub walked: Walked,
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub tool: Arc<ToolSpec>,
    /// The arguments it is made with.
    pub arguments: Map<String, Value>,
    /// How long it may be silent.
    pub silence_ms: u64,
    /// How long it may take in all, whatever signs of life there are.
    pub ceiling_ms: u64,
}

/// What a source gives back.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceResult {
    /// What the model is told.
    pub content: Vec<Part>,
    /// Data for clients.
    pub structured_content: Option<Value>,
    /// Further data for clients.
    pub meta: Option<Value>,
    /// What went wrong, where something did.
    pub failure: Option<CallFailure>,
    /// What is known of its effect, where the failure does not say it.
    pub effect: ropewalk_protocol::Effect,
    /// How much attention it deserves, where nothing went wrong.
    pub severity: Severity,
    /// How long it took, where it got as far as being made.
    pub call_ms: Option<u64>,
}

/// What a call would change of what runs may do, or of a document as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Stakes {
    /// What it would change, as a person is shown it.
    pub change: Change,
    /// Whether runs could do more after it than before. Such a call is a person's to allow, each time, whatever the rules
    /// say (APP-141); what they deny stays denied.
    pub widens: bool,
}

/// Where tools live.
pub trait ToolSource: Send + Sync {
    /// Makes a call. Dropping the future takes it back as far as the source can.
    ///
    /// The inner error is a call that could not be made or brought nothing back.
    fn call(&self, call: SourceCall) -> BoxFuture<'_, Result<SourceResult, CallFailure>>;

    /// What a call would change of what runs may do. Nothing for most tools.
    fn stakes<'a>(&'a self, _tool: &'a ToolSpec, _arguments: &'a Map<String, Value>) -> BoxFuture<'a, Option<Stakes>> {
        Box::pin(std::future::ready(None))
    }
}
