//! A client that does next to nothing with what it reads, so that the daemon is measured and not the client.

use std::{io, path::Path, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};

/// How long anything may take before the bench gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// A connection.
pub(crate) struct Wire {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    line: Vec<u8>,
    next_id: u64,
}

impl Wire {
    pub(crate) async fn connect(socket: &Path) -> io::Result<Self> {
        let (reader, writer) = UnixStream::connect(socket).await?.into_split();
        Ok(Self { reader: BufReader::with_capacity(65_536, reader), writer, line: Vec::new(), next_id: 1 })
    }

    /// A connection that has shaken hands.
    pub(crate) async fn greeted(socket: &Path) -> io::Result<Self> {
        let mut wire = Self::connect(socket).await?;
        let client = json!({"name": "bench", "version": "0"});
        let hello = json!({"protocol": {"min": 1, "max": 1}, "client": client, "optOut": ["data/changed"]});
        wire.call("initialize", hello).await?;
        Ok(wire)
    }

    /// Sends a line, its line break included.
    pub(crate) async fn send(&mut self, line: &[u8]) -> io::Result<()> {
        self.writer.write_all(line).await
    }

    /// The next line.
    pub(crate) async fn next(&mut self) -> io::Result<&[u8]> {
        self.line.clear();
        let read = timeout(PATIENCE, self.reader.read_until(b'\n', &mut self.line)).await;
        match read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(&self.line),
        }
    }

    /// Bytes as they come, at least one.
    pub(crate) async fn some(&mut self) -> io::Result<usize> {
        let read = timeout(PATIENCE, self.reader.fill_buf()).await;
        let length = read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??.len();
        self.reader.consume(length);
        if length == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(length) }
    }

    /// The next line that contains `needle`.
    pub(crate) async fn until(&mut self, needle: &str) -> io::Result<&[u8]> {
        while !contains(self.next().await?, needle) {}
        Ok(&self.line)
    }

    /// Sends a line and reads one; how long that is.
    pub(crate) async fn exchange(&mut self, line: &[u8]) -> io::Result<usize> {
        self.send(line).await?;
        Ok(self.next().await?.len())
    }

    /// Sends a line and reads up to the line that begins so.
    pub(crate) async fn ask_past(&mut self, line: &[u8], head: &str) -> io::Result<()> {
        self.send(line).await?;
        while !self.next().await?.starts_with(head.as_bytes()) {}
        Ok(())
    }

    /// Sends a request line and reads up to its answer, which must be a result.
    pub(crate) async fn ask(&mut self, line: &[u8]) -> io::Result<()> {
        self.send(line).await?;
        loop {
            let answer = self.next().await?;
            let head = &answer[..answer.len().min(64)];
            if contains(head, r#""result":"#) {
                return Ok(());
            }
            if contains(head, r#""error":"#) {
                return Err(refused(answer));
            }
        }
    }

    /// Calls a method.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> io::Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&request(id, method, &params)).await?;
        loop {
            let mut answer: Value = serde_json::from_slice(self.next().await?)?;
            if answer["id"] == id && answer.get("method").is_none() {
                return match answer.get("error") {
                    Some(_) => Err(refused(&self.line)),
                    None => Ok(answer["result"].take()),
                };
            }
        }
    }
}

/// The line of a request.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    format!("{request}\n").into_bytes()
}

/// The id of a request, without parsing the rest of its line.
pub(crate) fn id_of(line: &[u8]) -> Option<i64> {
    let after = memchr::memmem::find(line, br#""id":"#)? + 5;
    let digits = line[after..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&line[after..after + digits]).ok()?.parse().ok()
}

/// The line that answers a `tool/call`.
pub(crate) fn tool_result(id: i64) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"success\":true,\
         \"contentItems\":[{{\"type\":\"text\",\"text\":\"done\"}}]}}}}\n"
    )
}

pub(crate) fn contains(line: &[u8], needle: &str) -> bool {
    memchr::memmem::find(line, needle.as_bytes()).is_some()
}

fn refused(line: &[u8]) -> io::Error {
    io::Error::other(format!("the daemon refused: {}", String::from_utf8_lossy(line).trim_end()))
}
