//! A process that answers as simply as one can: the floor of everything that crosses a socket.
//!
//! It is a process of its own on a runtime like the daemon's, because waking another process is most of what a small
//! request costs. It understands three lines: `echo N` is answered with a line of N bytes, `pour N` with N bytes, and a
//! request of JSON-RPC with a tool's result.

use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
};

use clap::Args;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{UnixListener, UnixStream},
    process::{Child, Command},
};

use super::wire::Wire;

/// Bytes that are written together, as the daemon does with events.
const CHUNK_BYTES: usize = 65_536;

/// What `conformance floor` takes.
#[derive(Args, Clone, Debug)]
pub struct FloorArgs {
    /// Where it listens.
    pub socket: PathBuf,
}

/// The process.
pub(crate) struct Floor {
    socket: PathBuf,
    _child: Child,
}

impl Floor {
    pub(crate) async fn start(dir: &Path) -> io::Result<Self> {
        let socket = dir.join("floor.sock");
        let child = Self::spawn(&socket).await?;
        Ok(Self { socket, _child: child })
    }

    /// Starts one and waits until it says that it listens.
    pub(crate) async fn spawn(socket: &Path) -> io::Result<Child> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("floor").arg(socket).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().expect("its output is a pipe");
        let mut line = String::new();
        BufReader::new(stdout.take(64)).read_line(&mut line).await?;
        if line == "ready\n" { Ok(child) } else { Err(io::Error::other("the floor did not start")) }
    }

    pub(crate) async fn connect(&self) -> io::Result<Wire> {
        Wire::connect(&self.socket).await
    }

    pub(crate) async fn stream(&self) -> io::Result<UnixStream> {
        UnixStream::connect(&self.socket).await
    }
}

/// A line of `bytes` that asks for a line of `answer` bytes, both with their line breaks.
pub(crate) fn echo(bytes: usize, answer: usize) -> Vec<u8> {
    padded(&format!("echo {answer}"), bytes)
}

/// A line that asks for so many bytes.
pub(crate) fn pour(bytes: usize) -> Vec<u8> {
    padded(&format!("pour {bytes}"), 0)
}

fn padded(command: &str, bytes: usize) -> Vec<u8> {
    format!("{command:<width$}\n", width = bytes.saturating_sub(1)).into_bytes()
}

/// Answers until it is ended.
///
/// # Errors
/// When it cannot listen.
pub async fn serve_floor(args: FloorArgs) -> io::Result<()> {
    let listener = UnixListener::bind(&args.socket)?;
    announce();
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            // Who hangs up has measured enough.
            let _ = answer(stream).await;
        });
    }
}

async fn answer(stream: UnixStream) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let (mut line, mut answer) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        answer.clear();
        let (command, rest) = line.split_at(line.len().min(5));
        match command {
            b"echo " => {
                answer.resize(number(rest).saturating_sub(1), b'x');
                answer.push(b'\n');
                writer.write_all(&answer).await?;
            }
            b"pour " => {
                answer.resize(CHUNK_BYTES, b'x');
                let mut left = number(rest);
                while left > 0 {
                    let part = left.min(CHUNK_BYTES);
                    writer.write_all(&answer[..part]).await?;
                    left -= part;
                }
            }
            _ => {
                let id = super::wire::id_of(&line).unwrap_or_default();
                writer.write_all(super::wire::tool_result(id).as_bytes()).await?;
            }
        }
    }
}

fn number(text: &[u8]) -> usize {
    std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or_default()
}

#[expect(clippy::print_stdout, reason = "the line is what the bench waits for")]
fn announce() {
    println!("ready");
}
