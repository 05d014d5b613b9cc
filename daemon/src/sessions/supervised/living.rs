//! While a server runs: its end is noticed, it is closed when nobody uses it, and its tools are listed anew when they change.

use std::{sync::Arc, time::Duration};

use super::{Standing, Supervised};
use crate::sessions::{session::Session, supervisor::LIST_PATIENCE};

/// How long a session nobody uses is kept open (MCP-127).
pub const IDLE: Duration = Duration::from_secs(300);

/// How long a list of tools is good before a call (MCP-72).
const LISTING_AGE_MS: u64 = 300_000;

/// How long is waited between two lists of a server that says all the time that its tools changed: at first, and at most.
const LIST_AGAIN: Duration = Duration::from_secs(1);
const LONGEST_LIST_AGAIN: Duration = Duration::from_secs(60);

/// So many changes without a pause are worth telling.
const RESTLESS: u32 = 4;

impl Supervised {
    /// Notices the end of a session, and ends one that nobody uses.
    pub(super) async fn watch_over(self: Arc<Self>, session: Arc<Session>) {
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
            let retry_at = self.world.clock.now();
            self.stands(&mut inner, Standing::Failed { reason, retry_at });
        } else {
            self.failed(reason);
        }
        self.tell();
    }

    /// Lists anew whenever the server says that its tools changed: a change while a list is read makes the next one due
    /// (M28), and a server that says it all the time is asked ever more rarely (M29).
    pub(super) async fn keep_listed(self: Arc<Self>, session: Arc<Session>) {
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
}
