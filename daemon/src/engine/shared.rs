//! What all threads share: the seams, and the documents that belong to none of them.

use std::sync::{Arc, OnceLock};

use ropewalk_protocol::{DataKind, EndpointId, InstanceId, ProjectId, Thread, ThreadId, Timestamp};
use tokio::sync::Notify;

use crate::{
    catalogue::Catalogue,
    clock::{Clock, Ids},
    context::Gauges,
    domain::World,
    models::ModelFactory,
    store::Store,
    tools::{
        ToolSpec,
        policy::{RuleCache, RuleSet},
        schema::SchemaCache,
        servers::Servers,
    },
};

/// Told of a thing that lists show: its kind, its id, and the client instance behind the change, where it is one.
pub type TellsChanges = Arc<dyn Fn(DataKind, &str, Option<&InstanceId>) + Send + Sync>;

/// The seams and documents every thread works with.
pub struct Shared {
    /// Where everything lasts.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// When this life of the daemon began to take requests: until then nobody could settle anything.
    pub began_at: OnceLock<Timestamp>,
    /// Where ids come from.
    pub ids: Arc<Ids>,
    /// Projects, policies, endpoints, settings.
    pub catalogue: Arc<Catalogue>,
    /// Makes models of endpoints.
    pub models: Arc<dyn ModelFactory>,
    /// The tools of every run that the engine carries out itself.
    pub app_tools: Vec<Arc<ToolSpec>>,
    /// The servers that speak MCP. Some of their tools act on runs, so that they need the engine first: they come when it is
    /// made, and until then there are none (APP-15).
    pub servers: OnceLock<Arc<dyn Servers>>,
    /// Told whenever anything lists show has changed, with kind, id and origin.
    pub changes: TellsChanges,
    /// What was learned of models in this life.
    pub gauges: Gauges,
    /// The rules of threads, put together.
    pub rules: RuleCache,
    /// Schemas that have been made ready.
    pub schemas: SchemaCache,
    /// Rung when a run ends or a client leaves, for the daemon's idle exit.
    pub quieter: Arc<Notify>,
}

impl Shared {
    /// When this life of the daemon began.
    #[must_use]
    pub fn began_at(&self) -> Timestamp {
        *self.began_at.get_or_init(|| self.clock.now())
    }

    /// The rules that are there for a thread of a project now, expired ones included.
    #[must_use]
    pub fn rules_of(&self, project: &ProjectId, thread: &ThreadId) -> Arc<RuleSet> {
        let snapshot = self.catalogue.snapshot();
        self.rules.of(thread, snapshot.generation, || snapshot.policies_for(project, thread).cloned().collect())
    }
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
