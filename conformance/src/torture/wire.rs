//! A connection to a daemon that may be gone at any moment: what fails is an error, and never a panic.

use std::{io, path::Path, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};

/// How long the daemon may take to read what it is sent.
const WRITTEN_WITHIN: Duration = Duration::from_secs(60);

/// Both directions of a connection.
pub(super) struct Wire {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
    next_id: i64,
}

impl Wire {
    /// A connection that has not shaken hands.
    pub(super) async fn connect(socket: &Path) -> io::Result<Self> {
        let (reader, writer) = UnixStream::connect(socket).await?.into_split();
        Ok(Self { lines: BufReader::new(reader).lines(), writer, next_id: 1 })
    }

    /// The next line. Nothing is lost when the future is dropped before it is done.
    pub(super) async fn next(&mut self) -> io::Result<Value> {
        let line = self.lines.next_line().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        // Half a line is what a daemon leaves that is killed while it writes.
        serde_json::from_str(&line).map_err(|_| io::ErrorKind::UnexpectedEof.into())
    }

    /// Sends a request; its id.
    pub(super) async fn request(&mut self, method: &str, params: &Value) -> io::Result<i64> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        Ok(id)
    }

    /// Answers a request of the daemon.
    pub(super) async fn reply(&mut self, id: &Value, result: &Value) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result})).await
    }

    async fn send(&mut self, message: &Value) -> io::Result<()> {
        let line = format!("{message}\n");
        let written = timeout(WRITTEN_WITHIN, self.writer.write_all(line.as_bytes())).await;
        written.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }
}
