//! The driver as a process: told things on its stdin, heard on its stdout, and ended whatever it does.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::mpsc,
    time::timeout,
};

use super::Happening;

/// How much of what it wrote to stderr is shown.
const COMPLAINTS: usize = 4_000;
/// How long a driver that was killed may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(10);

/// A driver that was started. It is the first of a process group, which ends with it.
pub(super) struct Driver {
    child: Child,
    stdin: Option<ChildStdin>,
    stderr: PathBuf,
    status: Option<ExitStatus>,
}

impl Driver {
    /// Starts it; the folder holds what it writes to stderr.
    pub(super) fn start(command: &[String], place: &Path, tell: mpsc::Sender<Happening>) -> io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let stderr = place.join("stderr");
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&stderr)?);
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn()?;
        tokio::spawn(read(child.stdout.take().expect("it is a pipe"), tell));
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, stderr, status: None })
    }

    /// Tells it something.
    pub(super) async fn tell(&mut self, command: &Value, patience: Duration) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let line = format!("{command}\n");
        let told = async {
            stdin.write_all(line.as_bytes()).await?;
            stdin.flush().await
        };
        timeout(patience, told).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Has nothing more to tell it.
    pub(super) fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// How it has ended, if it has.
    pub(super) fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status)
    }

    /// Waits until it has ended. Nothing is lost when this is given up.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        self.status = Some(status);
        Ok(status)
    }

    /// Kills it and all it started, and waits until it is gone.
    pub(super) async fn end(&mut self) {
        self.stdin = None;
        if let Some(group) = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
            // One that has ended in this moment is what is wanted.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = timeout(GONE_WITHIN, self.child.wait()).await;
    }

    /// The end of what it wrote to stderr.
    pub(super) fn complaints(&self) -> String {
        let text = fs::read(&self.stderr).unwrap_or_default();
        String::from_utf8_lossy(&text[text.len().saturating_sub(COMPLAINTS)..]).into_owned()
    }
}

async fn read(stdout: ChildStdout, tell: mpsc::Sender<Happening>) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if tell.send(Happening::Report(line)).await.is_err() {
            return;
        }
    }
    let _ = tell.send(Happening::Silence).await;
}
