//! What all threads share: the seams, and the documents that belong to none of them.

use std::sync::Arc;

use ropewalk_protocol::{DataKind, Effect, EndpointId, ErrorDetail, RpcError, Thread, Timestamp};
use tokio::sync::Notify;

use crate::{
    catalogue::Catalogue,
    clock::{Clock, Ids},
    context::Gauges,
    domain::World,
    models::ModelFactory,
    store::{Store, StoreError},
    tools::{ToolSpec, schema::SchemaCache},
};

/// Told of a thing that lists show: its kind and its id.
pub type TellsChanges = Arc<dyn Fn(DataKind, &str) + Send + Sync>;

/// The seams and documents every thread works with.
pub struct Shared {
    /// Where everything lasts.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// When this life of the daemon began.
    pub began_at: Timestamp,
    /// Where ids come from.
    pub ids: Arc<Ids>,
    /// Projects, policies, endpoints, settings.
    pub catalogue: Arc<Catalogue>,
    /// Makes models of endpoints.
    pub models: Arc<dyn ModelFactory>,
    /// The tools of every run that are not a client's.
    pub app_tools: Vec<Arc<ToolSpec>>,
    /// Told whenever anything lists show has changed, with kind and id.
    pub changes: TellsChanges,
    /// What was learned of models in this life.
    pub gauges: Gauges,
    /// Schemas that have been made ready.
    pub schemas: SchemaCache,
    /// Rung when a run ends or a client leaves, for the daemon's idle exit.
    pub quieter: Arc<Notify>,
}

impl World for Shared {
    fn next_id(&self) -> String {
        self.ids.next(self.clock.now())
    }

    fn endpoint(&self, thread: &Thread, asked: Option<&EndpointId>) -> Option<(EndpointId, String)> {
        let named = asked.or(thread.endpoint_id.as_ref());
        let endpoint = self.catalogue.snapshot().which_endpoint(named, &thread.project_id).ok()?;
        Some((endpoint.endpoint_id.clone(), endpoint.model.clone()))
    }
}

/// The store's errors as the wire shows them. The one place where they are translated.
#[must_use]
pub fn storage_error(error: &StoreError) -> RpcError {
    let (reason, effect) = match error {
        StoreError::Write { full: true, .. } => ("storage_full", Some(Effect::None)),
        StoreError::Write { .. } => ("io_error", Some(Effect::None)),
        StoreError::Read { .. } => ("io_error", None),
        StoreError::Damaged { .. } => ("log_damaged", Some(Effect::None)),
        StoreError::Version { .. } => ("store_version", None),
        StoreError::InUse { .. } => ("home_in_use", None),
    };
    let detail = ErrorDetail::Unavailable { reason: reason.to_owned(), progress: None, party: None, effect };
    let next = match error {
        StoreError::Write { full: true, .. } => " Free some space and try again.",
        StoreError::Damaged { .. } => " `ropewalk doctor` names the place.",
        _ => "",
    };
    let what = if matches!(error, StoreError::Read { .. }) {
        "What is stored could not be read"
    } else {
        "Nothing was stored"
    };
    let message = format!("{what}: {error}.{next}");
    match error {
        // The same request fails the same way until a person has done something about it.
        StoreError::Damaged { .. } | StoreError::Version { .. } => RpcError::new(detail, message),
        _ => RpcError::retryable(detail, message, None),
    }
}
