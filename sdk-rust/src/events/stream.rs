//! The events of a thread for one reader: every durable one exactly once and in order, whatever happened on the way.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures::{FutureExt, Stream, future::BoxFuture};
use ropewalk_protocol::{Event, ItemId, Seq, ThreadEvent, ThreadEventsParams, ThreadId};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{Delivered, End, Mailbox, mailbox::Next};
use crate::{Client, Error};

/// The events of a thread.
///
/// Every durable event after the starting point comes exactly once and in order. A reader that falls behind costs a
/// bounded amount of memory: what did not fit is fetched from the daemon's log. Deltas of a slow reader are merged, and
/// left out when even that does not help: their `offset` tells, and the completed item is authoritative.
///
/// Polling can be given up at any point (a timeout, `select!`) without loss. A lost connection is waited for, and the events
/// go on behind the last one: none is missing, none comes twice, and neither does the text of an open item. The stream ends
/// after the thread or client was closed; with an error when the connection is lost for good, when the thread is deleted
/// (`notFound`), when its log cannot be read (`unavailable`), when it cannot be taken up again ([`Error::LogShortened`]), and
/// with [`Error::Timeout`] when the daemon has been silent for a minute and then does not answer `daemon/status`. Dropping it
/// ends nothing else.
#[must_use = "events are read by polling the stream"]
pub struct EventStream {
    client: Client,
    thread: ThreadId,
    mailbox: Arc<Mailbox>,
    /// The last durable event that was handed out.
    last: Seq,
    /// The event that showed a gap, until the gap is filled.
    held: Option<Delivered>,
    backlog: VecDeque<Delivered>,
    pull: Option<BoxFuture<'static, Result<Pulled, Error>>>,
    /// How many bytes of each open item's text were handed out.
    offsets: HashMap<ItemId, u64>,
    /// Resolves when the daemon does not answer any more; made when the stream first has to wait.
    mute: Option<BoxFuture<'static, Error>>,
    ended: bool,
}

/// A page of the log, its events read one by one so that a new type does not make the page unreadable.
struct Pulled {
    events: Vec<Delivered>,
}

#[derive(Deserialize)]
struct Page {
    events: Vec<Box<RawValue>>,
}

impl EventStream {
    /// Begins behind `after`, or behind the newest event that has arrived.
    pub(crate) fn new(client: Client, thread: ThreadId, after: Option<Seq>) -> Self {
        let (mailbox, newest) = client.hub().subscribe(&thread);
        Self {
            client,
            thread,
            mailbox,
            last: after.unwrap_or(newest),
            held: None,
            backlog: VecDeque::new(),
            pull: None,
            offsets: HashMap::new(),
            mute: None,
            ended: false,
        }
    }

    /// The last durable event that was handed out, or behind which the stream began: what to resume after.
    #[must_use]
    pub const fn last_seq(&self) -> Seq {
        self.last
    }

    /// Moves the starting point of a stream that has handed out nothing yet.
    pub(crate) const fn start_after(&mut self, seq: Seq) {
        self.last = seq;
    }

    /// The next event; none after the end.
    ///
    /// # Errors
    /// What ends the stream, as said above, and what reading the log may meet. The stream has ended then.
    pub async fn next(&mut self) -> Option<Result<Arc<ThreadEvent>, Error>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Arc<ThreadEvent>, Error>>> {
        loop {
            if self.ended {
                return Poll::Ready(None);
            }
            if let Some(pull) = &mut self.pull {
                let pulled = std::task::ready!(pull.poll_unpin(cx));
                self.pull = None;
                if let Err(error) = pulled.and_then(|page| self.take_in(page)) {
                    return self.fail(error);
                }
            }
            match self.step(cx.waker()) {
                Step::Event(event) => return Poll::Ready(Some(Ok(event))),
                Step::Again => {}
                Step::Pull => self.pull = Some(self.start_pull()),
                Step::Wait => return self.listen(cx),
                Step::End(End::Closed) => self.ended = true,
                Step::End(End::Lost) => {
                    let error = self.client.link().why();
                    return self.fail(error);
                }
                Step::End(End::Failed(failure)) => return self.fail(failure.error()),
            }
        }
    }

