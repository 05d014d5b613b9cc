//! What stands between a client and its daemon, and cuts.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use ropewalk::{Connect, Ropewalk};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, copy_bidirectional, duplex, split,
};
use tokio_util::sync::CancellationToken;

use super::world::World;

/// Where lines come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Daemon,
}

/// Where one connection is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) from: Side,
    /// So many of its lines come through.
    pub(super) after: usize,
    /// Whether half of the next line comes through too.
    pub(super) half: bool,
    /// Whether the daemon is started anew in the same moment.
    pub(super) restart: bool,
}

/// The proxy. Its connections are cut as planned, one after another; those that come then are left alone.
pub(super) struct Proxy {
    world: Arc<World>,
    plan: Mutex<VecDeque<Cut>>,
    current: Mutex<CancellationToken>,
    /// Lines of the planned connections so far, from the client and from the daemon.
    lines: [AtomicUsize; 2],
    cuts: AtomicUsize,
}

impl Proxy {
    pub(super) fn new(world: &Arc<World>, plan: impl IntoIterator<Item = Cut>) -> Arc<Self> {
        Arc::new(Self {
            world: Arc::clone(world),
            plan: Mutex::new(plan.into_iter().collect()),
            current: Mutex::default(),
            lines: [AtomicUsize::new(0), AtomicUsize::new(0)],
            cuts: AtomicUsize::new(0),
        })
    }

    /// A client behind it.
    pub(super) fn connect(self: &Arc<Self>) -> Connect {
        let proxy = Arc::clone(self);
        Ropewalk::through(move || std::future::ready(proxy.open())).name("bot")
    }

    /// Cuts the connection there is now, if it is one that was not planned to be cut.
    pub(super) fn cut(&self) {
        self.current.lock().unwrap().cancel();
    }

    /// How many lines came from one side.
    pub(super) fn lines(&self, from: Side) -> usize {
        self.lines[from as usize].load(Ordering::SeqCst)
    }

    /// How many connections were cut as planned.
    pub(super) fn cuts(&self) -> usize {
        self.cuts.load(Ordering::SeqCst)
    }

    fn open(self: &Arc<Self>) -> io::Result<DuplexStream> {
        let mut daemon = self.world.open()?;
        let (theirs, mut ours) = duplex(65_536);
        let cut = self.plan.lock().unwrap().pop_front();
        let token = CancellationToken::new();
        *self.current.lock().unwrap() = token.clone();
        let proxy = Arc::clone(self);
        tokio::spawn(async move {
            let Some(cut) = cut else {
                tokio::select! {
                    _ = copy_bidirectional(&mut ours, &mut daemon) => {}
                    () = token.cancelled() => {}
                }
                return;
            };
            let was_cut = {
                let ((from_client, to_client), (from_daemon, to_daemon)) = (split(ours), split(daemon));
                tokio::select! {
                    was_cut = proxy.pump(Side::Client, from_client, to_daemon, cut) => was_cut,
                    was_cut = proxy.pump(Side::Daemon, from_daemon, to_client, cut) => was_cut,
                }
            };
            if was_cut && cut.restart {
                proxy.world.restart().await;
            }
        });
        Ok(theirs)
    }

    /// Passes lines on until the cut, and says whether it came to that.
    async fn pump(
        &self,
        from: Side,
        reader: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
        cut: Cut,
    ) -> bool {
        let (mut reader, mut line) = (BufReader::new(reader), Vec::new());
        for passed in 0.. {
            line.clear();
            if !matches!(reader.read_until(b'\n', &mut line).await, Ok(1..)) {
                return false;
            }
            if cut.from == from && cut.after == passed {
                if cut.half {
                    let _ = to.write_all(&line[..line.len() / 2]).await;
                }
                self.cuts.fetch_add(1, Ordering::SeqCst);
                return true;
            }
            self.lines[from as usize].fetch_add(1, Ordering::SeqCst);
            if to.write_all(&line).await.is_err() {
                return false;
            }
        }
        false
    }
}
