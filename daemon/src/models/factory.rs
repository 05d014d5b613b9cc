//! Makes models out of endpoints: the one place that knows which provider is which code.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, StreamExt, future::BoxFuture};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use ropewalk_protocol::{Endpoint, RunErrorKind};

use super::{
    Model, ModelError, ModelFactory, ModelRequest, ScriptedModel,
    clients::{Clients, Way},
    rig::{Connection, IDLE_TIMEOUT, ProviderModel, Sender, Shape},
};
use crate::clock::Clock;

/// Headers that belong to the transport.
const FRAMING_HEADERS: [&str; 5] = ["content-length", "content-type", "host", "connection", "transfer-encoding"];

/// The models there are: the scripted one, and those behind providers.
pub struct Models {
    clock: Arc<dyn Clock>,
    idle_timeout: Duration,
    clients: Clients,
}

impl Models {
    /// A factory whose models wait by this clock.
    #[must_use]
    pub const fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, idle_timeout: IDLE_TIMEOUT, clients: Clients::new() }
    }

    /// Sets how long a provider may be silent before its answer counts as stalled; five minutes unless set.
    #[must_use]
    pub const fn idle_timeout(mut self, idle_timeout: Duration) -> Self {
        self.idle_timeout = idle_timeout;
        self
    }

    fn behind(&self, shape: Shape, endpoint: &Endpoint, key: Option<String>) -> Result<ProviderModel, ModelError> {
        let base_url = endpoint.base_url.as_deref().unwrap_or(shape.base_url());
        let url = reqwest::Url::parse(base_url).map_err(|error| unusable(format!("its baseUrl is no URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() || url.password().is_some() {
            return Err(unusable("its baseUrl must be http or https, without user and password".to_owned()));
        }
        if key.as_deref().is_some_and(|key| key.contains(|c: char| c.is_control() || !c.is_ascii())) {
            return Err(unusable("its key has characters that no HTTP header can carry".to_owned()));
        }
        let way = Way::to(&url, endpoint.proxy_url.as_deref()).map_err(unusable)?;
        Ok(ProviderModel::new(Connection {
            shape,
            base_url: base_url.to_owned(),
            key,
            context_tokens: endpoint.context_tokens,
            headers: headers(endpoint).map_err(unusable)?,
            proxy_url: endpoint.proxy_url.clone(),
            http: Sender::Network(self.clients.client(way).map_err(unusable)?),
            clock: Arc::clone(&self.clock),
            idle_timeout: self.idle_timeout,
        }))
    }
}

/// What an endpoint has sent with every request. It cannot change how the request is framed or whom it reaches.
fn headers(endpoint: &Endpoint) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &endpoint.headers {
        if FRAMING_HEADERS.iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
            return Err(format!("its header {name} is not an endpoint's to set"));
        }
        let name = HeaderName::try_from(name).map_err(|_| format!("{name:?} is no name of a header"))?;
        let value = HeaderValue::try_from(value);
        let value = value.map_err(|_| format!("its header {name} has a value that no header can have"))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

impl ModelFactory for Models {
    fn model(&self, endpoint: &Endpoint, key: Option<String>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(match Shape::of(endpoint.provider) {
            None => Arc::new(ScriptedModel::new(Arc::clone(&self.clock))),
            Some(shape) => Arc::new(self.behind(shape, endpoint, key)?),
        })
    }

    fn test(&self, endpoint: &Endpoint, key: Option<String>) -> BoxFuture<'static, Result<(), ModelError>> {
        let model = self.model(endpoint, key);
        let request = ModelRequest::of_text(endpoint.model.clone(), "Reply with the word OK.".to_owned());
        async move { model?.stream(request).next().await.transpose().map(drop) }.boxed()
    }
}

fn unusable(reason: String) -> ModelError {
    ModelError::new(RunErrorKind::BadRequest, format!("The endpoint cannot be used: {reason}."))
}
