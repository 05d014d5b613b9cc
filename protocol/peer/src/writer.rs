//! Writes what waits: the control lane first, then what the feed has.

use std::{any::Any, io};

use bytes::Bytes;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

use crate::{Feed, Peer};

/// How many lines of the control lane are written together at most.
const LINES_AT_ONCE: usize = 64;
/// Lines up to this many bytes in all are copied together; longer ones are written as they are.
const COPIED_BYTES: usize = 65_536;

/// A line of the control lane and what is let go when it was written.
pub(crate) struct Outgoing {
    pub(crate) line: Bytes,
    pub(crate) holds: Vec<Box<dyn Any + Send>>,
}

pub(crate) type Queue = mpsc::UnboundedReceiver<Outgoing>;

/// Writes until the end of the connection was decided, then what is left of the control lane.
pub(crate) async fn run<W: AsyncWrite + Unpin>(stream: W, peer: &Peer, queue: Queue, feed: &dyn Feed) {
    let mut writer = Writer { stream, peer, queue, lines: Vec::new(), copied: Vec::new() };
    let written = tokio::select! {
        biased;
        written = writer.write(feed) => written,
        () = closed_for(peer) => Ok(()),
    };
    if let Err(error) = written {
        tracing::debug!(%error, "a connection cannot be written to any more");
    }
}

/// Resolves when the end was decided and its grace is over.
async fn closed_for(peer: &Peer) {
    peer.closing().cancelled().await;
    tokio::time::sleep(peer.options().close_grace).await;
}

struct Writer<'a, W> {
    stream: W,
    peer: &'a Peer,
    queue: Queue,
    /// Lines taken off the queue and not yet written.
    lines: Vec<Outgoing>,
    copied: Vec<u8>,
}

impl<W: AsyncWrite + Unpin> Writer<'_, W> {
    async fn write(&mut self, feed: &dyn Feed) -> io::Result<()> {
        let closing = self.peer.closing().cancelled();
        tokio::pin!(closing);
        let mut next = feed.next();
        loop {
            tokio::select! {
                biased;
                taken = self.queue.recv_many(&mut self.lines, LINES_AT_ONCE) => {
                    if taken == 0 {
                        return Ok(());
                    }
                    self.write_lines().await?;
                }
                chunk = &mut next => {
                    // What was queued before the feed had something must be sent before it: an answer may be what
                    // the feed was waiting for.
                    self.write_queued().await?;
                    self.stream.write_all(&chunk).await?;
                    next = feed.next();
                }
                () = &mut closing => {
                    self.queue.close();
                    self.write_queued().await?;
                    self.stream.flush().await?;
                    return self.stream.shutdown().await;
                }
            }
        }
    }

    async fn write_queued(&mut self) -> io::Result<()> {
        while let Ok(outgoing) = self.queue.try_recv() {
            self.lines.push(outgoing);
            if self.lines.len() == LINES_AT_ONCE {
                self.write_lines().await?;
            }
        }
        self.write_lines().await
    }

    async fn write_lines(&mut self) -> io::Result<()> {
        let bytes = self.lines.iter().map(|outgoing| outgoing.line.len()).sum();
        if bytes <= COPIED_BYTES {
            self.copied.clear();
            for outgoing in self.lines.drain(..) {
                self.copied.extend_from_slice(&outgoing.line);
                // Not when all of them are written: whoever has read the first must find its place free, however long the
                // last takes.
                drop(outgoing.holds);
            }
            self.stream.write_all(&self.copied).await?;
            self.peer.written(bytes);
            return Ok(());
        }
        for Outgoing { line, holds } in self.lines.drain(..) {
            self.stream.write_all(&line).await?;
            self.peer.written(line.len());
            drop(holds);
        }
        Ok(())
    }
}
