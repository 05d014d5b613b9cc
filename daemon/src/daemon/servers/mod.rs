//! The servers of a daemon, put together for its runs: the book of what there is, and the sessions with what runs.

mod app;
mod book;
mod books;
mod files;
mod notes;
mod ready;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak},
};

use futures::future::BoxFuture;
use ropewalk_protocol::{DataKind, ProjectId, ToolState};
use serde_json::{Map, Value};

pub use self::{
    app::AppBook,
    book::{NoServers, ServerBook},
    books::Books,
    files::FilesBook,
};
use crate::{
    clock::Clock,
    engine::Engine,
    sessions::{ChildSetup, Launch, Listing, Outgoing, Session, Sessions, Standing, Status, results},
    tools::{
        CallFailure, SourceCall, SourceResult, Stakes, ToolSpec,
        schema::SchemaCache,
        servers::{Missing, Place, ServerTool, Servers, Signs},
    },
};

/// The servers of a daemon.
pub struct ServerHub {
    book: RwLock<Arc<dyn ServerBook>>,
    sessions: Sessions,
    clock: Arc<dyn Clock>,
    /// Whose runs are told of changes. Weakly, because runs have the servers.
    engine: OnceLock<Weak<Engine>>,
    /// What sources listed last, whichever of their sessions it was.
    listed: Mutex<BTreeMap<String, Arc<Listing>>>,
    /// The sources of the sessions there are.
    sources: Mutex<BTreeMap<String, String>>,
    schemas: SchemaCache,
}

