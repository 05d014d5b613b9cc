//! Starting a daemon because somebody wants to connect to one.

use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde::Deserialize;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::{Error, environment::Places};

/// A daemon started on demand ends after so long without work and connections.
const IDLE_EXIT_MS: &str = "900000";
/// A ready line is far shorter; what is longer is something else.
const READY_LINE_BYTES: u64 = 65_536;

/// The one line a daemon prints when it is ready, or why it is not.
#[derive(Deserialize)]
struct ReadyLine {
    ready: bool,
    socket: Option<PathBuf>,
    error: Option<StartError>,
}

#[derive(Deserialize)]
struct StartError {
    message: String,
}

/// Starts the first of the programs that there is and waits until it is ready. Gives the socket it listens on.
pub(crate) async fn start_daemon(
    programs: Vec<PathBuf>,
    places: &Places,
    deadline: Duration,
) -> Result<PathBuf, Error> {
    let mut tried = Vec::new();
    for program in programs {
        tried.push(program.display().to_string());
        match spawn(&program, places) {
            Ok(child) => return await_ready(child, &tried, deadline).await,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&tried, format!("{} cannot be run: {error}.", program.display()))),
        }
    }
    Err(failed(&tried, "there is no `ropewalk` program. Install it, or name it in ROPEWALK_BIN.".to_owned()))
}

fn spawn(program: &Path, places: &Places) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.arg("daemon").arg("--socket").arg(&places.socket).args(["--idle-exit-ms", IDLE_EXIT_MS]);
    if let Some(home) = &places.home {
        command.arg("--home").arg(home);
    }
    // Its log would otherwise end up in the terminal of a program that only wanted to connect.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // A group of its own, so that Ctrl-C in the client's terminal does not reach the daemon others use too.
    #[cfg(unix)]
    command.process_group(0);
    command.spawn()
}

async fn await_ready(mut child: Child, tried: &[String], deadline: Duration) -> Result<PathBuf, Error> {
    let stdout = child.stdout.take().expect("stdout was asked to be a pipe");
    let mut line = String::new();
    let mut reader = BufReader::new(stdout.take(READY_LINE_BYTES));
    match timeout(deadline, reader.read_line(&mut line)).await {
        Err(_) => {
            let reason = format!("it was not ready within {} ms.", deadline.as_millis());
            Err(failed(tried, reason))
        }
        Ok(Err(error)) => Err(failed(tried, format!("its ready line cannot be read: {error}."))),
        Ok(Ok(_)) => read_ready_line(&line).map_err(|reason| failed(tried, reason)),
    }
}

fn read_ready_line(line: &str) -> Result<PathBuf, String> {
    let by_hand = "Run `ropewalk daemon` by hand to see its log.";
    match serde_json::from_str::<ReadyLine>(line) {
        Ok(ReadyLine { ready: true, socket: Some(socket), .. }) => Ok(socket),
        Ok(ReadyLine { ready: false, error: Some(error), .. }) => Err(error.message),
        _ if line.is_empty() => Err(format!("it ended before it was ready. {by_hand}")),
        _ => Err(format!("what it printed is no ready line. {by_hand}")),
    }
}

fn failed(tried: &[String], reason: String) -> Error {
    Error::StartFailed { tried: tried.to_vec(), reason }
}

#[cfg(test)]
mod tests;
