//! One server under supervision: started when it is needed, once at a time, started again when it is lost, closed when it is
//! idle. Its trouble is its own.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ropewalk_protocol::Timestamp;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    diagnostics::{Diagnostics, Remarks},
    launch::Launch,
    listing::Listing,
    session::Session,
    starting::{self, Start, WaitsFor},
    supervisor::World,
};

mod living;

pub use living::IDLE;

/// How long a server is left alone after it failed: at first, and at most. It doubles with each failure.
const BACK_OFF: Duration = Duration::from_secs(1);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(60);

/// Where a server stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// It is not running, and is started by the first use.
    #[default]
    Stopped,
    /// It is starting.
    Starting,
    /// It can be used.
    Ready,
    /// It could not be started, or was lost.
    Failed {
        /// Why.
        reason: String,
        /// When a use starts it again.
        retry_at: Timestamp,
    },
}

/// What is known of a server at one moment.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Where it stands.
    pub standing: Standing,
    /// Since when it stands there; none where it was never started.
    pub since: Option<Timestamp>,
    /// What is waited for, while it is starting.
    pub waits_for: Option<WaitsFor>,
    /// Its tools as they were listed last, in this life of the daemon.
    pub listing: Option<Arc<Listing>>,
    /// The version of the protocol that was negotiated.
    pub version: Option<String>,
    /// How often it was started.
    pub starts: u64,
    /// What it said beside the protocol, since it was started last.
    pub remarks: Remarks,
}

/// Why a server cannot be used now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Why, as a sentence without its name.
    pub reason: String,
}

/// One server under supervision.
pub struct Supervised {
    /// By what it is found.
    key: String,
    world: Arc<World>,
    inner: Mutex<Inner>,
    standing: watch::Sender<Standing>,
}

#[derive(Default)]
struct Inner {
    session: Option<Arc<Session>>,
    /// What the session was begun with.
    launch: Option<Launch>,
    listing: Option<Arc<Listing>>,
    version: Option<String>,
    failures: u32,
    starts: u64,
    diagnostics: Diagnostics,
    since: Option<Timestamp>,
    waits_for: Option<WaitsFor>,
    /// Ends the start that is under way.
    starting: Option<CancellationToken>,
    /// Nobody finds it any more, so nobody may start it.
    is_retired: bool,
}

impl Supervised {
    pub(super) fn new(key: String, world: Arc<World>) -> Arc<Self> {
        Arc::new(Self { key, world, inner: Mutex::default(), standing: watch::Sender::new(Standing::Stopped) })
    }

    /// What is known of it.
    pub fn status(&self) -> Status {
        let inner = self.inner();
        Status {
            standing: self.standing.borrow().clone(),
            since: inner.since,
            waits_for: inner.waits_for,
            listing: inner.listing.clone(),
            version: inner.version.clone(),
            starts: inner.starts,
            remarks: inner.diagnostics.remarks(),
        }
    }

