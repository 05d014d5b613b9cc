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

/// A request as it came.
#[derive(Clone, Debug)]
pub struct RawRequest {
    /// Method, target and version.
    pub line: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl RawRequest {
    /// The first header of this name, which is in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// A server on a loopback port that plays one reply a request, whatever the request is. Ends when dropped.
pub struct RawServer {
    address: SocketAddr,
    played: Arc<Mutex<Played>>,
    accepting: JoinHandle<()>,
}

/// What is left to play, and what was asked.
struct Played {
    replies: VecDeque<RawReply>,
    requests: Vec<RawRequest>,
}

impl RawServer {
    /// Starts with these replies, in order; the last one is repeated.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub async fn start(replies: impl IntoIterator<Item = RawReply>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let played = Played { replies: replies.into_iter().collect(), requests: Vec::new() };
        let played = Arc::new(Mutex::new(played));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&played)));
        Ok(Self { address, played, accepting })
    }

    /// Plays another reply instead of those that are left.
    pub fn play(&self, reply: RawReply) {
        self.lock().replies = VecDeque::from([reply]);
    }

    /// The requests so far, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<RawRequest> {
        self.lock().requests.clone()
    }

    /// The address below which every path is answered.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.origin())
    }

    /// Scheme and address.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Played> {
        self.played.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, played: Arc<Mutex<Played>>) {
    // Held here, so that they end with the server.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let played = Arc::clone(&played);
        connections.spawn(async move {
            // A peer that hangs up is what some tests are about.
            let _ = answer(stream, &played).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(stream: TcpStream, played: &Mutex<Played>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let request = read_request(&mut stream).await?;
    let reply = {
        let mut played = played.lock().unwrap_or_else(PoisonError::into_inner);
        played.requests.push(request);
        let replies = &mut played.replies;
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
async fn read_request(stream: &mut BufReader<TcpStream>) -> io::Result<RawRequest> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let mut request = RawRequest { line: line.trim_end().to_owned(), headers: Vec::new(), body: Bytes::new() };
    line.clear();
    while stream.read_line(&mut line).await? > 0 && line != "\r\n" {
        if let Some((name, value)) = line.split_once(':') {
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        line.clear();
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = Vec::new();
    stream.take(u64::min(length, REQUEST_BYTES)).read_to_end(&mut body).await?;
    request.body = body.into();
    Ok(request)
}