    /// Waits for the mailbox, whose waker is set, or for the daemon to be found mute.
    fn listen(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Arc<ThreadEvent>, Error>>> {
        let client = &self.client;
        let mute = self.mute.get_or_insert_with(|| {
            let client = client.clone();
            async move { client.link().mute().await }.boxed()
        });
        let error = std::task::ready!(mute.poll_unpin(cx));
        self.fail(error)
    }

    fn fail(&mut self, error: Error) -> Poll<Option<Result<Arc<ThreadEvent>, Error>>> {
        self.ended = true;
        Poll::Ready(Some(Err(error)))
    }

    fn step(&mut self, waker: &Waker) -> Step {
        if let Some(event) = self.backlog.pop_front() {
            return self.judge(event);
        }
        if let Some(event) = self.held.take() {
            return self.judge(event);
        }
        match self.mailbox.take(waker) {
            Next::Event(event) => self.judge(event),
            Next::Empty(newest) | Next::Ended(newest, End::Lost) if newest > self.last => Step::Pull,
            Next::Empty(_) => Step::Wait,
            Next::Ended(_, end) => Step::End(end),
        }
    }

    /// Whether an event comes next, was handed out already, or shows that something is missing before it.
    fn judge(&mut self, event: Delivered) -> Step {
        match (event.seq, event.after) {
            (Some(seq), _) if seq <= self.last => Step::Again,
            (Some(seq), _) if seq == self.last + 1 => {
                self.last = seq;
                event.event.map_or(Step::Again, |event| {
                    self.follow(&event.event);
                    Step::Event(event)
                })
            }
            (None, Some(after)) if after <= self.last => {
                let event = event.event.filter(|event| after == self.last || self.is_open(&event.event));
                event.and_then(|event| self.trim(event)).map_or(Step::Again, Step::Event)
            }
            (None, None) => Step::Again,
            _ => {
                self.held = Some(event);
                Step::Pull
            }
        }
    }

    /// Whether an ephemeral event that was overtaken by durable ones still means something.
    fn is_open(&self, event: &Event) -> bool {
        match event {
            Event::ItemDelta { item_id, .. } | Event::ToolProgress { item_id, .. } => {
                self.offsets.contains_key(item_id)
            }
            _ => false,
        }
    }

    fn follow(&mut self, event: &Event) {
        match event {
            Event::ItemStarted { item } => drop(self.offsets.insert(item.item_id.clone(), 0)),
            Event::ItemCompleted { item } => drop(self.offsets.remove(&item.item_id)),
            _ => {}
        }
    }

    /// Cuts from a delta what was handed out before; a connection that joins again is sent an item's text anew.
    fn trim(&mut self, event: Arc<ThreadEvent>) -> Option<Arc<ThreadEvent>> {
        let Event::ItemDelta { item_id, offset, text } = &event.event else { return Some(event) };
        let seen = self.offsets.entry(item_id.clone()).or_default();
        let end = offset + text.len() as u64;
        if end <= *seen {
            return None;
        }
        let known = usize::try_from(seen.saturating_sub(*offset)).unwrap_or(0);
        *seen = end;
        if known == 0 || !text.is_char_boundary(known) {
            return Some(event);
        }
        let mut event = (*event).clone();
        if let Event::ItemDelta { offset, text, .. } = &mut event.event {
            *offset += known as u64;
            text.drain(..known);
        }
        Some(Arc::new(event))
    }

    fn take_in(&mut self, page: Pulled) -> Result<(), Error> {
        let before = self.last;
        let news = page.events.iter().filter_map(|event| event.seq).find(|seq| *seq > before);
        let reason = match news {
            Some(seq) if seq > before + 1 => format!("the event after {before} is {seq}"),
            None => format!("it has no event after {before}, although there are some"),
            Some(_) => {
                self.backlog.extend(page.events);
                return Ok(());
            }
        };
        Err(Error::Unreadable { method: "thread/events".to_owned(), reason })
    }

    fn start_pull(&self) -> BoxFuture<'static, Result<Pulled, Error>> {
        let client = self.client.clone();
        let params =
            ThreadEventsParams { thread_id: self.thread.clone(), after: self.last, limit: None, wait_ms: None };
        async move {
            let method = "thread/events";
            let unreadable =
                |error: serde_json::Error| Error::Unreadable { method: method.to_owned(), reason: error.to_string() };
            let params = to_raw_value(&params).map_err(unreadable)?;
            let answer = client.link().call_raw(method, &params).await?;
            let page: Page = serde_json::from_str(answer.get()).map_err(unreadable)?;
            let events = page.events.iter().map(|event| Ok(Delivered::read(event)?.1)).collect::<Result<_, _>>();
            Ok(Pulled { events: events.map_err(unreadable)? })
        }
        .boxed()
    }
}

/// What a look at the next event leads to.
enum Step {
    Event(Arc<ThreadEvent>),
    Again,
    Pull,
    Wait,
    End(End),
}

impl Stream for EventStream {
    type Item = Result<Arc<ThreadEvent>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.client.hub().unsubscribe(&self.thread, &self.mailbox);
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").field("thread", &self.thread).field("last", &self.last).finish_non_exhaustive()
    }
}
