//! The App tools as a source of runs, and the daemon as they read it.
//!
//! The tools act on threads, and the runs of threads call the tools: the engine is looked for when a call is made, and not
//! before (APP-15).

use std::sync::{Arc, OnceLock, Weak};

use futures::future::BoxFuture;
use ropewalk_protocol::{
    BranchId, Endpoint, EndpointId, ErrorDetail, NavigateParams, Policy, PolicyId, PolicyLevel, PolicySetParams,
    PolicyTool, Project, ProjectId, RpcError, ServerId, Settings, Thread, ThreadId, ThreadSearchParams, ToolState,
};
use serde_json::{Map, Value};

use super::ServerBook;
use crate::{
    app::{
        AppServer, Authority, Chain, Hits, NobodyWrites, Reader, SOURCE, SOURCE_NAME, Setting, Standing, Windows,
        Writer, specs, stakes,
    },
    catalogue::Catalogue,
    daemon::OwnedServers,
    domain::Link,
    engine::{BranchStanding, Engine, ThreadHandle, lookup},
    page::PageError,
    peer::Clients,
    sessions::{How, Launch, Listing},
    tools::{
        Stakes, ToolSpec,
        servers::{Place, ServerTool},
    },
};

/// The version of the protocol the server speaks: with it nobody has to be asked.
const VERSION: &str = "2026-07-28";

/// How long a handshake may take that goes through memory.
const START_MS: u64 = 10_000;

/// The App tools as a source.
pub struct AppBook {
    surroundings: Arc<Surroundings>,
    writer: OnceLock<Arc<dyn Writer>>,
}

impl AppBook {
    /// The App tools of the daemon with these documents and clients.
    #[must_use]
    pub fn new(catalogue: Arc<Catalogue>, clients: Arc<Clients>) -> Arc<Self> {
        let surroundings = Surroundings { catalogue, clients, engine: OnceLock::new(), owned: OnceLock::new() };
        Arc::new(Self { surroundings: Arc::new(surroundings), writer: OnceLock::new() })
    }

    /// How they change anything. Only the first word counts.
    pub fn write_through(&self, writer: Arc<dyn Writer>) {
        // There is one table of methods in a daemon.
        let _ = self.writer.set(writer);
    }

    /// Whose threads they read. Only the first word counts.
    pub fn serve(&self, engine: &Arc<Engine>) {
        // There is one engine in a daemon.
        let _ = self.surroundings.engine.set(Arc::downgrade(engine));
    }

    /// The servers they show. Only the first word counts.
    pub fn show_servers(&self, owned: &Arc<OwnedServers>) {
        let _ = self.surroundings.owned.set(Arc::downgrade(owned));
    }
}

impl ServerBook for AppBook {
    /// They are in use unless their owner or the project says otherwise (APP-13, APP-18).
    fn sources(&self, project_id: &ProjectId) -> Vec<String> {
        let snapshot = self.surroundings.catalogue.snapshot();
        let is_used = snapshot.servers_of(project_id).any(|server| server.server_id.as_str() == SOURCE);
        if is_used { vec![SOURCE.to_owned()] } else { Vec::new() }
    }

    fn name(&self, source: &str) -> Option<String> {
        (source == SOURCE).then(|| SOURCE_NAME.to_owned())
    }

    fn tools(&self, _: &str, _: Option<&Listing>) -> Vec<ServerTool> {
        let ready = |spec: &Arc<_>| ServerTool { spec: Arc::clone(spec), state: ToolState::Ready, reason: None };
        specs().iter().map(ready).collect()
    }

    /// One session a branch, begun anew for each of its runs: no run is ever served as another.
    fn launch(&self, _: &str, place: &Place) -> Option<Launch> {
        let (place, surroundings) = (place.clone(), self.surroundings.clone());
        let writer = self.writer.get().cloned().unwrap_or_else(|| Arc::new(NobodyWrites));
        Some(Launch {
            key: format!("{SOURCE}:{}", place.branch_id),
            name: SOURCE_NAME.to_owned(),
            fingerprint: place.run_id.to_string(),
            version: Some(VERSION.to_owned()),
            start_timeout_ms: START_MS,
            how: How::InProcess(Arc::new(move || {
                AppServer::new(place.clone(), surroundings.clone(), surroundings.clone(), writer.clone()).begin()
            })),
        })
    }

    fn shared_key(&self, _: &str, _: &ProjectId) -> Option<String> {
        None
    }

    fn stakes<'a>(
        &'a self,
        place: &'a Place,
        tool: &'a ToolSpec,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Option<Stakes>> {
        Box::pin(std::future::ready(stakes(place, &tool.name, arguments, &*self.surroundings)))
    }

    fn opens_at_a_call(&self, _: &str) -> bool {
        true
    }
}

/// The daemon, as the App tools know it.
pub(super) struct Surroundings {
    pub(super) catalogue: Arc<Catalogue>,
    clients: Arc<Clients>,
    engine: OnceLock<Weak<Engine>>,
    owned: OnceLock<Weak<OwnedServers>>,
}

