//! Putting a daemon together from its seams.

use std::sync::{Arc, OnceLock};

use ropewalk_protocol::{DaemonInfo, DataKind, InstanceId, Limits, RpcError};
use tokio::sync::{Notify, broadcast::error::RecvError, watch};
use tokio_util::sync::CancellationToken;

use super::{
    AppBook, Books, Daemon, FilesBook, HubClients, Memory, OwnedServers, ServerHub, Standing,
    journal::OperationJournal, tool_lookup::EngineTools,
};
use crate::{
    catalogue::{Catalogue, SecretKeeper},
    clock::{Clock, Ids},
    context::Gauges,
    engine::{Engine, Shared},
    models::ModelFactory,
    peer::Clients,
    secrets::Secrets,
    store::{Progress, Store},
    tools::{ask_user, policy::RuleCache, schema::SchemaCache, servers::Servers, tool_search},
};

/// The seams a daemon is made of.
pub struct Parts {
    /// Where everything lasts.
    pub store: Arc<dyn Store>,
    /// Keys of endpoints.
    pub secrets: Arc<dyn Secrets>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where ids come from.
    pub ids: Arc<Ids>,
    /// Makes models of endpoints.
    pub models: Arc<dyn ModelFactory>,
}

impl Parts {
    /// Makes the daemon, and takes up every run that its last life left under way.
    ///
    /// # Errors
    /// `unavailable`, when the documents or the index cannot be read.
    pub async fn assemble(self) -> Result<Arc<Daemon>, RpcError> {
        let daemon = self.prepare(Arc::default());
        daemon.take_up().await?;
        Ok(daemon)
    }

    /// Makes a daemon that is starting: it says so, and nothing of what is stored is looked at before it is told to take
    /// it up. `progress` is how far opening the store has come.
    #[must_use]
    pub fn prepare(self, progress: Arc<Progress>) -> Arc<Daemon> {
        self.prepare_beside(progress, None)
    }

    /// The same as [`Self::assemble`], with servers of a test in place of its own.
    #[cfg(test)]
    pub(crate) async fn assemble_beside(self, servers: Arc<dyn Servers>) -> Result<Arc<Daemon>, RpcError> {
        let daemon = self.prepare_beside(Arc::default(), Some(servers));
        daemon.take_up().await?;
        Ok(daemon)
    }

    fn prepare_beside(self, progress: Arc<Progress>, other: Option<Arc<dyn Servers>>) -> Arc<Daemon> {
        let keeper: Arc<dyn SecretKeeper> = Arc::new(self.secrets.clone());
        let catalogue = Catalogue::new(self.store.clone(), self.clock.clone(), self.ids.clone(), keeper);
        let clients = Arc::new(Clients::new(self.clock.clone()));
        let quieter = Arc::new(Notify::new());
        let (told, servers) = (clients.clone(), ServerHub::new(self.clock.clone()));
        let shared = Arc::new(Shared {
            store: self.store.clone(),
            clock: self.clock.clone(),
            began_at: OnceLock::new(),
            ids: self.ids.clone(),
            catalogue: catalogue.clone(),
            models: self.models.clone(),
            app_tools: vec![Arc::new(ask_user::tool()), Arc::new(tool_search::tool())],
            servers: OnceLock::from(other.unwrap_or_else(|| servers.clone())),
            changes: Arc::new(move |kind: DataKind, id: &str, origin: Option<&InstanceId>| {
                told.changed(&[kind], &[id.to_owned()], origin);
            }),
            gauges: Gauges::default(),
            rules: RuleCache::default(),
            schemas: SchemaCache::default(),
            quieter: quieter.clone(),
        });
        catalogue.look_up_tools_in(Arc::new(EngineTools(Arc::downgrade(&shared))));
        forward_changes(&catalogue, clients.clone());
        let engine = Engine::new(shared);
        servers.serve(&engine);
        let app = AppBook::new(catalogue.clone(), clients.clone());
        app.serve(&engine);
        let owned = OwnedServers::new(catalogue.clone(), self.clock.clone());
        owned.speak_through(Arc::new(HubClients { hub: servers.clone(), owned: Arc::downgrade(&owned) }));
        let files = FilesBook::new(catalogue.clone());
        servers.know(Arc::new(Books::of(vec![app.clone(), files, owned.clone()])));
        Arc::new(Daemon {
            info: self.info(),
            limits: Limits::default(),
            journal: OperationJournal::new(self.store.clone(), self.secrets.operation_key()),
            app,
            owned,
            engine,
            catalogue,
            models: self.models,
            clock: self.clock,
            ids: self.ids,
            store: self.store,
            servers,
            clients,
            memory: Memory::default(),
            standing: watch::Sender::new(Standing::Starting { progress: None }),
            progress,
            stopping: CancellationToken::new(),
            quieter,
        })
    }

    fn info(&self) -> DaemonInfo {
        let now = self.clock.now();
        DaemonInfo {
            name: "ropewalk".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            instance_id: self.ids.next(now).into(),
            started_at: now,
        }
    }
}

/// Tells clients of changed documents, for as long as the catalogue lives.
fn forward_changes(catalogue: &Arc<Catalogue>, clients: Arc<Clients>) {
    let mut changes = catalogue.changes();
    tokio::spawn(async move {
        loop {
            match changes.recv().await {
                Ok(changed) => clients.changed(&changed.kinds, &changed.ids, changed.origin.as_ref()),
                // What was missed is unknown, so lists of every kind of document may be other than they were.
                Err(RecvError::Lagged(_)) => clients.changed(&DOCUMENTS, &[], None),
                Err(RecvError::Closed) => return,
            }
        }
    });
}

const DOCUMENTS: [DataKind; 7] = [
    DataKind::Project,
    DataKind::Tool,
    DataKind::Policy,
    DataKind::Grant,
    DataKind::Endpoint,
    DataKind::Server,
    DataKind::Settings,
];
