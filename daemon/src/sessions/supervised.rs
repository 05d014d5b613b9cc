//! One server under supervision: started when it is needed, once at a time, started again when it is lost, closed when it is
//! idle. Its trouble is its own.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ropewalk_protocol::Timestamp;
use tokio::sync::watch;

use super::{
    diagnostics::{Diagnostics, Remarks},
    launch::Launch,
    listing::Listing,
    session::Session,
    starting,
    supervisor::{LIST_PATIENCE, World},
};

/// How long a session nobody uses is kept open (MCP-127).
pub const IDLE: Duration = Duration::from_secs(300);

/// How long a list of tools is good before a call (MCP-72).
const LISTING_AGE_MS: u64 = 300_000;

/// How long a server is left alone after it failed: at first, and at most. It doubles with each failure.
const BACK_OFF: Duration = Duration::from_secs(1);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(60);

/// How long is waited between two lists of a server that says all the time that its tools changed: at first, and at most.
const LIST_AGAIN: Duration = Duration::from_secs(1);
const LONGEST_LIST_AGAIN: Duration = Duration::from_secs(60);

/// So many changes without a pause are worth telling.
const RESTLESS: u32 = 4;

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
                Look::Start(former) => {
                    has_started = true;
                    let (this, launch) = (self.clone(), launch.clone());
                    // In a task of its own, so that a start is never half done because nobody waits for it.
                    tokio::spawn(async move { this.start(launch, former).await });
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
        self.standing.send_replace(Standing::Starting);
        Look::Start(inner.session.take())
    }

    async fn start(self: Arc<Self>, launch: Launch, former: Option<Arc<Session>>) {
        self.tell();
        if let Some(former) = former {
            former.close().await;
        }
        let diagnostics = Diagnostics::default();
        let version = {
            let mut inner = self.inner();
            inner.diagnostics = diagnostics.clone();
            inner.starts += 1;
            inner.version.clone()
        };
        let started = starting::start(&self.world, &launch, version, &diagnostics).await;
        match started {
            Ok((session, listing)) => self.is_ready(session, listing),
            Err(reason) => {
                // What was negotiated with another version of the server says nothing of this one.
                self.inner().version = None;
                self.failed(reason);
            }
        }
        self.tell();
    }

    fn is_ready(self: &Arc<Self>, session: Arc<Session>, listing: Arc<Listing>) {
        let mut inner = self.inner();
        inner.version = Some(session.version().to_owned());
        inner.listing = Some(listing);
        inner.session = Some(session.clone());
        session.touch();
        self.standing.send_replace(Standing::Ready);
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
        self.standing.send_replace(Standing::Failed { reason, retry_at });
    }

    /// Notices the end of a session, and ends one that nobody uses.
    async fn watch_over(self: Arc<Self>, session: Arc<Session>) {
        loop {
            let idle_ms = session.idle_since().map(|since| self.world.clock.now().millis_since(since));
            let left = IDLE.saturating_sub(Duration::from_millis(idle_ms.unwrap_or(0)));
            if left.is_zero() {
                self.end_session(&session, Standing::Stopped).await;
                return;
            }
            tokio::select! {
                () = session.ended() => break,
                () = self.world.clock.sleep(left) => {}
            }
            if !self.is_current(&session) {
                return;
            }
        }
        session.close().await;
        // What it still answered counts.
        session.settled().await;
        if !self.is_current(&session) {
            return;
        }
        let reason = session.exit().unwrap_or_else(|| "it closed the connection".to_owned());
        if session.has_served() {
            // It worked: it is started again by the next use, without a pause (M35).
            let mut inner = self.inner();
            inner.failures = 0;
            inner.session = None;
            drop(inner);
            let retry_at = self.world.clock.now();
            self.standing.send_replace(Standing::Failed { reason, retry_at });
        } else {
            self.failed(reason);
        }
        self.tell();
    }

    /// Lists anew whenever the server says that its tools changed: a change while a list is read makes the next one due
    /// (M28), and a server that says it all the time is asked ever more rarely (M29).
    async fn keep_listed(self: Arc<Self>, session: Arc<Session>) {
        let mut changes = session.changes();
        // What changed since the first list was begun is not in it.
        let mut is_due = *changes.borrow_and_update() > 0;
        let (mut pause, mut in_a_row) = (LIST_AGAIN, 0);
        loop {
            if !is_due {
                tokio::select! {
                    changed = changes.changed() => if changed.is_err() { return },
                    () = session.ended() => return,
                }
            }
            changes.mark_unchanged();
            if !self.relist(&session).await {
                return;
            }
            self.world.clock.sleep(pause).await;
            is_due = changes.has_changed().unwrap_or(false);
            (pause, in_a_row) =
                if is_due { ((pause * 2).min(LONGEST_LIST_AGAIN), in_a_row + 1) } else { (LIST_AGAIN, 0) };
            if in_a_row == RESTLESS {
                tracing::warn!(server = %self.key, "this server says all the time that its tools changed; it is asked rarely");
            }
        }
    }

    /// Lists anew; false when the session is not the one in use any more.
    async fn relist(&self, session: &Arc<Session>) -> bool {
        if let Err(reason) = self.relist_now(session).await {
            tracing::warn!(server = %self.key, %reason, "tools could not be listed anew");
        }
        self.is_current(session)
    }

    /// Lists anew.
    ///
    /// # Errors
    /// What the server did instead, as a sentence.
    pub async fn relist_now(&self, session: &Arc<Session>) -> Result<(), String> {
        let listing = session.list(LIST_PATIENCE).await?;
        if self.is_current(session) {
            let former = self.inner().listing.replace(listing.clone());
            if former != Some(listing) {
                self.tell();
            }
        }
        Ok(())
    }

    /// Has a list that is not too old for a call. A server that does not list is tried all the same.
    pub async fn refresh(&self, session: &Arc<Session>) {
        let (_, at) = session.listing();
        if self.world.clock.now().millis_since(at) >= LISTING_AGE_MS {
            self.relist(session).await;
        }
    }

    /// Ends it, whatever it is doing; the next use starts it again.
    pub async fn close(&self) {
        let session = self.inner().session.clone();
        if let Some(session) = session {
            self.end_session(&session, Standing::Stopped).await;
        }
    }

    async fn end_session(&self, session: &Arc<Session>, then: Standing) {
        let is_current = {
            let mut inner = self.inner();
            let is_current = inner.session.as_ref().is_some_and(|current| Arc::ptr_eq(current, session));
            if is_current {
                inner.session = None;
                // Nobody starts it before it is gone.
                self.standing.send_replace(Standing::Starting);
            }
            is_current
        };
        session.close().await;
        if is_current {
            self.standing.send_replace(then);
            self.tell();
        }
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
    Start(Option<Arc<Session>>),
    Wait,
}
