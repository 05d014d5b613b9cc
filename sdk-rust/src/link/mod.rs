//! The one place that holds the connection. Everything that is sent goes through here: while the connection is away it
//! waits, and what was under way when it was lost is asked again.

mod calls;
mod dial;
mod outage;
mod phase;
mod request;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use ropewalk_peer::Peer;
use ropewalk_protocol::{DaemonStatus, Empty, Initialized, Limits, ToolProgressParams, ToolProgressSent};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::Error;

pub use phase::Connection;

pub(crate) use calls::is_not_ready;
pub(crate) use dial::{Dial, Given, Socket, Through};
pub(crate) use outage::Outage;
pub(crate) use phase::Over;

use outage::History;
use phase::Phase;

/// Room for everything of a message that is not its parameters or result.
const ENVELOPE_BYTES: u64 = 4_096;
/// How often a daemon that is not ready for a request is asked again.
pub(crate) const NOT_READY_PAUSE: Duration = Duration::from_millis(200);
/// After so long without a word a daemon is asked how it is, by those who wait for events.
const QUIET: Duration = Duration::from_secs(60);

/// The connection to the daemon, and how long its answers may take.
pub(crate) struct Link {
    phase: watch::Sender<Phase>,
    shown: watch::Sender<Connection>,
    /// Cancelled when the client has ended.
    over: CancellationToken,
    /// What the daemon of the newest connection said of itself.
    about: Mutex<Option<Arc<Initialized>>>,
    /// The newest connection that has shaken hands, whether or not calls go through it yet.
    greeted: AtomicU64,
    life: Mutex<Life>,
    heard: Mutex<Option<Instant>>,
    patience: Duration,
    /// Whether a connection that is lost can be made again.
    is_lasting: bool,
    /// Whether this client has asked the daemon to stop: then a connection that is lost is not made again.
    stops: AtomicBool,
}

struct Life {
    connected_at: Instant,
    reconnects: u64,
    history: History,
}

impl Link {
    /// A link without a connection. Calls on it wait for one.
    pub(crate) fn new(patience: Duration, is_lasting: bool) -> Self {
        let now = Instant::now();
        let shown = Connection::Reconnecting { since: now, attempt: 1, reason: "the first connection".into() };
        Self {
            phase: watch::Sender::new(Phase::Away),
            shown: watch::Sender::new(shown),
            over: CancellationToken::new(),
            about: Mutex::default(),
            greeted: AtomicU64::new(0),
            life: Mutex::new(Life { connected_at: now, reconnects: 0, history: History::default() }),
            heard: Mutex::default(),
            patience,
            is_lasting,
            stops: AtomicBool::new(false),
        }
    }

    /// How the client stands, and how that changes.
    pub(crate) fn watch(&self) -> watch::Receiver<Connection> {
        self.shown.subscribe()
    }

    /// Cancelled when the client has ended.
    pub(crate) const fn ended(&self) -> &CancellationToken {
        &self.over
    }

    /// How long an answer may take.
    pub(crate) const fn patience(&self) -> Duration {
        self.patience
    }

    /// A connection has shaken hands. From here on whoever attaches to a thread through an older one does so again.
    pub(crate) fn greeted(&self, generation: u64, about: Initialized) {
        *lock(&self.about) = Some(Arc::new(about));
        self.greeted.store(generation, Ordering::SeqCst);
        self.hear();
    }

    /// The newest connection that has shaken hands.
    pub(crate) fn generation(&self) -> u64 {
        self.greeted.load(Ordering::SeqCst)
    }

    /// What the daemon said of itself.
    pub(crate) fn about(&self) -> Option<Arc<Initialized>> {
        lock(&self.about).clone()
    }

    /// Calls go through this connection from now on. Whoever opens it looks whether it was lost in the same moment.
    pub(crate) fn open(&self, peer: &Peer, generation: u64, outage: Option<Outage>) {
        let daemon = self.about().map_or_else(|| "".into(), |about| about.daemon.instance_id.clone());
        let reconnects = {
            let mut life = lock(&self.life);
            life.connected_at = Instant::now();
            if let Some(outage) = outage {
                life.history.ended(outage);
                life.reconnects += 1;
            }
            life.reconnects
        };
        self.enter(Phase::Connected { peer: peer.clone(), generation }, Connection::Connected { daemon, reconnects });
    }

