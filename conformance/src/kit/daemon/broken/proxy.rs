//! What stands between a daemon and its clients and breaks a rule on the way.

use std::{
    io,
    path::{Path, PathBuf},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinSet,
};

use super::{Fault, fault::Breaking};

/// A socket beside that of a daemon, whose clients find the daemon broken. Goes when dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    socket: PathBuf,
    accepting: tokio::task::JoinHandle<()>,
}

impl Proxy {
    /// Listens on `socket` in front of the daemon that listens on `daemon`.
    ///
    /// # Errors
    /// When `socket` cannot be listened on.
    pub(crate) fn start(fault: Fault, socket: &Path, daemon: &Path) -> io::Result<Self> {
        if let Err(error) = std::fs::remove_file(socket)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let listener = UnixListener::bind(socket)?;
        let accepting = tokio::spawn(accept(listener, daemon.to_owned(), fault));
        Ok(Self { socket: socket.to_owned(), accepting })
    }

    /// Where it listens.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Every connection is a task of this one, so that all go with it.
async fn accept(listener: UnixListener, daemon: PathBuf, fault: Fault) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let daemon = daemon.clone();
        connections.spawn(async move {
            if let Ok(daemon) = UnixStream::connect(daemon).await {
                // Either side may be gone at any moment; then the other one is closed as well.
                let _ = carry(client, daemon, Breaking::new(fault)).await;
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Carries lines both ways until either side has closed.
async fn carry(client: UnixStream, daemon: UnixStream, mut breaking: Breaking) -> io::Result<()> {
    let (from_client, mut to_client) = client.into_split();
    let (from_daemon, mut to_daemon) = daemon.into_split();
    let (mut from_client, mut from_daemon) = (Lines::new(from_client), Lines::new(from_daemon));
    loop {
        let (to_daemon_now, to_client_now) = tokio::select! {
            line = from_client.next() => match line? {
                Some(line) => breaking.pass_client_line(line),
                None => return to_daemon.shutdown().await,
            },
            line = from_daemon.next() => match line? {
                Some(line) => (Vec::new(), breaking.pass_daemon_line(line)),
                None => return Ok(()),
            },
        };
        write(&mut to_daemon, &to_daemon_now).await?;
        write(&mut to_client, &to_client_now).await?;
        if breaking.ends() {
            return Ok(());
        }
    }
}

async fn write(to: &mut OwnedWriteHalf, pieces: &[Vec<u8>]) -> io::Result<()> {
    for piece in pieces {
        to.write_all(piece).await?;
    }
    Ok(())
}

/// Lines with their ends; what was read of one is kept when the wait is given up.
struct Lines {
    reader: BufReader<OwnedReadHalf>,
    line: Vec<u8>,
}

impl Lines {
    fn new(half: OwnedReadHalf) -> Self {
        Self { reader: BufReader::new(half), line: Vec::new() }
    }

    async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let read = self.reader.read_until(b'\n', &mut self.line).await?;
        let line = std::mem::take(&mut self.line);
        Ok((read > 0 || !line.is_empty()).then_some(line))
    }
}
