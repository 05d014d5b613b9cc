//! Becoming a client: who it is, what it can do for the daemon, and where the daemon is.

use std::{
    fmt,
    future::IntoFuture,
    io,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use ropewalk_protocol::{DataChanged, DataChangedParams, InstanceId, Notification};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    Approval, Client, Error, IntoApprovalAnswer, IntoInputAnswer, Questions, client,
    duties::{ApprovalHandler, ChangeHandler, InputHandler},
    environment,
    link::{Dial, Given, Through},
    recovery::RECONNECT_FOR,
};

/// The way in: [`Ropewalk::connect`] for the daemon of this user, [`Ropewalk::over`] for any stream.
#[derive(Clone, Copy, Debug)]
pub struct Ropewalk;

impl Ropewalk {
    /// Connects to the daemon of this user, and starts one if none runs. Await the builder to connect.
    ///
    /// ```no_run
    /// use ropewalk::{Approval, Decision, Ropewalk};
    ///
    /// # async fn example() -> Result<(), ropewalk::Error> {
    /// let client = Ropewalk::connect()
    ///     .workspace("/home/me/project")
    ///     .on_approval(|approval: Approval| async move {
    ///         println!("{}?", approval.summary);
    ///         Decision::Decline
    ///     })
    ///     .await?;
    /// # Ok(()) }
    /// ```
    pub fn connect() -> Connect {
        Connect::new(Way::Socket)
    }

    /// Connects over a stream that leads to a daemon: an in-memory pipe, a forwarded socket. It cannot be had a second time,
    /// so that the client ends with it: calls fail with [`Error::Disconnected`], and so do streams.
    pub fn over(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Connect {
        Connect::new(Way::Other(Box::new(Given(Mutex::new(Some(Box::new(stream)))))))
    }

    /// Connects over streams that a function opens: a socket on another machine, a tunnel. It is called again whenever the
    /// connection was lost, and has 10 s each time.
    ///
    /// ```no_run
    /// use ropewalk::Ropewalk;
    /// use tokio::net::TcpStream;
    ///
    /// # async fn example() -> Result<(), ropewalk::Error> {
    /// let client = Ropewalk::through(|| TcpStream::connect("127.0.0.1:4100")).await?;
    /// # Ok(()) }
    /// ```
    pub fn through<F, Fut, S>(dial: F) -> Connect
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Connect::new(Way::Other(Box::new(Through(dial))))
    }
}

/// A client being connected; await it.
///
/// **Register [`on_approval`](Self::on_approval) in every program that has somebody to ask.** Without it the client does
/// not say that it can approve, and a call that needs approval ends as `undeliverable` when no other client can be asked.
#[must_use = "a client is connected by awaiting the builder"]
pub struct Connect {
    way: Way,
    options: Options,
}

/// How the daemon is reached.
pub(crate) enum Way {
    /// By the socket of its home, which the options name or the environment does.
    Socket,
    /// As the application says.
    Other(Box<dyn Dial>),
}

/// Everything about a client but what it runs over.
pub(crate) struct Options {
    pub(crate) name: Option<String>,
    pub(crate) version: String,
    pub(crate) instance: Option<InstanceId>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) socket: Option<PathBuf>,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) start_on_demand: bool,
    pub(crate) approvals: Option<Arc<ApprovalHandler>>,
    pub(crate) input: Option<Arc<InputHandler>>,
    pub(crate) changes: Option<Arc<ChangeHandler>>,
    pub(crate) needs_approvals: bool,
    pub(crate) needs_input: bool,
    pub(crate) opt_out: Vec<String>,
    pub(crate) timeouts: Timeouts,
}

/// How long the parts of a client's life may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    pub(crate) start: Duration,
    pub(crate) initialize: Duration,
    pub(crate) call: Duration,
    pub(crate) reconnect: Duration,
}

impl Connect {
    fn new(way: Way) -> Self {
        let options = Options {
            name: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instance: None,
            home: None,
            socket: None,
            workspace: None,
            start_on_demand: true,
            approvals: None,
            input: None,
            needs_approvals: false,
            needs_input: false,
            changes: None,
            opt_out: Vec::new(),
            timeouts: Timeouts {
                start: Duration::from_secs(30),
                initialize: Duration::from_secs(10),
                call: Duration::from_secs(60),
                reconnect: RECONNECT_FOR,
            },
        };
        Self { way, options }
    }

