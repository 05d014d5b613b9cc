//! Models behind providers, through rig-core, and what its catalogue knows of models. Its types stay in this module and
//! below.
//!
//! The five shapes differ in where a request goes ([`provider`]), in what a history may look like ([`history`]) and in
//! how bytes become records ([`scan`]); they share one transport, one reading of the stream and one classification of
//! failures.

mod failure;
mod history;
mod known;
mod last_event;
mod mend;
mod openness;
mod parts;
mod provider;
mod reading;
mod scan;
mod schema;
mod sender;
mod transport;

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, stream, stream::BoxStream};
use rig_core::http_client::HeaderMap;

pub use self::known::known_window;
use self::{
    failure::Failures,
    reading::Reading,
    transport::{Transport, Watch},
};
pub(super) use self::{provider::Shape, sender::Sender};
use super::{Model, ModelError, ModelEvent, ModelRequest};
use crate::clock::Clock;

/// How long a provider may be silent before its answer counts as stalled, unless told otherwise.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// What a provider is reached with.
#[derive(Clone)]
pub(super) struct Connection {
    /// What it speaks.
    pub(super) shape: Shape,
    /// The address below which its paths are.
    pub(super) base_url: String,
    /// The secret, where there is one.
    pub(super) key: Option<String>,
    /// The model's window, where the endpoint says it.
    pub(super) context_tokens: Option<u64>,
    /// What goes with every request, over what is sent anyway.
    pub(super) headers: HeaderMap,
    /// The proxy it goes through, where the endpoint names one; its password is as secret as the key.
    pub(super) proxy_url: Option<String>,
    /// What sends.
    pub(super) http: Sender,
    /// What the silence of a provider is measured with.
    pub(super) clock: Arc<dyn Clock>,
    /// How long a provider may be silent.
    pub(super) idle_timeout: Duration,
}

/// A model behind a provider.
pub(super) struct ProviderModel {
    connection: Connection,
}

impl ProviderModel {
    pub(super) const fn new(connection: Connection) -> Self {
        Self { connection }
    }

    fn ask(&self, request: &ModelRequest) -> Result<Reading, ModelError> {
        let watch = Arc::new(Watch::default());
        let failures = Failures::new(&self.connection, Arc::clone(&watch));
        let asked = history::completion_request(self.connection.shape, request);
        let asked = asked.map_err(|reason| failures.request(&reason))?;
        let transport = Transport::new(&self.connection, watch);
        let stream = provider::open(&self.connection, transport, &request.model, asked);
        let stream = stream.map_err(|error| failures.of(&error))?;
        Ok(Reading::new(stream, failures, self.connection.shape, request))
    }
}

impl Model for ProviderModel {
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let reading = match self.ask(&request) {
            Ok(reading) => reading,
            Err(error) => return stream::once(async { Err(error) }).boxed(),
        };
        stream::unfold(Some(reading), |reading| async {
            let mut reading = reading?;
            Some(match reading.next().await {
                Some(event) => {
                    let goes_on = event.is_ok();
                    (event, goes_on.then_some(reading))
                }
                None => (reading.finish().await.map(ModelEvent::Finished), None),
            })
        })
        .boxed()
    }
}

#[cfg(test)]
mod tests;
