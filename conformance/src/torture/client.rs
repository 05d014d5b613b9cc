//! A client process that outlives daemons: it works while there is one, and comes back to the next.

use std::{
    io,
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use rand::{SeedableRng, rngs::StdRng};
use tokio::{sync::watch, time::timeout};

use super::{Shared, memory::Memory, session::Session, work::Chooser};

/// How long there may be no daemon.
const BETWEEN_LIVES: Duration = Duration::from_secs(120);

/// A daemon as its clients see it.
#[derive(Clone, Debug, Default)]
pub(super) struct Life {
    /// Which it is, from 1 on.
    pub(super) number: u32,
    /// Where it listens, while it does.
    pub(super) socket: Option<Arc<Path>>,
    /// Whether nobody kills it: everything comes to its end.
    pub(super) is_last: bool,
}

/// The process.
pub(super) struct Client {
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) instance: String,
    pub(super) random: StdRng,
    pub(super) chooser: Chooser,
    pub(super) shared: Arc<Shared>,
    pub(super) memory: Memory,
    /// Whether it has done, in this life, all that a client does which comes back.
    is_back: bool,
    /// The life of the daemon it is in.
    life: u32,
}

impl Client {
    pub(super) fn new(number: usize, seed: u64, shared: Arc<Shared>) -> Self {
        Self {
            number,
            name: format!("client-{number}"),
            instance: format!("instance-{number}"),
            random: StdRng::seed_from_u64(seed.wrapping_mul(1_000).wrapping_add(number as u64)),
            chooser: Chooser { client: number, number: 0 },
            shared,
            memory: Memory::default(),
            is_back: false,
            life: 0,
        }
    }

    /// Works with one daemon after the other, until the last one has answered everything.
    pub(super) async fn live(mut self, mut lives: watch::Receiver<Life>) {
        loop {
            let life = lives.borrow_and_update().clone();
            if let Some(socket) = life.socket.clone() {
                self.life = life.number;
                let cause = match self.spend(&life, &socket).await {
                    Ok(()) => return,
                    Err(cause) => cause,
                };
                let was_back = std::mem::take(&mut self.is_back);
                if life.is_last {
                    return self.violation(format!("its last daemon was gone: {cause}"));
                }
                self.hit(&cause, was_back);
            }
            let next = timeout(BETWEEN_LIVES, lives.changed()).await;
            if !matches!(next, Ok(Ok(()))) {
                return self.violation("a daemon that nobody killed closed its connection".to_owned());
            }
        }
    }

    async fn spend(&mut self, life: &Life, socket: &Path) -> io::Result<()> {
        let mut session = Session::open(self, socket, life.number).await?;
        session.come_back(life.is_last).await?;
        session.work(life.is_last).await
    }

    /// It has done all that a client does which comes back.
    pub(super) fn is_back_again(&mut self) {
        self.is_back = true;
        self.shared.back.fetch_add(1, Ordering::Relaxed);
    }

    /// The daemon is gone: what it was in the middle of.
    fn hit(&mut self, cause: &io::Error, was_back: bool) {
        if cause.kind() == io::ErrorKind::TimedOut {
            self.violation(format!("nothing came within the deadline: {cause}"));
        }
        let mut report = self.shared.tally.report();
        for phase in self.memory.phases(was_back) {
            *report.phases.entry(phase).or_default() += 1;
        }
    }

    /// A promise was broken.
    pub(super) fn violation(&self, what: String) {
        self.shared.tally.violation(format!("{} in life {}: {what}", self.name, self.life));
    }
}
