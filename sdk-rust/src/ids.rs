//! Fresh ids: of this client, and of operations.

use uuid::Builder;

/// A random id.
pub(crate) fn fresh() -> String {
    Builder::from_random_bytes(rand::random()).into_uuid().to_string()
}
