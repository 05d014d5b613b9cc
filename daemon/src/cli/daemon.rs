//! `ropewalk daemon`: the daemon itself, in the foreground.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    pin::pin,
};

use clap::Args;
use ropewalk_protocol::RpcError;
use tracing_subscriber::EnvFilter;

use super::{
    failure::{Exit, Failure},
    session::Context,
};
use crate::{
    server::failed_line,
    sessions::ChildSetup,
    start::{Config, Running, SecretChoice, start},
};

const DEFAULT_LOG: &str = "info";
/// How long requests and calls under way may take to end after a signal, as after `daemon/shutdown` without a number.
const GRACE_MS: u64 = 10_000;

/// Run the daemon in the foreground
///
/// Prints one line of JSON when it is ready, `{"ready":true,"socket":…}`, or why it is not, and logs to stderr. SIGTERM,
/// SIGINT and `daemon/shutdown` park what runs, write everything down and exit; a second signal exits at once.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk daemon
  ropewalk daemon --home /tmp/try --log debug
  ropewalk daemon --idle-exit-ms 900000
  ropewalk daemon --secret-store file")]
pub(crate) struct DaemonArgs {
    /// End after so long without a run, an open interaction or a connection, unless a setting says otherwise
    #[arg(long, value_name = "MS|never", value_parser = idle_exit)]
    idle_exit_ms: Option<IdleExit>,
    /// Where keys are kept: `auto` takes the keyring if it can be used, else a file; $ROPEWALK_SECRET_STORE, else `auto`
    #[arg(long, value_name = "auto|keyring|file", value_parser = secret_choice)]
    secret_store: Option<SecretChoice>,
    /// What is logged: `error`, `warn`, `info`, `debug`, `trace`, or a filter by module; $ROPEWALK_LOG, else `info`
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
    /// Log a line of JSON for each entry
    #[arg(long)]
    log_json: bool,
}

/// Runs it.
pub(crate) async fn run(args: DaemonArgs, context: &Context) -> Result<Exit, Failure> {
    begin_log(&args, context)?;
    let secret_store = secret_store(&args, context)?;
    let mut signals =
        Signals::new().map_err(|error| Failure::Failed(format!("No signals can be received: {error}.")))?;
    let started = tokio::select! {
        started = begin(&args, context, secret_store) => started,
        () = signals.next() => return Ok(Exit::FAILED),
    };
    let running = match started {
        Ok(running) => running,
        Err(error) => {
            context.out.line(&failed_line(&error));
            tracing::error!("{error}");
            return Ok(Exit::FAILED);
        }
    };
    context.out.line(&running.ready_line());
    tell_systemd(context, "READY=1");
    Ok(serve(running, &mut signals, context).await)
}

async fn begin(args: &DaemonArgs, context: &Context, secret_store: SecretChoice) -> Result<Running, RpcError> {
    let home = context.home().map_err(|error| RpcError::from(&error))?;
    let idle_exit_ms = args.idle_exit_ms.and_then(|IdleExit(ms)| ms);
    let children =
        ChildSetup { keeper: own_binary(), environment: context.environment.for_children(), descriptors: None };
    start(Config { home, secret_store, idle_exit_ms, children }).await
}

/// This very program, also when its file has been replaced by another version meanwhile.
fn own_binary() -> Option<PathBuf> {
    let ourselves = Path::new("/proc/self/exe");
    if ourselves.exists() { Some(ourselves.to_owned()) } else { std::env::current_exe().ok() }
}

/// Waits for the end: of its own accord, or after a signal.
async fn serve(running: Running, signals: &mut Signals, context: &Context) -> Exit {
    let daemon = running.daemon().clone();
    let mut ended = pin!(running.wait());
    tokio::select! {
        () = &mut ended => return Exit::DONE,
        () = signals.next() => {}
    }
    tracing::info!("stopping: what runs is parked; a second signal exits at once");
    tell_systemd(context, "STOPPING=1");
    daemon.stop(GRACE_MS);
    tokio::select! {
        () = &mut ended => Exit::DONE,
        () = signals.next() => Exit::FAILED,
    }
}

