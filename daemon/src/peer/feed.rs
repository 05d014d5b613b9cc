//! The events of one connection: cursors into logs, read when the connection's writer has room.
//!
//! Nothing is queued here. Who reads slowly is served from the log instead of memory, and is never cut off for it.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use ropewalk_peer::{Feed, notification_line};
use ropewalk_protocol::{
    DataChanged, DataKind, InstanceId, Navigate, NavigateParams, RpcError, Seq, ThreadId, ThreadUnsubscribed,
    ThreadUnsubscribedParams,
    limits::{OUTBOX_BYTES, SUBSCRIPTIONS},
};
use tokio::sync::Notify;

use super::changes::Changes;
use crate::{
    clock::Clock,
    engine::{Batch, Cursor, Subscriber, ThreadHandle, Wants},
};

/// The events of one connection.
pub struct EventFeed {
    clock: Arc<dyn Clock>,
    inner: Mutex<Inner>,
    news: Notify,
    released: Notify,
}

struct Inner {
    holds: usize,
    followed: HashMap<ThreadId, Followed>,
    ready: VecDeque<ThreadId>,
    is_ready: HashSet<ThreadId>,
    /// Threads that are followed no more, of which the client is still to be told so.
    lost: BTreeMap<ThreadId, ThreadUnsubscribedParams>,
    wants: Wants,
    changes: Changes,
    /// What is to be shown, newest only.
    navigation: Option<NavigateParams>,
}

struct Followed {
    thread: ThreadHandle,
    cursor: Cursor,
}

/// While it lives, no event is given out.
pub struct HoldGuard(Arc<EventFeed>);

