//! Who asks, as the catalogue wants to know it.

use crate::{
    catalogue::{Caller, Operation},
    dispatch::Call,
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

/// The operation of a change of a thread.
pub(super) fn operation(call: &Call) -> Option<Operation> {
    caller(call).operation
}