    /// A session that can be used. Starts the server if nobody has, and waits until it is ready or has failed; dropping the
    /// future leaves the start going.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn open(self: &Arc<Self>, launch: &Launch) -> Result<Arc<Session>, Trouble> {
        let mut standing = self.standing.subscribe();
        let mut has_started = false;
        loop {
            match self.look(launch, has_started) {
                Look::Usable(session) => return Ok(session),
                Look::Failed(reason) => return Err(Trouble { reason }),
                Look::Start(former, stop) => {
                    has_started = true;
                    let (this, launch) = (self.clone(), launch.clone());
                    // In a task of its own, so that a start is never half done because nobody waits for it.
                    tokio::spawn(async move { this.start(launch, former, stop).await });
                }
                Look::Wait => {
                    if standing.wait_for(|standing| *standing != Standing::Starting).await.is_err() {
                        return Err(Trouble { reason: "the daemon is stopping".to_owned() });
                    }
                    has_started = true;
                }
            }
        }
    }

    /// Looks at where it stands, and claims the start if one is needed: there is never more than one (M47).
    fn look(&self, launch: &Launch, has_started: bool) -> Look {
        let mut inner = self.inner();
        if inner.is_retired {
            return Look::Failed("it was closed meanwhile".to_owned());
        }
        let standing = self.standing.borrow().clone();
        let is_same = inner.launch.as_ref().is_some_and(|former| former.fingerprint == launch.fingerprint);
        match standing {
            Standing::Starting => return Look::Wait,
            Standing::Ready if is_same => {
                if let Some(session) = inner.session.clone().filter(|session| session.is_alive()) {
                    session.touch();
                    return Look::Usable(session);
                }
            }
            Standing::Failed { reason, retry_at } if is_same && (has_started || self.world.clock.now() < retry_at) => {
                return Look::Failed(reason);
            }
            _ => {}
        }
        if !is_same {
            // Another command is another server: what failed before says nothing of it.
            inner.failures = 0;
            inner.version = launch.version.clone();
        }
        inner.launch = Some(launch.clone());
        let stop = CancellationToken::new();
        inner.starting = Some(stop.clone());
        let former = inner.session.take();
        inner.waits_for = former.as_ref().map(|_| WaitsFor::End);
        self.stands(&mut inner, Standing::Starting);
        Look::Start(former, stop)
    }

    async fn start(self: Arc<Self>, launch: Launch, former: Option<Arc<Session>>, stop: CancellationToken) {
        self.tell();
        if let Some(former) = former {
            former.close().await;
        }
        let diagnostics = Diagnostics::hiding(launch.secrets());
        let version = {
            let mut inner = self.inner();
            inner.diagnostics = diagnostics.clone();
            inner.starts += 1;
            inner.version.clone()
        };
        let now = |waits_for| {
            self.inner().waits_for = Some(waits_for);
            self.tell();
        };
        let start = Start { world: &self.world, launch: &launch, diagnostics: &diagnostics, stop: &stop, now: &now };
        let started = starting::start(start, version).await;
        let started = match started {
            Ok((session, _)) if stop.is_cancelled() => {
                session.close().await;
                None
            }
            started => Some(started),
        };
        {
            let mut inner = self.inner();
            (inner.starting, inner.waits_for) = (None, None);
            match started {
                Some(Ok((session, listing))) => self.is_ready(inner, session, listing),
                Some(Err(reason)) if !stop.is_cancelled() => {
                    // What was negotiated with another version of the server says nothing of this one.
                    inner.version = None;
                    drop(inner);
                    self.failed(reason);
                }
                _ => self.stands(&mut inner, Standing::Stopped),
            }
        }
        self.tell();
    }

    fn is_ready(self: &Arc<Self>, mut inner: MutexGuard<'_, Inner>, session: Arc<Session>, listing: Arc<Listing>) {
        inner.version = Some(session.version().to_owned());
        inner.listing = Some(listing);
        inner.session = Some(session.clone());
        session.touch();
        self.stands(&mut inner, Standing::Ready);
        drop(inner);
        tokio::spawn(self.clone().watch_over(session.clone()));
        tokio::spawn(self.clone().keep_listed(session));
    }

    /// Notes a failure, and how long it is left alone for it.
    fn failed(&self, reason: String) {
        // What a server writes to stderr is for its owner, and not for a log.
        tracing::warn!(server = %self.key, %reason, "a server has failed");
        let mut inner = self.inner();
        let reason = match inner.diagnostics.last_words() {
            Some(words) => format!("{reason}; it wrote: {words}"),
            None => reason,
        };
        let pause = BACK_OFF.saturating_mul(1 << inner.failures.min(10)).min(LONGEST_BACK_OFF);
        inner.failures += 1;
        inner.session = None;
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        let retry_at = self.world.clock.now().plus_millis(pause_ms);
        self.stands(&mut inner, Standing::Failed { reason, retry_at });
    }

    /// Ends it, whatever it is doing; the next use starts it again.
    pub async fn close(&self) {
        let starting = self.inner().starting.clone();
        if let Some(starting) = starting {
            starting.cancel();
            // Nothing of it runs when this is over.
            let _ = self.standing.subscribe().wait_for(|standing| *standing != Standing::Starting).await;
        }
        let session = self.inner().session.clone();
        if let Some(session) = session {
            self.end_session(&session, Standing::Stopped).await;
        }
    }

    /// Ends it for good: whoever still has it finds that it was closed.
    pub async fn retire(&self) {
        self.inner().is_retired = true;
        self.close().await;
    }

    async fn end_session(&self, session: &Arc<Session>, then: Standing) {
        let is_current = {
            let mut inner = self.inner();
            let is_current = inner.session.as_ref().is_some_and(|current| Arc::ptr_eq(current, session));
            if is_current {
                inner.session = None;
                inner.waits_for = Some(WaitsFor::End);
                // Nobody starts it before it is gone.
                self.stands(&mut inner, Standing::Starting);
            }
            is_current
        };
        session.close().await;
        if is_current {
            let mut inner = self.inner();
            inner.waits_for = None;
            self.stands(&mut inner, then);
            drop(inner);
            self.tell();
        }
    }

    /// Notes where it stands from now on, before anybody else looks.
    fn stands(&self, inner: &mut Inner, standing: Standing) {
        inner.since = Some(self.world.clock.now());
        self.standing.send_replace(standing);
    }

    fn is_current(&self, session: &Arc<Session>) -> bool {
        self.inner().session.as_ref().is_some_and(|current| Arc::ptr_eq(current, session))
    }

    fn tell(&self) {
        (self.world.changed)(&self.key);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Look {
    Usable(Arc<Session>),
    Failed(String),
    Start(Option<Arc<Session>>, CancellationToken),
    Wait,
}
