//! Placeholder until the method table is there: what a handler is called with.

use std::sync::Arc;

use ropewalk_protocol::OperationId;

use crate::{daemon::Daemon, peer::Client};

/// One request on its way to its handler.
pub struct Call {
    /// The daemon.
    pub daemon: Arc<Daemon>,
    /// Who asks.
    pub client: Arc<Client>,
    /// The operation, where the request names one.
    pub operation: Option<Operation>,
}

/// An operation that is new.
pub struct Operation {
    /// Its id.
    pub id: OperationId,
    /// A keyed digest of method and parameters.
    pub digest: String,
    /// The method.
    pub method: &'static str,
}