/// What is logged. The library behind the providers writes down their words as they came, and some of them repeat the key
/// they refuse; what matters of that is in the errors of runs, without it. The library behind the servers writes down what
/// they say, results included (MCP-152).
fn log_filter(filter: &str) -> Result<EnvFilter, Failure> {
    let ours = |directive: &&str| ["rig", "rmcp"].iter().any(|library| directive.trim().starts_with(library));
    let of_others = filter.split(',').filter(|directive| !ours(directive));
    let read = EnvFilter::try_new(of_others.collect::<Vec<_>>().join(",")).map_err(|error| {
        Failure::Usage(format!(
            "The log filter `{filter}` cannot be read: {error}. Try `debug`, or `ropewalk_daemon=debug`."
        ))
    })?;
    let directive = |text: &str| text.parse().expect("the directive is a target and a level");
    // The first writes under names of its own as well, `rig::completions` among them: whole requests and answers.
    let read = read.add_directive(directive("rig=off")).add_directive(directive("rig_core=off"));
    Ok(read.add_directive(directive("rmcp=error")))
}

fn begin_log(args: &DaemonArgs, context: &Context) -> Result<(), Failure> {
    let filter = args.log.clone().or_else(|| context.environment.text("ROPEWALK_LOG"));
    let filter = filter.unwrap_or_else(|| DEFAULT_LOG.to_owned());
    let log = tracing_subscriber::fmt().with_env_filter(log_filter(&filter)?).with_writer(io::stderr);
    let is_new = if args.log_json {
        log.json().try_init().is_ok()
    } else {
        log.with_ansi(context.out.notes_are_styled()).try_init().is_ok()
    };
    // A program that runs the command line within itself has a log of its own, and keeps it.
    if !is_new {
        tracing::debug!("There is a log already.");
    }
    Ok(())
}

fn secret_store(args: &DaemonArgs, context: &Context) -> Result<SecretChoice, Failure> {
    let Some(word) = context.environment.text("ROPEWALK_SECRET_STORE") else {
        return Ok(args.secret_store.unwrap_or_default());
    };
    match (args.secret_store, secret_choice(&word)) {
        (Some(choice), _) | (None, Ok(choice)) => Ok(choice),
        (None, Err(expected)) => Err(Failure::Usage(format!("ROPEWALK_SECRET_STORE is `{word}`; it is {expected}."))),
    }
}

fn secret_choice(word: &str) -> Result<SecretChoice, String> {
    match word {
        "auto" => Ok(SecretChoice::Auto),
        "keyring" => Ok(SecretChoice::Keyring),
        "file" => Ok(SecretChoice::File),
        _ => Err("`auto`, `keyring` or `file`".to_owned()),
    }
}

/// After how long an idle daemon ends; never, without a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IdleExit(Option<u64>);

fn idle_exit(text: &str) -> Result<IdleExit, String> {
    match text.parse() {
        _ if text == "never" => Ok(IdleExit(None)),
        Ok(ms @ 1_000..) => Ok(IdleExit(Some(ms))),
        _ => Err("milliseconds from 1000, or `never`".to_owned()),
    }
}

/// The signals that ask a daemon to end.
#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    // Kept, so that a closed terminal does not end a daemon that others use.
    _hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}

/// Tells systemd how the service is, when it asked to be told. It waits for `READY=1` and for nothing else, so failing to
/// tell it is worth a line in the log and no more.
fn tell_systemd(context: &Context, state: &str) {
    let Some(socket) = context.environment.get("NOTIFY_SOCKET") else { return };
    if let Err(error) = notify(&socket, state) {
        tracing::warn!("systemd could not be told {state}: {error}");
    }
}

#[cfg(unix)]
fn notify(socket: &OsStr, state: &str) -> io::Result<()> {
    use std::os::unix::{ffi::OsStrExt, net::UnixDatagram};

    let datagram = UnixDatagram::unbound()?;
    #[cfg(target_os = "linux")]
    if let Some(name) = socket.as_bytes().strip_prefix(b"@") {
        use std::os::{linux::net::SocketAddrExt, unix::net::SocketAddr};

        return datagram.send_to_addr(state.as_bytes(), &SocketAddr::from_abstract_name(name)?).map(drop);
    }
    datagram.send_to(state.as_bytes(), socket).map(drop)
}

#[cfg(not(unix))]
fn notify(_: &OsStr, _: &str) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
