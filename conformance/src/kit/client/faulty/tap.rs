//! The place between SDK and socket where a fault is at work.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::Mutex as AsyncMutex,
};

use super::{Fault, Memory, Passage};

/// Bytes that may be on their way through a tap.
const PIPE_BYTES: usize = 1 << 16;
/// Bytes that are read at once.
const PIECE_BYTES: usize = 1 << 14;

/// A fault and what it has seen.
pub(super) struct Tap {
    fault: Fault,
    memory: Mutex<Memory>,
}

/// The ways out of a tap in both directions; whoever answers in another's place uses the other way.
struct Ways {
    to_daemon: AsyncMutex<OwnedWriteHalf>,
    to_sdk: AsyncMutex<WriteHalf<DuplexStream>>,
}

impl Tap {
    pub(super) fn new(fault: Fault) -> Self {
        Self { fault, memory: Mutex::default() }
    }

    /// The SDK's end of a connection that goes through here.
    pub(super) fn over(self: Arc<Self>, daemon: UnixStream) -> DuplexStream {
        self.memory().connections += 1;
        let (sdk, here) = duplex(PIPE_BYTES);
        let (from_sdk, to_sdk) = split(here);
        let (from_daemon, to_daemon) = daemon.into_split();
        let ways = Ways { to_daemon: AsyncMutex::new(to_daemon), to_sdk: AsyncMutex::new(to_sdk) };
        tokio::spawn(async move {
            tokio::select! {
                () = self.outgoing(from_sdk, &ways) => {}
                () = self.incoming(from_daemon, &ways) => {}
            }
            // Both ends see that it is over.
            let _ = ways.to_sdk.lock().await.shutdown().await;
            let _ = ways.to_daemon.lock().await.shutdown().await;
        });
        sdk
    }

    async fn outgoing(&self, from_sdk: ReadHalf<DuplexStream>, ways: &Ways) {
        let mut lines = BufReader::new(from_sdk).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let Ok(message) = serde_json::from_str(&line) else { return };
            let passage = self.fault.outgoing(message, &mut self.memory());
            let pretty = self.fault == Fault::WritesSeveralLines;
            let text: String = passage.on.iter().map(|message| written(message, pretty)).collect();
            if ways.to_daemon.lock().await.write_all(text.as_bytes()).await.is_err() {
                return;
            }
            let text: String = passage.back.iter().map(|message| written(message, false)).collect();
            if ways.to_sdk.lock().await.write_all(text.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    async fn incoming(&self, mut from_daemon: OwnedReadHalf, ways: &Ways) {
        let (mut read, mut piece) = (Vec::new(), vec![0; PIECE_BYTES]);
        loop {
            match from_daemon.read(&mut piece).await {
                Ok(0) | Err(_) => return,
                Ok(bytes) => self.take(&piece[..bytes], &mut read),
            }
            while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = read.drain(..=end).collect();
                let Passage { on, back, ends } = self.pass(&line);
                let text: String = on.iter().map(|message| written(message, false)).collect();
                let raw = if on.is_empty() && back.is_empty() && !ends { line } else { text.into_bytes() };
                let raw = if self.drops(&raw) { Vec::new() } else { raw };
                if ends || ways.to_sdk.lock().await.write_all(&raw).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Adds a piece of the stream to what was read, as well as the fault reads it.
    fn take(&self, piece: &[u8], read: &mut Vec<u8>) {
        match self.fault {
            Fault::ReadsPieces => read.extend(String::from_utf8_lossy(piece).as_bytes()),
            Fault::ReadsOneLineAPiece => {
                let end = piece.iter().position(|byte| *byte == b'\n').map_or(piece.len(), |at| at + 1);
                read.extend(&piece[..end]);
            }
            _ => read.extend(piece),
        }
    }

    /// What becomes of a line of the daemon; one that is no message goes on as it is.
    fn pass(&self, line: &[u8]) -> Passage {
        match serde_json::from_slice::<Value>(line) {
            Ok(message) if message.is_object() => self.fault.incoming(message, &mut self.memory()),
            _ => Passage::default(),
        }
    }

    /// Whether a line that would go on as it is says what the fault does not hear.
    fn drops(&self, line: &[u8]) -> bool {
        let says = |method: &str| String::from_utf8_lossy(line).contains(method);
        self.fault == Fault::MissesSettlements && says("\"interaction/settled\"")
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn written(message: &Value, pretty: bool) -> String {
    let text = if pretty { serde_json::to_string_pretty(message) } else { serde_json::to_string(message) };
    text.unwrap_or_default() + "\n"
}
