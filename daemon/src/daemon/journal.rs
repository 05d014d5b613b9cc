//! The journal of operations: rows of the index, and a keyed digest that tells one request from another.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use ropewalk_protocol::{OperationId, RpcError};
use sha2::Sha256;

use crate::{
    engine::{rows, storage_error},
    store::{OperationRow, Store, keys},
};

/// The journal over the store's rows.
pub struct OperationJournal {
    store: Arc<dyn Store>,
    key: [u8; 32],
}

impl OperationJournal {
    /// The journal of a home, with the key that its secrets hold.
    pub fn new(store: Arc<dyn Store>, key: [u8; 32]) -> Self {
        Self { store, key }
    }

    /// The operation of this id, if one was committed.
    ///
    /// # Errors
    /// `unavailable`, when the index cannot be read.
    pub fn find(&self, id: &OperationId) -> Result<Option<OperationRow>, RpcError> {
        rows::get(&*self.store, &keys::operation(id)).map_err(|error| storage_error(&error))
    }

    /// A digest of a method and its parameters in canonical form. Keyed, because parameters may hold a key, which a plain digest would let a reader of the log guess (ruling 27).
    #[must_use]
    pub fn digest(&self, method: &str, canonical_params: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        mac.update(method.as_bytes());
        mac.update(&[0]);
        mac.update(canonical_params);
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
