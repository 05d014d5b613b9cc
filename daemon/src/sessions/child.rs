//! The process of a server: found, started with an environment of its own, drained for life, and ended as a group.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::AsyncReadExt,
    process::{ChildStderr, ChildStdin, ChildStdout, Command},
    sync::{Notify, watch},
};

use super::diagnostics::Diagnostics;

/// How long a server has from the end of its input until it is told to end.
pub const EOF_GRACE: Duration = Duration::from_millis(2_000);

/// How long it has from being told to end until it is killed.
pub const TERM_GRACE: Duration = Duration::from_millis(1_000);

/// How much longer than both a keeper may take.
const KEEPER_GRACE: Duration = Duration::from_millis(1_000);

/// What is used as the search path where nothing else is said.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What is passed on to processes of servers: where things are, who one is, in which language, and by which proxy. Keys and
/// tokens live in variables of other names.
const PASSED_ON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
];

/// How processes of servers are started.
#[derive(Clone, Debug, Default)]
pub struct ChildSetup {
    /// Our own binary, whose `keep` mode looks after a process and outlives us for that (ruling 46). Without it the process is
    /// started directly, and ends with us only if it minds the end of its input.
    pub keeper: Option<PathBuf>,
    /// What every process finds in its environment. Nothing else of ours is passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// How many files a process may have open, where ours may have more.
    pub descriptors: Option<u64>,
}

/// What a server is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildCommand {
    /// The program: a path, or a name to look for.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it finds in its environment beside what every process does.
    pub environment: BTreeMap<String, String>,
    /// Where it runs; the root directory unless given.
    pub directory: Option<PathBuf>,
    /// What it reads before anything else, for one of ours: what others shall not see in its arguments, or does not fit there.
    pub first: Vec<u8>,
}

/// The pipes of a process.
pub type Pipes = (ChildStdout, ChildStdin);

/// The process of a server.
#[derive(Clone, Debug)]
pub struct Child {
    exit: watch::Receiver<Option<String>>,
    end: Arc<Notify>,
}

impl Child {
    /// Starts a process.
    ///
    /// # Errors
    /// Why it cannot be started, as a sentence that names the command and, where it was looked for, the searched path (M55).
    pub fn start(
        setup: &ChildSetup,
        command: &ChildCommand,
        diagnostics: Diagnostics,
    ) -> Result<(Self, Pipes), String> {
        let environment = environment_of(setup, command);
        let program = find(&command.command, environment.get(OsStr::new("PATH")))?;
        let mut started = match &setup.keeper {
            Some(keeper) => {
                let mut kept = Command::new(keeper);
                #[cfg(unix)]
                kept.arg0("ropewalk");
                kept.arg("keep");
                if let Some(descriptors) = setup.descriptors {
                    kept.arg("--descriptors").arg(descriptors.to_string());
                }
                kept.arg("--").arg(&program);
                kept
            }
            None => Command::new(&program),
        };
        started.args(&command.arguments).env_clear().envs(&environment);
        started.current_dir(command.directory.as_deref().unwrap_or_else(|| Path::new("/")));
        started.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A keeper ends by itself, and takes the server with it; killing it would leave the server alone.
        started.kill_on_drop(setup.keeper.is_none());
        #[cfg(unix)]
        started.process_group(0);
        let mut child = started.spawn().map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
        let pipes = child.stdout.take().zip(child.stdin.take()).ok_or("a process without pipes was started")?;
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(drain(stderr, diagnostics));
        }
        let (exit, has_exited) = watch::channel(None);
        let end = Arc::new(Notify::new());
        let kept = setup.keeper.is_some();
        tokio::spawn(watch_over(child, kept, end.clone(), exit));
        Ok((Self { exit: has_exited, end }, pipes))
    }

    /// How it ended, where it has.
    #[must_use]
    pub fn exit(&self) -> Option<String> {
        self.exit.borrow().clone()
    }

    /// Ends it; its pipes have been closed already. It is gone and reaped when this resolves.
    pub async fn end(&self) {
        self.end.notify_one();
        self.exited().await;
    }

    /// Resolves when it is gone.
    pub async fn exited(&self) {
        let _ = self.exit.clone().wait_for(Option::is_some).await;
    }
}