    /// The client's name, `[A-Za-z0-9._-]{1,64}`; that of the executable unless given. Its tools have the source
    /// `client:NAME`, so a name that stays the same keeps the rules people set for them.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = Some(name.into());
        self
    }

    /// The client's version; that of this SDK unless given.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.options.version = version.into();
        self
    }

    /// Which process this is; a fresh one for each client unless given. Whoever has the same id and the handlers of the
    /// same tools takes up what this client leaves.
    pub fn instance_id(mut self, instance: impl Into<InstanceId>) -> Self {
        self.options.instance = Some(instance.into());
        self
    }

    /// The daemon's home; `$ROPEWALK_HOME`, else the platform's state directory, unless given.
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.options.home = Some(home.into());
        self
    }

    /// The daemon's socket; `$ROPEWALK_SOCKET`, else the one that belongs to the home, unless given.
    pub fn socket(mut self, socket: impl Into<PathBuf>) -> Self {
        self.options.socket = Some(socket.into());
        self
    }

    /// A directory to work in: threads start in its project unless they name another. The project is made when there is
    /// none, with a read and write grant on the directory. A relative path is relative to the current directory.
    pub fn workspace(mut self, directory: impl Into<PathBuf>) -> Self {
        self.options.workspace = Some(directory.into());
        self
    }

    /// Whether a daemon is started when none runs; it is, unless this is false. `$ROPEWALK_BIN` is started, else
    /// `ropewalk` beside the own executable, else the one in `PATH`. It ends after 15 minutes without work.
    pub const fn start_on_demand(mut self, yes: bool) -> Self {
        self.options.start_on_demand = yes;
        self
    }

    /// Who decides when a call needs approval. With a handler the client says that it can approve.
    ///
    /// Called once for each approval, however often the connection is lost. It returns a [`Decision`](crate::Decision), an
    /// [`ApprovalAnswer`](crate::protocol::ApprovalAnswer), or an `Option` of one, where `None` means that this client
    /// cannot decide. A panic counts as `None`; no decision is ever made up. While it waits for a person,
    /// [`Approval::cancelled`] tells when the answer is not needed any more.
    pub fn on_approval<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(Approval) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoApprovalAnswer> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.options.approvals = Some(Arc::new(move |approval| {
            let handler = Arc::clone(&handler);
            async move { handler(approval).await.into_approval_answer() }.boxed()
        }));
        self
    }

    /// Who answers when a tool asks questions. With a handler the client says that it can.
    ///
    /// As [`on_approval`](Self::on_approval); it returns an [`InputReply`](crate::InputReply), an
    /// [`InputAnswer`](crate::protocol::InputAnswer) or an `Option` of one.
    pub fn on_input<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(Questions) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoInputAnswer> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.options.input = Some(Arc::new(move |questions| {
            let handler = Arc::clone(&handler);
            async move { handler(questions).await.into_input_answer() }.boxed()
        }));
        self
    }

    /// Makes connecting fail when no [`on_approval`](Self::on_approval) handler was registered.
    pub const fn require_approvals(mut self) -> Self {
        self.options.needs_approvals = true;
        self
    }

    /// Makes connecting fail when no [`on_input`](Self::on_input) handler was registered.
    pub const fn require_input(mut self) -> Self {
        self.options.needs_input = true;
        self
    }

    /// Who is told that lists may have changed, at most every 250 ms. Called by the one task that reads from the daemon:
    /// it hands the news on and returns. A panic is logged and changes nothing. After a lost connection was made again it is
    /// called for all kinds, without ids and with `seq` 0, since nobody knows what changed meanwhile.
    pub fn on_change(mut self, handler: impl Fn(DataChangedParams) + Send + Sync + 'static) -> Self {
        self.options.changes = Some(Arc::new(handler));
        self
    }

    /// What the daemon does not send: `itemDelta`, `toolProgress`. `data/changed` is sent to those alone who registered
    /// [`on_change`](Self::on_change).
    pub fn opt_out(mut self, ephemeral: impl Into<String>) -> Self {
        self.options.opt_out.push(ephemeral.into());
        self
    }

    /// How long a call waits for its answer, beside the waiting it asks for itself and the time without a connection; 60 s
    /// unless given.
    pub const fn call_timeout(mut self, timeout: Duration) -> Self {
        self.options.timeouts.call = timeout;
        self
    }

    /// How long the handshake may take; 10 s unless given.
    pub const fn initialize_timeout(mut self, timeout: Duration) -> Self {
        self.options.timeouts.initialize = timeout;
        self
    }

    /// For how long a connection that was lost is tried to be made again; 120 s unless given. [`Duration::ZERO`] does not
    /// try, [`Duration::MAX`] does not give up.
    ///
    /// The first attempt comes at once, the others after pauses from 50 ms that grow to 5 s. From the second on a daemon is
    /// started where [`start_on_demand`](Self::start_on_demand) allows it. When the time is over the client has ended, and
    /// whatever waits fails with [`Error::ReconnectFailed`]; it ends at once when the daemon that is there now refuses it,
    /// with `unsupportedProtocol` for instance. A connection that is lost again within 10 s does not begin the time anew.
    pub const fn reconnect_for(mut self, duration: Duration) -> Self {
        self.options.timeouts.reconnect = duration;
        self
    }

    /// How long a started daemon may take to be ready; 30 s unless given.
    pub const fn start_timeout(mut self, timeout: Duration) -> Self {
        self.options.timeouts.start = timeout;
        self
    }
}

impl Options {
    /// What can be known to be wrong before anything is sent.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.needs_approvals && self.approvals.is_none() {
            return Err(Error::MissingHandler { capability: "Approvals", method: "on_approval" });
        }
        if self.needs_input && self.input.is_none() {
            return Err(Error::MissingHandler { capability: "Questions", method: "on_input" });
        }
        let name = self.name.as_deref().unwrap_or("ropewalk-sdk");
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if !(1..=64).contains(&name.len()) || !name.chars().all(allowed) {
            let reason = format!("`{name}` is not 1 to 64 of A to Z, a to z, 0 to 9, `.`, `_` and `-`.");
            return Err(Error::InvalidOption { option: "name", reason });
        }
        Ok(())
    }

    /// What the daemon is told not to send.
    pub(crate) fn opt_out(&self) -> Vec<String> {
        let changes = self.changes.is_none().then(|| DataChanged::NAME.to_owned());
        self.opt_out.iter().cloned().chain(changes).collect()
    }

    pub(crate) fn client_name(&self) -> String {
        self.name.clone().unwrap_or_else(environment::client_name)
    }
}

impl IntoFuture for Connect {
    type Output = Result<Client, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        client::connect(self.way, self.options).boxed()
    }
}

impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect")
            .field("name", &self.options.name)
            .field("socket", &self.options.socket)
            .finish_non_exhaustive()
    }
}
