//! Model endpoints and their keys.

use ropewalk_protocol::{EndpointId, EndpointTest, EndpointTestParams, EndpointTested};

use super::{noun, verbs};
use crate::Error;

noun! {
    /// Model endpoints.
    Endpoints
}

impl Endpoints {
    verbs! {
        /// Makes an endpoint (name, provider and model needed), or changes what is named of an existing one. A change of
        /// provider or address removes its key.
        set = EndpointSet;
        /// Removes an endpoint and its key.
        remove = EndpointRemove;
        /// The endpoints, in the order of their ids.
        list = EndpointList;
    }

    /// Sends an endpoint a short request and sees whether it answers.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call). An endpoint that does not answer is no error.
    pub async fn test(&self, endpoint: impl Into<EndpointId>) -> Result<EndpointTested, Error> {
        self.client.call::<EndpointTest>(EndpointTestParams { endpoint_id: endpoint.into() }).await
    }
}

noun! {
    /// Keys of endpoints. They can be written and removed, never read.
    Secrets
}

impl Secrets {
    verbs! {
        /// Stores the key of an endpoint.
        set = SecretSet;
        /// Forgets the key of an endpoint.
        remove = SecretRemove;
    }
}
