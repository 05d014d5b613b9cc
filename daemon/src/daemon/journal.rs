//! The journal of operations, as dispatch asks for it: rows of the index and a keyed digest.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use ropewalk_protocol::{OperationId, RpcError};
use sha2::Sha256;

use crate::{
    dispatch::{Journal, StoredOperation},
    engine::{rows, storage_error},
    store::{OperationRow, Store, keys},
};

/// The journal over the store's rows.
pub struct StoreJournal {
    store: Arc<dyn Store>,
    key: [u8; 32],
}

impl StoreJournal {
    /// The journal of a home, with the key that its secrets hold.
    pub fn new(store: Arc<dyn Store>, key: [u8; 32]) -> Self {
        Self { store, key }
    }
}

impl Journal for StoreJournal {
    fn find(&self, id: &OperationId) -> Result<Option<StoredOperation>, RpcError> {
        let row: Option<OperationRow> =
            rows::get(&*self.store, &keys::operation(id)).map_err(|error| storage_error(&error))?;
        Ok(row.map(|row| StoredOperation { digest: row.digest, method: row.method, at: row.at, answer: row.answer }))
    }

    /// Keyed, because parameters may hold a key, which a plain digest would let a reader of the log guess (ruling 27).
    fn digest(&self, method: &str, canonical_params: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        mac.update(method.as_bytes());
        mac.update(&[0]);
        mac.update(canonical_params);
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