impl EventFeed {
    /// A connection that follows nothing.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            inner: Mutex::new(Inner {
                holds: 0,
                followed: HashMap::new(),
                ready: VecDeque::new(),
                is_ready: HashSet::new(),
                lost: BTreeMap::new(),
                wants: Wants { deltas: true, progress: true },
                changes: Changes::new(),
                navigation: None,
            }),
            news: Notify::new(),
            released: Notify::new(),
        }
    }

    /// Says which ephemeral events and notices the client wants.
    pub fn want(&self, wants: Wants, changes: bool) {
        let mut inner = self.lock();
        inner.wants = wants;
        inner.changes.want(changes);
    }

    /// Whether the connection may follow one more thread.
    #[must_use]
    pub fn has_room(&self) -> bool {
        (self.lock().followed.len() as u64) < SUBSCRIPTIONS
    }

    /// Whether the connection follows this thread, or may.
    #[must_use]
    pub fn may_follow(&self, thread: &ThreadId) -> bool {
        self.has_room() || self.lock().followed.contains_key(thread)
    }

    /// Follows a thread from after an event on; a thread that is followed already has its cursor moved. `false` when
    /// the connection follows as many threads as it may.
    pub fn follow(self: &Arc<Self>, thread: &ThreadHandle, after: Seq) -> bool {
        {
            let mut inner = self.lock();
            let is_known = inner.followed.contains_key(thread.id());
            if !is_known && inner.followed.len() as u64 >= SUBSCRIPTIONS {
                return false;
            }
            let followed = Followed { thread: thread.clone(), cursor: Cursor::after(after) };
            inner.followed.insert(thread.id().clone(), followed);
            inner.lost.remove(thread.id());
        }
        let me: Weak<dyn Subscriber> = Arc::downgrade(self) as Weak<dyn Subscriber>;
        thread.bus().subscribe(me);
        self.wake(thread.id());
        true
    }

    /// Follows a thread no more.
    pub fn unfollow(self: &Arc<Self>, thread: &ThreadId) {
        let followed = {
            let mut inner = self.lock();
            inner.lost.remove(thread);
            inner.followed.remove(thread)
        };
        if let Some(followed) = followed {
            let me: Weak<dyn Subscriber> = Arc::downgrade(self) as Weak<dyn Subscriber>;
            followed.thread.bus().unsubscribe(&me);
        }
    }

    /// Gives out no event until the guard is dropped. The answer to a submit comes before the events of its run
    /// (2.5, rule 2): whoever answers holds the events until the answer is queued.
    #[must_use]
    pub fn hold(self: &Arc<Self>) -> HoldGuard {
        self.lock().holds += 1;
        HoldGuard(self.clone())
    }

    /// Whether an answer is still to come before anything else is sent.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.lock().holds > 0
    }

    /// Returns once no answer has to come first.
    pub async fn released(&self) {
        loop {
            let released = self.released.notified();
            if !self.is_held() {
                return;
            }
            released.await;
        }
    }

    /// Something that lists show has changed.
    pub fn changed(&self, seq: u64, kinds: &[DataKind], ids: &[String], origin: Option<&InstanceId>) {
        if self.lock().changes.note(seq, kinds, ids, origin) {
            self.news.notify_one();
        }
    }

    /// Something is to be shown. What was to be shown before and has not been sent yet is not shown any more.
    pub fn navigate(&self, to: NavigateParams) {
        self.lock().navigation = Some(to);
        self.news.notify_one();
    }

    /// The connection is over: nothing is followed any more.
    pub fn end(self: &Arc<Self>) {
        let threads: Vec<ThreadId> = self.lock().followed.keys().cloned().collect();
        for thread in threads {
            self.unfollow(&thread);
        }
    }

    async fn next_chunk(&self) -> Bytes {
        loop {
            let news = self.news.notified();
            if let Some(line) = self.take_changes() {
                return line;
            }
            if let Some(line) = self.take_navigation() {
                return line;
            }
            if let Some(chunk) = self.events().await {
                return chunk;
            }
            let due_in = self.lock().changes.due_in(self.clock.now());
            match due_in {
                Some(wait) => {
                    let sleep = self.clock.sleep(wait);
                    tokio::select! { biased; () = news => {}, () = sleep => {} }
                }
                None => news.await,
            }
        }
    }

    /// What comes next of the threads that have something new, the longest waiting first.
    async fn events(&self) -> Option<Bytes> {
        loop {
            if let Some(line) = self.take_lost() {
                return Some(line);
            }
            let (thread, batch, next_seq) = self.look()?;
            match batch {
                Batch::Nothing => {}
                Batch::Lines(lines) => return Some(joined(&lines)),
                Batch::FromLog(last) => {
                    if let Some(chunk) = self.read_log(&thread, next_seq, last).await {
                        return Some(chunk);
                    }
                }
            }
        }
    }

    fn look(&self) -> Option<(ThreadHandle, Batch, Seq)> {
        let now = self.clock.now();
        let mut inner = self.lock();
        let wants = inner.wants;
        // Looked at under the same lock that `hold` takes: what is given out here was durable before the hold.
        if inner.holds > 0 {
            return None;
        }
        let id = inner.ready.pop_front()?;
        inner.is_ready.remove(&id);
        let Some(followed) = inner.followed.get_mut(&id) else {
            drop(inner);
            return self.look();
        };
        let (thread, next_seq) = (followed.thread.clone(), followed.cursor.next_seq);
        let batch = thread.bus().next(&mut followed.cursor, &id, now, wants, OUTBOX_BYTES as usize);
        match batch {
            // All that there was of a deleted thread has been given out.
            Batch::Nothing if thread.is_deleted() => inner.lose(&id, RpcError::not_found("thread", &id)),
            Batch::Nothing => {}
            Batch::Lines(_) | Batch::FromLog(_) => inner.make_ready(&id),
        }
        Some((thread, batch, next_seq))
    }

    /// Reads events the hot end has no more of. The cursor moves only with what is given out.
    async fn read_log(&self, thread: &ThreadHandle, next_seq: Seq, last: Seq) -> Option<Bytes> {
        if thread.is_deleted() {
            // Its log is gone: whoever was behind is told that, and hears no more of it.
            self.lock().lose(thread.id(), RpcError::not_found("thread", thread.id()));
            return None;
        }
        let read = thread.event_lines(next_seq, last, OUTBOX_BYTES as usize).await;
        let (chunk, reached) = match read {
            Ok(read) => read,
            Err(error) => {
                let error = if thread.is_deleted() { RpcError::not_found("thread", thread.id()) } else { error };
                tracing::warn!(thread = %thread.id(), %error, "events could not be read; the thread is followed no more");
                self.lock().lose(thread.id(), error);
                return None;
            }
        };
        let mut inner = self.lock();
        let is_held = inner.holds > 0;
        let followed = inner.followed.get_mut(thread.id())?;
        if followed.cursor.next_seq != next_seq || reached < next_seq {
            return None;
        }
        if is_held {
            inner.make_ready(thread.id());
            return None;
        }
        followed.cursor.next_seq = reached + 1;
        inner.make_ready(thread.id());
        Some(chunk)
    }

    /// The word that a thread is followed no more. Behind every event of it that was given out, and held as those are.
    fn take_lost(&self) -> Option<Bytes> {
        let mut inner = self.lock();
        if inner.holds > 0 {
            return None;
        }
        let (_, lost) = inner.lost.pop_first()?;
        notification_line::<ThreadUnsubscribed>(&lost).ok()
    }

    fn take_changes(&self) -> Option<Bytes> {
        let now = self.clock.now();
        let changes = self.lock().changes.take(now)?;
        notification_line::<DataChanged>(&changes).ok()
    }

    /// Behind the word of what has changed, so that what is to be shown can be found in lists that are read again.
    fn take_navigation(&self) -> Option<Bytes> {
        let to = self.lock().navigation.take()?;
        notification_line::<Navigate>(&to).ok()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Follows a thread no more, because of what is said.
    fn lose(&mut self, id: &ThreadId, error: RpcError) {
        let Some(followed) = self.followed.remove(id) else { return };
        let after = followed.cursor.next_seq.saturating_sub(1);
        self.lost.insert(id.clone(), ThreadUnsubscribedParams { thread_id: id.clone(), after, error });
    }

    fn make_ready(&mut self, id: &ThreadId) {
        if self.is_ready.insert(id.clone()) {
            self.ready.push_back(id.clone());
        }
    }
}

impl Subscriber for EventFeed {
    fn wake(&self, thread: &ThreadId) {
        self.lock().make_ready(thread);
        self.news.notify_one();
    }
}

impl Feed for EventFeed {
    fn next(&self) -> BoxFuture<'_, Bytes> {
        Box::pin(self.next_chunk())
    }
}

impl Drop for HoldGuard {
    fn drop(&mut self) {
        let is_last = {
            let mut inner = self.0.lock();
            inner.holds -= 1;
            inner.holds == 0
        };
        self.0.news.notify_one();
        if is_last {
            self.0.released.notify_waiters();
        }
    }
}

fn joined(lines: &[Bytes]) -> Bytes {
    if let [line] = lines {
        return line.clone();
    }
    let mut chunk = BytesMut::with_capacity(lines.iter().map(Bytes::len).sum());
    for line in lines {
        chunk.extend_from_slice(line);
    }
    chunk.freeze()
}
