//! Who asks, as the catalogue wants to know it.

use ropewalk_protocol::Revision;

use crate::{
    catalogue::{Caller, Operation},
    dispatch::Call,
    engine::Deletion,
};

/// The caller of a change of the catalogue.
pub(super) fn caller(call: &Call) -> Caller {
    Caller {
        client: Some(call.client.client_ref()),
        operation: call.operation.as_ref().map(|operation| Operation {
            id: operation.id.clone(),
            digest: operation.digest.clone(),
            method: operation.method.to_string(),
        }),
    }
}

/// A deletion as it was asked for: rehearsed or not, based on a revision or none. What is sent of it comes after the answer,
/// as the events of a stop do.
pub(super) fn deletion(call: &Call, dry_run: Option<bool>, expected_revision: Option<Revision>) -> Deletion {
    call.keep_until_answered(call.client.feed().hold());
    Deletion {
        dry_run: dry_run.unwrap_or(false),
        expected_revision,
        by: call.client.client_ref(),
        operation: operation(call),
    }
}

/// The operation of a change of a thread.
pub(super) fn operation(call: &Call) -> Option<Operation> {
    caller(call).operation
}
