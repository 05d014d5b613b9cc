//! A connected client: typed and raw calls, the nouns, and the one end of it all.

use std::{fmt, sync::Arc, time::Duration};

use ropewalk_protocol::{
    Capabilities, ClientInfo, DaemonInfo, InitializeParams, InstanceId, Limits, Method, PROTOCOL_VERSION, Project,
    ProjectEnsure, ProjectEnsureParams, ProtocolRange,
};
use serde_json::{Value, value::to_raw_value};
use tokio::{sync::watch, time::timeout};

use crate::{
    Connection, Error,
    connect::{Options, Way},
    duties::{Duties, Handlers, Setup},
    environment::Places,
    events::Hub,
    link::{Dial, Link, Socket},
    nouns::{
        Attentions, Blobs, Branches, Context, Daemon, Endpoints, Grants, Instructions, Interactions, Items, Memory,
        Policies, Projects, Queue, Runs, Secrets, ServerReviews, Servers, Settings, Threads,
    },
    recovery::{self, Greeting},
};

/// How long the last answers may take to be written when a client is closed.
const CLOSE_DEADLINE: Duration = Duration::from_secs(5);

/// A connection to a daemon. Clones are the same client; it may be used from any number of tasks at once.
///
/// **A connection that is lost is made again**, by itself, to a daemon that was restarted too. Until then calls and streams
/// wait; afterwards every open thread is attached again behind the last event that was seen, with the tools it had, and what
/// was under way when the connection was lost is asked again, changes under the same operation id, so that they happen once.
/// Handlers go on meanwhile: none is called twice for one call, and its answer is kept until the daemon has it. A program
/// notices nothing but the time, unless it looks at [`Client::connection`]. What is given up, and when, says
/// [`Connect::reconnect_for`](crate::Connect::reconnect_for).
///
/// It ends with [`Client::close`], when the last of its clones, threads, runs and streams has been dropped, or when its
/// connection cannot be made again: then the connection is closed, handlers under way see their cancellation, streams end,
/// and pending calls fail with [`Error::Disconnected`] or what the connection met. What was submitted goes on at the daemon.
/// A client that has had the daemon stopped with `daemon/shutdown` does not come back to it.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    duties: Arc<Duties>,
    name: String,
    workspace: Option<Project>,
}

/// What the builder's future does.
pub(crate) async fn connect(way: Way, options: Options) -> Result<Client, Error> {
    options.check()?;
    let dial: Box<dyn Dial> = match way {
        Way::Other(dial) => dial,
        Way::Socket => Box::new(Socket {
            places: Places::find(options.home.clone(), options.socket.clone())?,
            start: options.start_on_demand.then_some(options.timeouts.start),
        }),
    };
    let instance = options.instance.clone().unwrap_or_else(|| crate::ids::fresh().into());
    let name = options.client_name();
    let duties = Arc::new(Duties::new(Setup {
        link: Link::new(options.timeouts.call, dial.is_lasting()),
        dial,
        greeting: greeting(&options, &name, &instance),
        instance,
        reconnect_for: options.timeouts.reconnect,
        handlers: Handlers {
            approvals: options.approvals.clone(),
            input: options.input.clone(),
            changes: options.changes.clone(),
        },
    }));
    // From here on whatever fails closes the connection, because dropping `ending` does.
    let ending = Ending(Some(Arc::clone(&duties)));
    recovery::connect(&duties).await?;
    let workspace = ensure_workspace(&duties, &options).await?;
    ending.keep();
    Ok(Client { inner: Arc::new(Inner { duties, name, workspace }) })
}

fn greeting(options: &Options, name: &str, instance: &InstanceId) -> Greeting {
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
    Greeting { params, patience: options.timeouts.initialize }
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

    /// Branches of any thread.
    #[must_use]
    pub fn branches(&self) -> Branches {
        Branches::new(self.clone())
    }

    /// What happened in threads.
    #[must_use]
    pub fn items(&self) -> Items {
        Items::new(self.clone())
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

    /// Memory: entries that runs to come are shown.
    #[must_use]
    pub fn memory(&self) -> Memory {
        Memory::new(self.clone())
    }

    /// The instructions of projects as documents of their own.
    #[must_use]
    pub fn instructions(&self) -> Instructions {
        Instructions::new(self.clone())
    }

    /// MCP servers.
    #[must_use]
    pub fn servers(&self) -> Servers {
        Servers::new(self.clone())
    }

    /// Reviews of what MCP servers offer.
    #[must_use]
    pub fn server_reviews(&self) -> ServerReviews {
        ServerReviews::new(self.clone())
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

    /// Payloads that were cut from what the model saw.
    #[must_use]
    pub fn blobs(&self) -> Blobs {
        Blobs::new(self.clone())
    }

    /// What a model is asked with.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::new(self.clone())
    }

    /// What waits for the person, over all threads.
    #[must_use]
    pub fn attention(&self) -> Attentions {
        Attentions::new(self.clone())
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

    /// The daemon as it introduced itself on the newest connection.
    #[must_use]
    pub fn daemon_info(&self) -> DaemonInfo {
        self.link().about().expect("a client is handed out after its handshake").daemon.clone()
    }

    /// Every number a client could run into, as the daemon of the newest connection has them.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.link().limits()
    }

    /// The client's name; its tools have the source `client:NAME`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Which process this client says it is.
    #[must_use]
    pub fn instance_id(&self) -> &InstanceId {
        &self.inner.duties.instance
    }

    /// The project of the workspace it was connected with.
    #[must_use]
    pub fn workspace(&self) -> Option<&Project> {
        self.inner.workspace.as_ref()
    }

    /// How the client stands with its daemon, and how that changes: for a program that shows it. Calls and streams wait for
    /// the connection by themselves.
    ///
    /// ```no_run
    /// # async fn example(client: ropewalk::Client) {
    /// let mut connection = client.connection();
    /// while connection.changed().await.is_ok() {
    ///     println!("{:?}", *connection.borrow_and_update());
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn connection(&self) -> watch::Receiver<Connection> {
        self.link().watch()
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
        recovery::close(&self.duties)
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
            let _ = recovery::close(duties);
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { name, duties, .. } = &*self.inner;
        f.debug_struct("Client").field("name", name).field("instance", &duties.instance).finish_non_exhaustive()
    }
}
