//! Placeholder until the daemon is put together: what handlers of the catalogue need of it.

use std::sync::Arc;

use crate::{catalogue::Catalogue, clock::Clock, models::ModelFactory};

/// Everything one daemon is made of.
pub struct Daemon {
    /// Documents that belong to no thread.
    pub catalogue: Arc<Catalogue>,
    /// Makes models of endpoints.
    pub models: Arc<dyn ModelFactory>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}
