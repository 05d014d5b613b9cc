//! A connected client: typed and raw calls, the nouns, and the one end of it all.

use std::{fmt, sync::Arc, time::Duration};

use ropewalk_peer::{NoFeed, serve};
use ropewalk_protocol::{
    Capabilities, ClientInfo, DaemonInfo, Initialize, InitializeParams, Initialized, InstanceId, Limits, Method,
    PROTOCOL_VERSION, Project, ProjectEnsure, ProjectEnsureParams, ProtocolRange,
};
use serde_json::{Value, value::to_raw_value};
use tokio::time::timeout;

use crate::{
    Error,
    connect::Options,
    duties::{Duties, Handlers, Incoming},
    environment::Places,
    events::{End, Hub},
    link::Link,
    nouns::{
        Context, Daemon, Endpoints, Grants, Interactions, Policies, Projects, Queue, Runs, Secrets, Settings, Threads,
    },
    transport::{self, Duplex},
};

/// How long the last answers may take to be written when a client is closed.
const CLOSE_DEADLINE: Duration = Duration::from_secs(5);

/// A connection to a daemon. Clones are the same client; it may be used from any number of tasks at once.
///
/// It ends with [`Client::close`], or when the last of its clones, threads, runs and streams has been dropped: the
/// connection is closed, handlers under way see their cancellation, streams end, and pending calls fail with
/// [`Error::Disconnected`]. What was submitted goes on at the daemon.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    duties: Arc<Duties>,
    daemon: DaemonInfo,
    limits: Limits,
    name: String,
    instance: InstanceId,
    workspace: Option<Project>,
}

/// What the builder's future does.
pub(crate) async fn connect(stream: Option<Box<dyn Duplex>>, options: Options) -> Result<Client, Error> {
    options.check()?;
    let stream = match stream {
        Some(stream) => stream,
        None => {
            let places = Places::find(options.home.clone(), options.socket.clone())?;
            let start = options.start_on_demand.then_some(options.timeouts.start);
            Box::new(transport::open(&places, start).await?)
        }
    };
    let handlers = Handlers {
        approvals: options.approvals.clone(),
        input: options.input.clone(),
        changes: options.changes.clone(),
    };
    let duties = Arc::new(Duties::new(Link::new(options.timeouts.call), handlers));
    let service = Arc::new(Incoming(Arc::clone(&duties)));
    duties.link.connect(serve(stream, ropewalk_peer::Options::default(), service, Arc::new(NoFeed)));

    let instance = options.instance.clone().unwrap_or_else(|| crate::ids::fresh().into());
    let name = options.client_name();
    // From here on whatever fails closes the connection, because dropping `ending` does.
    let ending = Ending(Some(Arc::clone(&duties)));
    let answer = initialize(&duties, &options, &name, &instance).await?;
    duties.link.learn(&answer.limits);
    let workspace = ensure_workspace(&duties, &options).await?;
    ending.keep();
    let Initialized { daemon, limits, .. } = answer;
    Ok(Client { inner: Arc::new(Inner { duties, daemon, limits, name, instance, workspace }) })
}

async fn initialize(
    duties: &Duties,
    options: &Options,
    name: &str,
    instance: &InstanceId,
) -> Result<Initialized, Error> {
    let params = InitializeParams {
        protocol: ProtocolRange { min: PROTOCOL_VERSION, max: PROTOCOL_VERSION },
        client: ClientInfo {
            name: name.to_owned(),
            version: options.version.clone(),
            instance_id: Some(instance.clone()),
        },
        capabilities: Capabilities {
            approvals: options.approvals.is_some(),
            input: options.input.is_some(),
            navigation: false,
        },
        opt_out: options.opt_out(),
        app_id: None,
        surface: None,
        token: None,
    };
    let patience = options.timeouts.initialize;
    timeout(patience, duties.link.call::<Initialize>(&params)).await.unwrap_or_else(|_| {
        let after_ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        Err(Error::Timeout { what: Initialize::NAME.to_owned(), after_ms })
    })
}

async fn ensure_workspace(duties: &Duties, options: &Options) -> Result<Option<Project>, Error> {
    let Some(directory) = &options.workspace else { return Ok(None) };
    let unusable = |reason: String| Error::InvalidOption { option: "workspace", reason };
    let path = std::path::absolute(directory).map_err(|error| unusable(error.to_string()))?;
    let path = path.to_str().ok_or_else(|| unusable(format!("{} is not UTF-8.", path.display())))?.to_owned();
    let params = ProjectEnsureParams { path, name: None, operation_id: None };
    Ok(Some(duties.link.call::<ProjectEnsure>(&params).await?.project))
}

