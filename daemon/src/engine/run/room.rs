//! How much room the model of an endpoint has, and asking it so that its answers teach how much.

use std::sync::Arc;

use futures::{StreamExt as _, stream::BoxStream};
use ropewalk_protocol::{Endpoint, EndpointId, Provider, RunErrorKind};

use crate::{
    context::{Budgets, ModelKey, budgets::DEFAULT_WINDOW, gauges::Measure},
    engine::Shared,
    models::{Model, ModelError, ModelEvent, ModelRequest, known_window},
};

/// The room the model of an endpoint has.
#[derive(Clone, Debug)]
pub struct Room {
    /// What the window is divided into.
    pub budgets: Budgets,
    /// Whether the window means anything: the scripted model has none, unless it was given one.
    pub is_enforced: bool,
    /// The model.
    pub key: ModelKey,
}

/// The room the model of an endpoint has: what its owner says, else what is known of the model by its name, else a usual
/// window; and never more than it has shown to have.
pub fn room(shared: &Shared, endpoint: &Endpoint) -> Room {
    let key = ModelKey::of(endpoint);
    let is_enforced = endpoint.provider != Provider::Scripted || endpoint.context_tokens.is_some();
    let configured = endpoint.context_tokens.or_else(|| known_window(endpoint.provider, &endpoint.model));
    let believed = configured.unwrap_or(DEFAULT_WINDOW);
    let shown = shared.gauges.window(&key).filter(|_| is_enforced);
    let window = shown.map_or(believed, |shown| shown.min(believed));
    Room { budgets: Budgets::of(window, endpoint.max_output_tokens), is_enforced, key }
}

/// The same for an endpoint by its id, where it exists and is used.
pub fn room_of(shared: &Shared, endpoint_id: &EndpointId) -> Option<Room> {
    let snapshot = shared.catalogue.snapshot();
    snapshot.endpoints.get(endpoint_id).filter(|endpoint| endpoint.enabled).map(|endpoint| room(shared, endpoint))
}

/// A model of whose answers is learned how long its requests were, and of whose refusals how small its window is.
pub struct Measured {
    /// The model.
    pub model: Arc<dyn Model>,
    /// What all threads share.
    pub shared: Arc<Shared>,
    /// What the request was measured with.
    pub measure: Measure,
    /// The window it was built for.
    pub window: u64,
}

impl Model for Measured {
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let (shared, measure, window) = (self.shared.clone(), self.measure.clone(), self.window);
        let is_certain = self.model.is_deterministic();
        let learn = move |event: &Result<ModelEvent, ModelError>| match event {
            Ok(ModelEvent::Finished(answer)) if !answer.usage.estimated => {
                shared.gauges.counted(&measure, answer.usage.input_tokens);
            }
            Err(error) if error.kind == RunErrorKind::ContextWindow && !is_certain => {
                shared.gauges.refused(&measure, window, &error.message);
            }
            _ => {}
        };
        self.model.stream(request).inspect(learn).boxed()
    }

    fn is_deterministic(&self) -> bool {
        self.model.is_deterministic()
    }
}
