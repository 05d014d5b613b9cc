//! Placeholder until clients are attached: who a client is.

use ropewalk_protocol::ClientRef;

/// One attached client.
pub struct Client {
    /// Who it is.
    pub client: ClientRef,
}

impl Client {
    /// Who it is, as documents name it.
    #[must_use]
    pub fn client_ref(&self) -> ClientRef {
        self.client.clone()
    }
}
