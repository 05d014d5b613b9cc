//! Daemons as processes of their own: started, watched, killed and looked at from outside.

mod ready;
mod system;
mod usage;

use std::{
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    net::UnixStream,
    process::{Child, Command},
    time::timeout,
};

pub(crate) use self::{
    ready::{NotReady, parse as parse_ready},
    system::gone,
};
pub use self::{
    ready::{Ready, Refusal},
    usage::Usage,
};

/// How long a daemon may take to say that it is ready or why it is not.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// How long a daemon that was told to end may take.
const ENDS_WITHIN: Duration = Duration::from_secs(60);
/// A ready line is far shorter.
const READY_LINE_BYTES: u64 = 65_536;

/// What a daemon is started with.
#[derive(Clone, Debug)]
pub struct DaemonOptions {
    /// The program, `ropewalk`.
    pub program: PathBuf,
    /// Its home; the socket is `daemon.sock` in it.
    pub home: PathBuf,
    /// More arguments after `daemon --home HOME`.
    pub arguments: Vec<OsString>,
    /// Variables of its environment, beside those it has from the caller.
    pub variables: Vec<(OsString, OsString)>,
}

/// A daemon in a process of its own, killed when dropped.
pub struct DaemonProcess {
    child: Child,
    ready: Ready,
    home: PathBuf,
}

/// A signal a daemon is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// End in good order.
    Terminate,
    /// What Ctrl-C sends.
    Interrupt,
    /// End at once, without being asked.
    Kill,
    /// Stand still.
    Stop,
    /// Go on after standing still.
    Continue,
}

/// Why there is no daemon.
#[derive(Debug)]
pub enum StartFailure {
    /// It said why.
    Refused(Refusal),
    /// It could not be run, said nothing in time, or nothing that can be read.
    Broken(io::Error),
}

impl DaemonOptions {
    /// A daemon of `program` on `home`, which keeps keys in the file: no test is to touch a keyring of a person.
    pub fn new(program: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            home: home.into(),
            arguments: Vec::new(),
            variables: vec![("ROPEWALK_SECRET_STORE".into(), "file".into())],
        }
    }

    /// The same with one more argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// The same with one more variable, which takes the place of an earlier one of that name.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }
}

impl DaemonProcess {
    /// Starts a daemon and waits for its ready line, a minute at most. Nothing of the caller's environment that names
    /// another home or socket reaches it.
    ///
    /// # Errors
    /// The reason it gave, or that it gave none.
    pub async fn start(options: &DaemonOptions) -> Result<Self, StartFailure> {
        let mut child = spawn(options)?;
        let stdout = child.stdout.take().expect("its output is a pipe");
        let mut line = String::new();
        let mut reader = BufReader::new(stdout.take(READY_LINE_BYTES));
        let read = timeout(READY_WITHIN, reader.read_line(&mut line)).await;
        read.map_err(|_| late("no ready line"))??;
        match ready::parse(&line) {
            Ok(ready) => Ok(Self { child, ready, home: options.home.clone() }),
            Err(ready::NotReady::Refused(error)) => {
                let status = ended(&mut child).await?;
                Err(StartFailure::Refused(Refusal { error, status }))
            }
            Err(ready::NotReady::Unreadable(why)) => {
                let log = fs::read_to_string(log_path(&options.home)).unwrap_or_default();
                Err(StartFailure::Broken(io::Error::other(format!("{why}\n{log}"))))
            }
        }
    }

    /// Starts a daemon and kills it after this time, ready or not; returns when it is gone.
    ///
    /// # Errors
    /// When it cannot be run, or is still there after a minute.
    pub async fn killed_after(options: &DaemonOptions, time: Duration) -> io::Result<()> {
        let mut child = spawn(options)?;
        tokio::time::sleep(time).await;
        child.start_kill()?;
        ended(&mut child).await.map(drop)
    }

    /// What it said when it was ready.
    #[must_use]
    pub const fn ready(&self) -> &Ready {
        &self.ready
    }

    /// The number of its process.
    #[must_use]
    pub const fn pid(&self) -> u32 {
        self.ready.pid
    }

    /// Where it keeps its data.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// A new connection to its socket.
    ///
    /// # Errors
    /// When nobody listens there.
    pub async fn connect(&self) -> io::Result<UnixStream> {
        UnixStream::connect(&self.ready.socket).await
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// When there is no such process any more.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let signal = match signal {
            Signal::Terminate => rustix::process::Signal::TERM,
            Signal::Interrupt => rustix::process::Signal::INT,
            Signal::Kill => rustix::process::Signal::KILL,
            Signal::Stop => rustix::process::Signal::STOP,
            Signal::Continue => rustix::process::Signal::CONT,
        };
        let pid = self.child.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed()));
        let pid = pid.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(rustix::process::kill_process(pid, signal)?)
    }

    /// Kills it and waits until it is gone: what a power cut leaves of a process.
    ///
    /// # Errors
    /// When it is still there after a minute.
    pub async fn kill(mut self) -> io::Result<()> {
        self.signal(Signal::Kill)?;
        ended(&mut self.child).await.map(drop)
    }

    /// The processes it has started that are there at this moment.
    #[must_use]
    pub fn children(&self) -> Vec<u32> {
        system::children_of(self.pid())
    }

    /// Waits until a signal to stand still has reached each of its threads.
    ///
    /// # Errors
    /// When they still run after this time.
    pub async fn stands_still(&self, within: Duration) -> io::Result<()> {
        system::stands_still(self.pid(), within).await
    }

    /// Waits for its end, a minute at most.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        ended(&mut self.child).await
    }

    /// What it has logged so far, with what daemons on the same home before it had.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(log_path(&self.home)).unwrap_or_default()
    }

    /// What it uses at this moment.
    ///
    /// # Errors
    /// When it has ended, or the platform does not say.
    pub fn usage(&self) -> io::Result<Usage> {
        Usage::of(self.pid())
    }
}

fn spawn(options: &DaemonOptions) -> io::Result<Child> {
    let mut command = Command::new(&options.program);
    command.arg("daemon").arg("--home").arg(&options.home).args(&options.arguments);
    command.env_remove("ROPEWALK_HOME").env_remove("ROPEWALK_SOCKET").env_remove("NOTIFY_SOCKET");
    command.envs(options.variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log_file(&options.home)?).kill_on_drop(true);
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", options.program.display()));
    command.spawn().map_err(named)
}

/// A file beside its home: a pipe that nobody reads would stop the daemon once it is full.
fn log_path(home: &Path) -> PathBuf {
    home.with_extension("log")
}

fn log_file(home: &Path) -> io::Result<Stdio> {
    let path = log_path(home);
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    Ok(fs::OpenOptions::new().create(true).append(true).open(path)?.into())
}

async fn ended(child: &mut Child) -> io::Result<ExitStatus> {
    timeout(ENDS_WITHIN, child.wait()).await.map_err(|_| late("the daemon did not end"))?
}

fn late(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("{what} within a minute"))
}

impl From<io::Error> for StartFailure {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

impl fmt::Display for StartFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "the daemon refused to start: {}", refusal.error),
            Self::Broken(error) => write!(f, "the daemon did not start: {error}"),
        }
    }
}

impl std::error::Error for StartFailure {}

impl fmt::Debug for DaemonProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DaemonProcess").field("ready", &self.ready).finish_non_exhaustive()
    }
}