impl Client {
    /// Calls a method of the wire with typed parameters. The nouns do this with shorter words.
    ///
    /// # Errors
    /// [`Error::Rpc`] when the daemon refuses; else what keeps the answer from coming.
    pub async fn call<M: Method>(&self, params: M::Params) -> Result<M::Result, Error> {
        self.link().call::<M>(&params).await
    }

    /// Calls a method of the wire by its name, with JSON in and out: for what this SDK has no words for.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn raw(&self, method: &str, params: Value) -> Result<Value, Error> {
        let unreadable =
            |error: serde_json::Error| Error::Unreadable { method: method.to_owned(), reason: error.to_string() };
        let params = to_raw_value(&params).map_err(unreadable)?;
        let answer = self.link().call_raw(method, &params).await?;
        serde_json::from_str(answer.get()).map_err(unreadable)
    }

    /// Threads: start one, take one up, list them.
    #[must_use]
    pub fn threads(&self) -> Threads {
        Threads::new(self.clone())
    }

    /// Runs of any thread.
    #[must_use]
    pub fn runs(&self) -> Runs {
        Runs::new(self.clone())
    }

    /// What waits on a branch.
    #[must_use]
    pub fn queue(&self) -> Queue {
        Queue::new(self.clone())
    }

    /// Projects.
    #[must_use]
    pub fn projects(&self) -> Projects {
        Projects::new(self.clone())
    }

    /// Directory grants of projects.
    #[must_use]
    pub fn grants(&self) -> Grants {
        Grants::new(self.clone())
    }

    /// Rules for tools.
    #[must_use]
    pub fn policies(&self) -> Policies {
        Policies::new(self.clone())
    }

    /// Model endpoints.
    #[must_use]
    pub fn endpoints(&self) -> Endpoints {
        Endpoints::new(self.clone())
    }

    /// Keys of endpoints.
    #[must_use]
    pub fn secrets(&self) -> Secrets {
        Secrets::new(self.clone())
    }

    /// Settings of the daemon.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings::new(self.clone())
    }

    /// What a model is asked with.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::new(self.clone())
    }

    /// What waits for somebody, whoever may settle it.
    #[must_use]
    pub fn interactions(&self) -> Interactions {
        Interactions::new(self.clone())
    }

    /// The daemon itself.
    #[must_use]
    pub fn daemon(&self) -> Daemon {
        Daemon::new(self.clone())
    }

    /// The daemon as it introduced itself.
    #[must_use]
    pub fn daemon_info(&self) -> &DaemonInfo {
        &self.inner.daemon
    }

    /// Every number a client could run into.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// The client's name; its tools have the source `client:NAME`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Which process this client says it is.
    #[must_use]
    pub fn instance_id(&self) -> &InstanceId {
        &self.inner.instance
    }

    /// The project of the workspace it was connected with.
    #[must_use]
    pub fn workspace(&self) -> Option<&Project> {
        self.inner.workspace.as_ref()
    }

    /// Whether the connection stands.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.link().is_connected()
    }

    /// Ends the client for all its clones: handlers under way see their cancellation, streams end, pending calls fail
    /// with [`Error::Disconnected`]. Resolves when the connection is gone, 5 s at most; a second call does nothing.
    pub async fn close(&self) {
        if let Some(peer) = self.inner.end() {
            // Past the deadline the socket goes with the process.
            let _ = timeout(CLOSE_DEADLINE, peer.closed()).await;
        }
    }

    pub(crate) fn link(&self) -> &Link {
        &self.inner.duties.link
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.inner.duties.hub
    }

    pub(crate) fn duties(&self) -> &Arc<Duties> {
        &self.inner.duties
    }
}

impl Inner {
    fn end(&self) -> Option<ropewalk_peer::Peer> {
        end(&self.duties)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Ends a client that was never handed out.
struct Ending(Option<Arc<Duties>>);

impl Ending {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(duties) = &self.0 {
            let _ = end(duties);
        }
    }
}

fn end(duties: &Duties) -> Option<ropewalk_peer::Peer> {
    duties.hub.end(End::Closed);
    let peer = duties.link.disconnect();
    // After the connection, so that work that is given up is not answered as if it had failed.
    duties.end();
    peer
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { name, instance, daemon, .. } = &*self.inner;
        f.debug_struct("Client").field("name", name).field("instance", instance).field("daemon", daemon).finish()
    }
}
