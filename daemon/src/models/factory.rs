//! Makes models out of endpoints: the one place that knows which provider is which code.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use ropewalk_protocol::{Endpoint, Provider, RunErrorKind};

use super::{Model, ModelError, ModelFactory, ScriptedModel};
use crate::clock::Clock;

/// The models this build has.
pub struct Models {
    clock: Arc<dyn Clock>,
}

impl Models {
    /// A factory whose models wait by this clock.
    #[must_use]
    pub const fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}

impl ModelFactory for Models {
    fn model(&self, endpoint: &Endpoint, _key: Option<String>) -> Result<Arc<dyn Model>, ModelError> {
        match endpoint.provider {
            Provider::Scripted => Ok(Arc::new(ScriptedModel::new(Arc::clone(&self.clock)))),
            provider => Err(not_built(provider)),
        }
    }

    fn test(&self, endpoint: &Endpoint, key: Option<String>) -> BoxFuture<'static, Result<(), ModelError>> {
        let model = self.model(endpoint, key).map(drop);
        async { model }.boxed()
    }
}

fn not_built(provider: Provider) -> ModelError {
    let provider = serde_json::to_value(provider).unwrap_or_default();
    let provider = provider.as_str().unwrap_or("unknown");
    let message = format!("The provider {provider} is not built yet; use openaiCompatible.");
    ModelError { kind: RunErrorKind::BadRequest, message, retryable: false, retry_after_ms: None }
}