impl ServerHub {
    /// Servers that nobody knows of yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new_cyclic(|hub: &Weak<Self>| {
            let hub = hub.clone();
            let changed = move |key: &str| {
                if let Some(hub) = hub.upgrade() {
                    hub.changed(key);
                }
            };
            Self {
                book: RwLock::new(Arc::new(NoServers)),
                sessions: Sessions::new(clock.clone(), Arc::new(changed)),
                clock,
                engine: OnceLock::new(),
                listed: Mutex::default(),
                sources: Mutex::default(),
                schemas: SchemaCache::default(),
            }
        })
    }

    /// Which servers there are. The last word counts.
    pub fn know(&self, book: Arc<dyn ServerBook>) {
        *self.book.write().unwrap_or_else(PoisonError::into_inner) = book;
    }

    /// Whose runs are told of changes. Only the first word counts.
    pub fn serve(&self, engine: &Arc<Engine>) {
        // There is one engine in a daemon.
        let _ = self.engine.set(Arc::downgrade(engine));
    }

    /// How processes of servers are started. Only the first word counts.
    pub fn start_children_with(&self, setup: ChildSetup) {
        if let Some(binary) = &setup.keeper {
            self.book().our_binary(binary);
        }
        self.sessions.start_children_with(setup);
    }

    /// Where the daemon lives. Only the first word counts.
    pub fn live_in(&self, home: &Path) {
        self.book().our_home(home);
    }

    /// The sessions there are.
    #[must_use]
    pub const fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// What a source listed last in this life of the daemon.
    #[must_use]
    pub fn listed(&self, source: &str) -> Option<Arc<Listing>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner).get(source).cloned()
    }

    /// Opens the session of a launch, and keeps what it listed.
    ///
    /// # Errors
    /// Why it cannot be opened, as a sentence without its name.
    pub async fn open(&self, source: &str, launch: &Launch) -> Result<Arc<Session>, String> {
        self.forget_unused();
        self.sources().insert(launch.key.clone(), source.to_owned());
        let session = self.sessions.open(launch).await.map_err(|trouble| trouble.reason)?;
        self.keep_listing(source, &launch.key);
        Ok(session)
    }

    fn book(&self) -> Arc<dyn ServerBook> {
        self.book.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sessions that were begun for one run and have been closed are not kept in mind.
    fn forget_unused(&self) {
        let book = self.book();
        let mut sources = self.sources();
        let passing: BTreeSet<String> =
            sources.iter().filter(|(_, source)| book.opens_at_a_call(source)).map(|(key, _)| key.clone()).collect();
        self.sessions.forget_stopped(|key| passing.contains(key));
        sources.retain(|key, _| !passing.contains(key) || self.sessions.status(key).is_some());
    }

    /// A server stands elsewhere, or has other tools. Whoever has a run under way is told, and whoever shows lists.
    fn changed(&self, key: &str) {
        let Some(source) = self.sources().get(key).cloned() else { return };
        self.keep_listing(&source, key);
        let Some(engine) = self.engine.get().and_then(Weak::upgrade) else { return };
        (engine.shared().changes)(DataKind::Server, &source, None);
        (engine.shared().changes)(DataKind::Tool, &source, None);
        tokio::spawn(async move { engine.servers_changed().await });
    }

    /// Keeps what a session listed.
    pub fn keep_listing(&self, source: &str, key: &str) {
        let Some(status) = self.sessions.status(key) else { return };
        // What it speaks is known while it is there, and is unknown again when it could not be started with that.
        if matches!(status.standing, Standing::Ready | Standing::Failed { .. }) {
            self.book().negotiated(source, status.version.as_deref());
        }
        if let Some(listing) = status.listing {
            self.listed.lock().unwrap_or_else(PoisonError::into_inner).insert(source.to_owned(), listing);
        }
    }

    /// How the sessions of a source stand, where it has several: one for each project, or for each branch.
    #[must_use]
    pub fn statuses(&self, source: &str) -> Vec<Status> {
        self.keys_of(source).iter().filter_map(|key| self.sessions.status(key)).collect()
    }

    /// Ends all sessions of a source. The next use opens another one.
    pub async fn close_source(&self, source: &str) {
        let keys = self.keys_of(source);
        futures::future::join_all(keys.iter().map(|key| self.sessions.forget(key))).await;
    }

    fn keys_of(&self, source: &str) -> Vec<String> {
        self.sources().iter().filter(|(_, of)| *of == source).map(|(key, _)| key.clone()).collect()
    }

    fn sources(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, String>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a source stands for a project, where anything is known of that.
    fn standing(&self, source: &str, project_id: &ProjectId) -> Option<Standing> {
        let key = self.book().shared_key(source, project_id)?;
        Some(self.sessions.status(&key)?.standing)
    }

    async fn make(&self, place: &Place, call: SourceCall, signs: Signs) -> Result<SourceResult, CallFailure> {
        let source = call.tool.source.clone();
        let name = call.tool.source_name.clone();
        let unavailable = |code, reason| CallFailure::Unavailable { code, reason };
        let launched = || {
            let launch = self.book().launch(&source, place);
            launch.ok_or_else(|| unavailable("tool_gone", format!("{name} is not there any more.")))
        };
        let mut launch = launched()?;
        let session = loop {
            let session = self.opened(&source, &name, &launch).await?;
            // What the session stands for may have been taken back while it was opened. Each round waits for a person.
            let now = launched()?;
            if now.key == launch.key {
                break session;
            }
            launch = now;
        };
        let (listing, _) = session.listing();
        self.is_as_it_was(&call, &listing)?;
        let outgoing = Outgoing {
            tool: call.tool.name.clone(),
            arguments: call.arguments,
            call_id: call.call_id.to_string(),
            silence_ms: call.silence_ms,
            ceiling_ms: call.ceiling_ms,
        };
        let result = session.call(outgoing, &signs).await?;
        let output = call.tool.output_schema.as_deref();
        let ready = output.and_then(|schema| self.schemas.ready(&format!("{} result", call.tool.digest), schema));
        results::result_of(&result, output.is_some(), ready.as_deref())
    }

    /// A session for a call, with a list that is not too old for one.
    async fn opened(&self, source: &str, name: &str, launch: &Launch) -> Result<Arc<Session>, CallFailure> {
        let session = self.open(source, launch).await.map_err(|reason| CallFailure::Unavailable {
            code: "server_offline",
            reason: format!("{name} cannot be reached: {reason}."),
        })?;
        self.sessions.refresh(&launch.key, &session).await;
        Ok(session)
    }

    /// A call binds to what was shown when it was allowed: a tool that behaves differently by now is not called (K22). One
    /// that the server does not list any more is, and the server says so itself.
    fn is_as_it_was(&self, call: &SourceCall, listing: &Listing) -> Result<(), CallFailure> {
        let tools = self.book().tools(&call.tool.source, Some(listing));
        let now = tools.iter().find(|tool| tool.spec.name == call.tool.name);
        let blocked = |reason: String| Err(CallFailure::Unavailable { code: "tool_blocked", reason });
        match now {
            None => {
                let reason = format!("{} does not offer it any more.", call.tool.source_name);
                Err(CallFailure::Unavailable { code: "tool_gone", reason })
            }
            Some(tool) if matches!(tool.state, ToolState::Blocked | ToolState::Quarantined) => blocked(
                tool.reason
                    .clone()
                    .map_or_else(|| "It has to be reviewed.".to_owned(), |why| format!("It cannot be used: {why}.")),
            ),
            Some(tool) if tool.spec.digest != call.tool.digest => {
                blocked(format!("{} has changed it since the call was allowed.", call.tool.source_name))
            }
            Some(_) => Ok(()),
        }
    }
}

impl Servers for ServerHub {
    fn tools(&self, project_id: &ProjectId) -> Vec<ServerTool> {
        let of_source = |source: String| {
            let listing = self.listed(&source);
            let tools = self.book().tools(&source, listing.as_deref());
            let standing = self.standing(&source, project_id);
            tools.into_iter().map(move |tool| as_it_stands(tool, standing.as_ref()))
        };
        self.book().sources(project_id).into_iter().flat_map(of_source).collect()
    }

    fn sources(&self, project_id: &ProjectId) -> Vec<String> {
        self.book().sources(project_id)
    }

    fn get_ready<'a>(&'a self, place: &'a Place, needed: &'a [String]) -> BoxFuture<'a, Vec<Missing>> {
        Box::pin(self.ready_all(place, needed))
    }

    fn call<'a>(
        &'a self,
        place: &'a Place,
        call: SourceCall,
        signs: Signs,
    ) -> BoxFuture<'a, Result<SourceResult, CallFailure>> {
        Box::pin(self.make(place, call, signs))
    }

    fn stakes<'a>(
        &'a self,
        place: &'a Place,
        tool: &'a ToolSpec,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Option<Stakes>> {
        let book = self.book();
        Box::pin(async move { book.stakes(place, tool, arguments).await })
    }
}

/// A tool that may be used, as its server stands. A server that is starting or stopped is used all the same: it is waited for.
fn as_it_stands(tool: ServerTool, standing: Option<&Standing>) -> ServerTool {
    match standing {
        Some(Standing::Failed { reason, .. }) if tool.state == ToolState::Ready => {
            let reason = Some(format!("{}: {reason}", tool.spec.source_name));
            ServerTool { state: ToolState::Failed, reason, ..tool }
        }
        _ => tool,
    }
}
