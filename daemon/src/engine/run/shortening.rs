//! What follows when a provider refuses a request as too long for its window: a shorter one, a few times.

use ropewalk_protocol::{EndpointId, RunErrorKind};

use super::room::room_of;
use crate::{context::cut::grouped, engine::Shared, models::ModelError};

/// How often a step makes its request shorter.
const REFUSALS: usize = 3;

/// The windows a step has made its requests for.
#[derive(Debug, Default)]
pub struct Shortening {
    endpoint_id: Option<EndpointId>,
    windows: Vec<u64>,
}

impl Shortening {
    /// A request is about to be made for this endpoint.
    pub fn asks(&mut self, shared: &Shared, endpoint_id: &EndpointId) {
        let window = room_of(shared, endpoint_id).map(|room| room.budgets.window);
        if self.windows.last().copied() != window {
            self.windows.extend(window);
        }
        self.endpoint_id = Some(endpoint_id.clone());
    }

    /// Whether the request is to be built and made anew at once: its refusal has taught that the window is smaller than was
    /// believed, so that the next one is shorter. The same request is never made twice.
    #[must_use]
    pub fn goes_on(&self, shared: &Shared, error: &ModelError) -> bool {
        if error.kind != RunErrorKind::ContextWindow || self.windows.len() > REFUSALS {
            return false;
        }
        let now = self.endpoint_id.as_ref().and_then(|id| room_of(shared, id)).map(|room| room.budgets.window);
        now.zip(self.windows.last()).is_some_and(|(now, believed)| now < *believed)
    }

    /// The failure, with what was tried.
    #[must_use]
    pub fn told(&self, error: ModelError) -> ModelError {
        if error.kind != RunErrorKind::ContextWindow || self.windows.len() < 2 {
            return error;
        }
        let windows = self.windows.iter().map(|window| grouped(*window)).collect::<Vec<_>>().join(", then ");
        let message = format!("{} It was made for a window of {windows} tokens.", error.message);
        ModelError { message, ..error }
    }
}
