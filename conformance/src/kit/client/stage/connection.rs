//! One connection of the client: bytes out, lines in, and its end from either side.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, watch},
    task::JoinHandle,
    time::timeout,
};

use super::Happening;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 1 << 16;
/// A line longer than this is no line any more: four times what any daemon takes.
const LONGEST_LINE: usize = 64 << 20;

/// The kit's end of a connection.
pub(super) struct Connection {
    writer: Option<OwnedWriteHalf>,
    reads: watch::Sender<bool>,
    reading: JoinHandle<()>,
    ended: bool,
    was_cut: bool,
}

impl Connection {
    /// Takes a connection; what comes is told under its number.
    pub(super) fn over(stream: UnixStream, number: usize, tell: mpsc::Sender<Happening>) -> Self {
        let (reader, writer) = stream.into_split();
        let (reads, gate) = watch::channel(true);
        let reading = tokio::spawn(read(reader, number, gate, tell));
        Self { writer: Some(writer), reads, reading, ended: false, was_cut: false }
    }

    /// Sends bytes.
    pub(super) async fn write(&mut self, bytes: &[u8], patience: Duration) -> io::Result<()> {
        let writer = self.writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        timeout(patience, writer.write_all(bytes)).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Ends it; what the client sent and nobody read is lost. It is gone when this resolves.
    pub(super) async fn cut(&mut self) {
        self.was_cut = true;
        self.writer = None;
        self.reading.abort();
        let _ = (&mut self.reading).await;
    }

    /// Begins or ends to read.
    pub(super) fn read(&self, yes: bool) {
        self.reads.send_replace(yes);
    }

    /// The client has ended it.
    pub(super) fn has_ended(&mut self) {
        self.ended = true;
        self.writer = None;
    }

    /// Whether this side ended it.
    pub(super) const fn was_cut(&self) -> bool {
        self.was_cut
    }

    /// Whether nothing comes through it any more.
    pub(super) const fn is_over(&self) -> bool {
        self.ended || self.was_cut
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

async fn read(
    mut reader: OwnedReadHalf,
    number: usize,
    mut gate: watch::Receiver<bool>,
    tell: mpsc::Sender<Happening>,
) {
    let (mut rest, mut searched) = (Vec::new(), 0);
    loop {
        let read = tokio::select! {
            biased;
            closed = gate.wait_for(|reads| !reads) => match closed {
                // Held until it is to be read again.
                Ok(_) => None,
                Err(_) => return,
            },
            read = read_piece(&mut reader) => Some(read),
        };
        match read {
            None => {
                if gate.wait_for(|reads| *reads).await.is_err() {
                    return;
                }
            }
            Some(Ok(piece)) if !piece.is_empty() && rest.len() < LONGEST_LINE => rest.extend(piece),
            Some(_) => {
                let _ = tell.send(Happening::Ended(number, rest)).await;
                return;
            }
        }
        while let Some(found) = memchr::memchr(b'\n', &rest[searched..]) {
            let line: Vec<u8> = rest.drain(..=searched + found).collect();
            searched = 0;
            if tell.send(Happening::Line(number, line)).await.is_err() {
                return;
            }
        }
        searched = rest.len();
    }
}

/// Reads what there is; nothing at the end.
async fn read_piece(reader: &mut OwnedReadHalf) -> io::Result<Vec<u8>> {
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    reader.read_buf(&mut piece).await?;
    Ok(piece)
}