/// Waits for a process, and ends it when it is told to and the process does not mind.
async fn watch_over(
    mut child: tokio::process::Child,
    is_kept: bool,
    end: Arc<Notify>,
    exit: watch::Sender<Option<String>>,
) {
    let group = child.id();
    let status = tokio::select! {
        status = child.wait() => status,
        () = end.notified() => end_politely(&mut child, is_kept).await,
    };
    if !is_kept {
        signal_group(group, Signal::Kill);
    }
    let told = status.map_or_else(|error| format!("its process is lost: {error}"), exit_of);
    exit.send_replace(Some(told));
}

async fn end_politely(child: &mut tokio::process::Child, is_kept: bool) -> std::io::Result<ExitStatus> {
    let group = child.id();
    if is_kept {
        let patience = EOF_GRACE + TERM_GRACE + KEEPER_GRACE;
        if let Ok(status) = tokio::time::timeout(patience, child.wait()).await {
            return status;
        }
    } else {
        for (patience, signal) in [(EOF_GRACE, Signal::Terminate), (TERM_GRACE, Signal::Kill)] {
            if let Ok(status) = tokio::time::timeout(patience, child.wait()).await {
                return status;
            }
            signal_group(group, signal);
        }
    }
    child.start_kill()?;
    child.wait().await
}

async fn drain(mut stderr: ChildStderr, diagnostics: Diagnostics) {
    let mut bytes = vec![0; 8 << 10];
    while let Ok(read) = stderr.read(&mut bytes).await {
        if read == 0 {
            return;
        }
        diagnostics.stderr(&bytes[..read]);
    }
}

fn exit_of(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("its process ended with exit code {code}"),
        None => format!("its process ended: {status}"),
    }
}

/// The part of an environment that processes of servers find in theirs.
pub fn passed_on(variable: impl Fn(&str) -> Option<OsString>) -> Vec<(OsString, OsString)> {
    PASSED_ON.iter().filter_map(|name| Some((OsString::from(name), variable(name)?))).collect()
}

/// What a process finds in its environment: the base, then what its owner configured.
fn environment_of(setup: &ChildSetup, command: &ChildCommand) -> BTreeMap<OsString, OsString> {
    let mut environment = BTreeMap::from([(OsString::from("PATH"), OsString::from(DEFAULT_PATH))]);
    environment.extend(setup.environment.iter().cloned());
    environment.extend(command.environment.iter().map(|(name, value)| (name.into(), value.into())));
    environment
}

/// Looks for a program before it is started, so that what is missing can be named.
fn find(command: &str, path: Option<&OsString>) -> Result<PathBuf, String> {
    if command.is_empty() {
        return Err("no command is given".to_owned());
    }
    if command.contains('/') {
        let program = PathBuf::from(command);
        return match (program.is_absolute(), is_program(&program)) {
            (true, true) => Ok(program),
            (true, false) => Err(format!("there is no program {command}")),
            (false, _) => Err(format!("the command {command} is a relative path; give an absolute one or a name")),
        };
    }
    let searched = path.cloned().unwrap_or_default();
    let found = std::env::split_paths(&searched).map(|directory| directory.join(command)).find(|at| is_program(at));
    found.ok_or_else(|| format!("the command {command} was not found; searched: {}", searched.to_string_lossy()))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

enum Signal {
    Terminate,
    Kill,
}

#[cfg(unix)]
fn signal_group(group: Option<u32>, signal: Signal) {
    use rustix::process::{Pid, Signal as Unix, kill_process_group};
    let signal = match signal {
        Signal::Terminate => Unix::TERM,
        Signal::Kill => Unix::KILL,
    };
    if let Some(group) = group.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
        // A group that is gone already is what was wanted.
        let _ = kill_process_group(group, signal);
    }
}

#[cfg(not(unix))]
fn signal_group(_: Option<u32>, _: Signal) {}
