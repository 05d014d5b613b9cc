//! Plays answers byte for byte and chunk for chunk.

use std::{
    collections::VecDeque,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// The longest request that is read, in bytes; what is longer gets no answer.
const REQUEST_BYTES: u64 = 64 << 20;

/// One answer to play.
#[derive(Clone, Debug)]
pub struct RawReply {
    /// The status.
    pub status: u16,
    /// Headers beside those of the framing.
    pub headers: Vec<(String, String)>,
    /// The body, each element a chunk of its own.
    pub chunks: Vec<Bytes>,
    /// What comes after the last chunk.
    pub ending: RawEnding,
}

/// What comes after the last chunk of a [`RawReply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawEnding {
    /// The body ends as it should.
    Complete,
    /// The connection closes without the end of the body.
    Cut,
    /// Nothing, for as long as the server lives.
    Stall,
}

impl RawReply {
    /// Status 200 and an event stream, sent whole.
    pub fn stream(body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        Self { status: 200, headers, chunks: vec![body.into()], ending: RawEnding::Complete }
    }

    /// The same with the body cut before each of these offsets, which ascend and lie within it.
    #[must_use]
    pub fn split_at(mut self, offsets: &[usize]) -> Self {
        let body = self.chunks.concat();
        let starts = std::iter::once(0).chain(offsets.iter().copied());
        let ends = offsets.iter().copied().chain([body.len()]);
        self.chunks = starts.zip(ends).map(|(start, end)| Bytes::copy_from_slice(&body[start..end])).collect();
        self
    }

    /// The same with this ending.
    #[must_use]
    pub const fn ending(mut self, ending: RawEnding) -> Self {
        self.ending = ending;
        self
    }
}

/// A server on a loopback port that plays one reply a request, whatever the request is. Ends when dropped.
pub struct RawServer {
    address: SocketAddr,
    replies: Arc<Mutex<VecDeque<RawReply>>>,
    accepting: JoinHandle<()>,
}

impl RawServer {
    /// Starts with these replies, in order; the last one is repeated.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub async fn start(replies: impl IntoIterator<Item = RawReply>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let replies = Arc::new(Mutex::new(replies.into_iter().collect()));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&replies)));
        Ok(Self { address, replies, accepting })
    }

    /// Plays another reply instead of those that are left.
    pub fn play(&self, reply: RawReply) {
        *self.replies.lock().unwrap_or_else(PoisonError::into_inner) = VecDeque::from([reply]);
    }

    /// The address below which every path is answered.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, replies: Arc<Mutex<VecDeque<RawReply>>>) {
    // Held here, so that they end with the server.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let replies = Arc::clone(&replies);
        connections.spawn(async move {
            // A peer that hangs up is what some tests are about.
            let _ = answer(stream, &replies).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(stream: TcpStream, replies: &Mutex<VecDeque<RawReply>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream.take(REQUEST_BYTES).into_inner());
    read_request(&mut stream).await?;
    let reply = {
        let mut replies = replies.lock().unwrap_or_else(PoisonError::into_inner);
        if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() }
    };
    let Some(reply) = reply else { return Ok(()) };
    let mut head = format!("HTTP/1.1 {} Played\r\nconnection: close\r\ntransfer-encoding: chunked\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).await?;
    for chunk in reply.chunks.iter().filter(|chunk| !chunk.is_empty()) {
        stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes()).await?;
        stream.write_all(chunk).await?;
        stream.write_all(b"\r\n").await?;
        stream.flush().await?;
    }
    match reply.ending {
        RawEnding::Complete => stream.write_all(b"0\r\n\r\n").await?,
        RawEnding::Cut => {}
        RawEnding::Stall => std::future::pending().await,
    }
    stream.shutdown().await
}

/// Reads a request to its end, so that closing the connection does not reset it under the answer.
async fn read_request(stream: &mut BufReader<TcpStream>) -> io::Result<()> {
    let mut length = 0;
    let mut line = String::new();
    while stream.read_line(&mut line).await? > 0 && line != "\r\n" {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    let body = &mut stream.take(u64::min(length, REQUEST_BYTES));
    tokio::io::copy(body, &mut tokio::io::sink()).await?;
    Ok(())
}