impl Surroundings {
    pub(super) fn engine(&self) -> Result<Arc<Engine>, RpcError> {
        self.engine
            .get()
            .and_then(Weak::upgrade)
            .ok_or_else(|| RpcError::new(ErrorDetail::ShuttingDown { grace_ms: 0 }, "The daemon is ending."))
    }

    pub(super) fn handle(&self, thread_id: &ThreadId) -> Result<ThreadHandle, RpcError> {
        self.engine()?.thread(thread_id)
    }
}

impl Reader for Surroundings {
    fn projects(&self) -> Vec<Project> {
        self.catalogue.snapshot().projects_after(None).map(|project| (**project).clone()).collect()
    }

    fn project(&self, project_id: &ProjectId) -> Result<Project, RpcError> {
        Ok(self.catalogue.read_project(project_id)?)
    }

    fn threads(&self, project_id: &ProjectId, after: Option<&ThreadId>, limit: usize) -> Result<Vec<Thread>, RpcError> {
        let rows = lookup::threads_in(self.engine()?.shared(), project_id, after, limit)?;
        Ok(rows.into_iter().map(|row| row.listed()).collect())
    }

    fn rule(&self, id: &PolicyId) -> Option<Policy> {
        self.policy(id)
    }

    fn policies(&self, thread_id: &ThreadId) -> Vec<Policy> {
        let snapshot = self.catalogue.snapshot();
        let of_thread = snapshot.policies.values().filter(|policy| policy.thread_id.as_ref() == Some(thread_id));
        of_thread.map(|policy| (**policy).clone()).collect()
    }

    fn standing<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        branch_id: Option<&'a BranchId>,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Standing>, RpcError>> {
        Box::pin(async move {
            let thread = self.handle(thread_id)?;
            let found = match branch_id {
                Some(branch_id) => vec![thread.standing_of(branch_id.clone()).await?],
                None => thread.standing(after.map(BranchId::from), limit).await?,
            };
            let shown = |BranchStanding { branch, entries, run }| Standing { branch, entries, run };
            Ok(found.into_iter().map(shown).collect())
        })
    }

    fn settings(&self) -> Vec<Setting> {
        let snapshot = self.catalogue.snapshot();
        let mut all = vec![Setting::Settings((*snapshot.settings).clone())];
        if let Some(owned) = self.owned.get().and_then(Weak::upgrade) {
            all.extend(snapshot.servers.values().map(|record| Setting::Server(owned.shown(record))));
        }
        let global = snapshot.policies.values().filter(|policy| policy.level == PolicyLevel::Global);
        all.extend(global.map(|policy| Setting::Policy((**policy).clone())));
        all.extend(snapshot.endpoints.values().map(|endpoint| Setting::Endpoint((**endpoint).clone())));
        all
    }

    fn search(&self, params: ThreadSearchParams) -> BoxFuture<'_, Result<Hits, RpcError>> {
        Box::pin(async move {
            let found = self.engine()?.search(params).await?;
            Ok(Hits { hits: found.hits, next: found.next })
        })
    }

    fn thread<'a>(&'a self, thread_id: &'a ThreadId) -> BoxFuture<'a, Result<Thread, RpcError>> {
        Box::pin(async move { self.handle(thread_id)?.read().await })
    }

    fn messages<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        branch_id: &'a BranchId,
        from: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Chain, RpcError>> {
        Box::pin(async move {
            let from = from.map(|key| Link::of_key(key).ok_or(PageError::MalformedCursor)).transpose()?;
            let (page, next) = self.handle(thread_id)?.messages(branch_id.clone(), from, limit).await?;
            Ok(Chain { messages: page.items, next: next.map(|link| link.key()) })
        })
    }
}

impl Authority for Surroundings {
    fn project_of(&self, id: &ProjectId) -> Option<Project> {
        self.catalogue.read_project(id).ok()
    }

    fn policy(&self, id: &PolicyId) -> Option<Policy> {
        self.catalogue.snapshot().policies.get(id).map(|policy| (**policy).clone())
    }

    fn all_policies(&self) -> Vec<Policy> {
        self.catalogue.snapshot().policies.values().map(|policy| (**policy).clone()).collect()
    }

    fn digest_of(&self, tool: &PolicyTool, thread: Option<&ThreadId>) -> Option<String> {
        self.catalogue.digest_of(tool, thread)
    }

    fn policy_replaced_by(&self, params: &PolicySetParams) -> Option<Policy> {
        self.catalogue.snapshot().replaced_by(params).map(|policy| (**policy).clone())
    }

    fn settings_now(&self) -> Settings {
        (*self.catalogue.snapshot().settings).clone()
    }

    fn endpoint(&self, id: &EndpointId) -> Option<Endpoint> {
        self.catalogue.snapshot().endpoints.get(id).map(|endpoint| (**endpoint).clone())
    }

    fn is_server_on(&self, id: &ServerId) -> Option<bool> {
        self.catalogue.snapshot().servers.get(id).map(|server| server.enabled)
    }
}

impl Windows for Surroundings {
    fn is_attended<'a>(&'a self, thread_id: &'a ThreadId) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let Ok(thread) = self.handle(thread_id) else { return false };
            thread.is_watched().await.unwrap_or(false)
        })
    }

    fn show(&self, what: &NavigateParams) -> u64 {
        self.clients.navigate(what)
    }
}