    /// The connection of this generation was lost. An outage begins, or the client is over; nothing when it is not the
    /// connection that calls go through.
    pub(crate) fn lost(&self, generation: u64) -> Option<Result<Outage, Over>> {
        let is_lasting = self.is_lasting();
        let mut was_current = false;
        self.phase.send_if_modified(|phase| {
            was_current = matches!(phase, Phase::Connected { generation: current, .. } if *current == generation);
            if was_current {
                *phase = if is_lasting { Phase::Away } else { Phase::Over(Over::Lost) };
            }
            was_current
        });
        if !was_current {
            return None;
        }
        if !is_lasting {
            self.shown.send_replace(Over::Lost.shown());
            self.over.cancel();
            return Some(Err(Over::Lost));
        }
        let mut life = lock(&self.life);
        let connected_at = life.connected_at;
        let outage = life.history.lost(connected_at);
        drop(life);
        self.tell(&outage, "the connection was lost");
        Some(Ok(outage))
    }

    /// Shows how an outage stands.
    pub(crate) fn tell(&self, outage: &Outage, reason: &str) {
        let shown = Connection::Reconnecting {
            since: outage.since,
            attempt: outage.attempts.saturating_add(1),
            reason: reason.into(),
        };
        self.shown.send_if_modified(|current| {
            let is_over = matches!(current, Connection::Closed { .. });
            if !is_over {
                *current = shown;
            }
            !is_over
        });
    }

    /// The client has ended. The first reason counts. Gives the connection that calls went through.
    pub(crate) fn end(&self, over: Over) -> Option<Peer> {
        let shown = over.shown();
        let mut peer = None;
        self.enter_if(|phase| match phase {
            Phase::Over(_) => None,
            Phase::Away => Some((Phase::Over(over), shown)),
            Phase::Connected { peer: current, .. } => {
                peer = Some(current.clone());
                Some((Phase::Over(over), shown))
            }
        });
        self.over.cancel();
        if let Some(peer) = &peer {
            peer.close();
        }
        peer
    }

    /// Why the client has ended; an error that says that it has when nobody has said why.
    pub(crate) fn why(&self) -> Error {
        match &*self.phase.borrow() {
            Phase::Over(over) => over.error(),
            Phase::Connected { .. } | Phase::Away => Error::Disconnected,
        }
    }

    /// Something came from the daemon.
    pub(crate) fn hear(&self) {
        *lock(&self.heard) = Some(Instant::now());
    }

    /// Resolves when the daemon is mute: silent for a minute, and then not even saying how it is.
    pub(crate) async fn mute(&self) -> Error {
        loop {
            let heard = *lock(&self.heard);
            let asked_at = heard.unwrap_or_else(Instant::now) + QUIET;
            sleep_until(asked_at).await;
            let silent = lock(&self.heard).is_none_or(|at| at + QUIET <= asked_at);
            // A refusal is a sign of life as good as any.
            if silent
                && let Err(error) = self.call::<DaemonStatus>(&Empty {}).await
                && error.kind().is_none()
            {
                return error;
            }
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        matches!(&*self.phase.borrow(), Phase::Connected { peer, .. } if !peer.is_closed())
    }

    /// The limits of the daemon, or those of this build before it has said.
    pub(crate) fn limits(&self) -> Limits {
        self.about().map_or_else(Limits::default, |about| about.limits.clone())
    }

    /// The longest parameters or result that fit into a message.
    pub(crate) fn room(&self) -> u64 {
        let limit = self.about().map_or(ropewalk_protocol::limits::MAX_MESSAGE_BYTES, |it| it.limits.max_message_bytes);
        limit.saturating_sub(ENVELOPE_BYTES)
    }

    /// Shows life of a call. While the connection is away nothing is sent: the next offer shows it.
    pub(crate) fn progress(&self, progress: &ToolProgressParams) {
        if let Phase::Connected { peer, .. } = &*self.phase.borrow() {
            let _ = peer.notify::<ToolProgressSent>(progress);
        }
    }

    fn is_lasting(&self) -> bool {
        self.is_lasting && !self.stops.load(Ordering::SeqCst)
    }

    fn enter(&self, phase: Phase, shown: Connection) {
        self.enter_if(|current| (!matches!(current, Phase::Over(_))).then_some((phase, shown)));
    }

    /// Moves both at once, so that nobody is shown a phase that is over.
    fn enter_if(&self, next: impl FnOnce(&Phase) -> Option<(Phase, Connection)>) {
        self.phase.send_if_modified(|current| match next(current) {
            None => false,
            Some((phase, shown)) => {
                *current = phase;
                self.shown.send_replace(shown);
                true
            }
        });
    }
}

pub(crate) fn unreadable(method: &str, error: &serde_json::Error) -> Error {
    Error::Unreadable { method: method.to_owned(), reason: error.to_string() }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
