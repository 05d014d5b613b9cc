//! The hot end of a thread's events: encoded once, shared by all who follow, bounded in bytes.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError, Weak},
};

use bytes::Bytes;
use ropewalk_protocol::{ItemId, Seq, ThreadId, Timestamp};
use serde_json::value::RawValue;

use super::Subscriber;

/// Bytes of the hot end kept for one thread; who is further behind is served from the log.
const TAIL_BYTES: usize = 131_072;

/// Where a subscriber stands.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    /// The next durable event it needs.
    pub next_seq: Seq,
    /// The next entry of the hot end it has not looked at.
    next_entry: u64,
    /// How much text of each open item it has been sent, in bytes.
    sent: HashMap<ItemId, u64>,
}

/// What a subscriber gets when it asks.
#[derive(Debug)]
pub enum Batch {
    /// Lines to send.
    Lines(Vec<Bytes>),
    /// The log has what comes next, up to this event.
    FromLog(Seq),
    /// Nothing is new.
    Nothing,
}

/// The hot end of one thread's events.
#[derive(Default)]
pub struct Bus {
    tail: Mutex<Tail>,
    subscribers: Mutex<Vec<Weak<dyn Subscriber>>>,
}

#[derive(Default)]
struct Tail {
    entries: VecDeque<Entry>,
    bytes: usize,
    first_entry: u64,
    last_seq: Seq,
    texts: HashMap<ItemId, String>,
}

struct Entry {
    line: Bytes,
    kind: EntryKind,
}

enum EntryKind {
    Durable(Seq),
    Delta { item_id: ItemId, offset: u64, end: u64, after: Seq },
    Progress { after: Seq },
}

impl Cursor {
    /// A cursor that is sent every durable event after `after`.
    #[must_use]
    pub fn after(after: Seq) -> Self {
        Self { next_seq: after + 1, ..Self::default() }
    }

    /// Whether something that followed the event `after` belongs to the time before this cursor.
    const fn is_beyond(&self, after: Seq) -> bool {
        after + 1 < self.next_seq
    }
}

impl Bus {
    /// A bus of a thread whose last event is `last_seq`.
    #[must_use]
    pub fn new(last_seq: Seq) -> Self {
        Self { tail: Mutex::new(Tail { last_seq, ..Tail::default() }), ..Self::default() }
    }

    /// Adds who is to be woken. Weak: a connection that is gone is forgotten by itself.
    pub fn subscribe(&self, subscriber: Weak<dyn Subscriber>) {
        let mut subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        subscribers.retain(|known| known.strong_count() > 0);
        if !subscribers.iter().any(|known| known.ptr_eq(&subscriber)) {
            subscribers.push(subscriber);
        }
    }

    /// Takes somebody out again.
    pub fn unsubscribe(&self, subscriber: &Weak<dyn Subscriber>) {
        let mut subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        subscribers.retain(|known| known.strong_count() > 0 && !known.ptr_eq(subscriber));
    }

    /// Whether anybody follows.
    #[must_use]
    pub fn has_subscribers(&self) -> bool {
        let subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        subscribers.iter().any(|known| known.strong_count() > 0)
    }

    /// Adds a durable event that has been written to disk.
    pub fn durable(&self, thread: &ThreadId, seq: Seq, at: Timestamp, event: &RawValue) {
        self.push(EntryKind::Durable(seq), event_line(thread, "seq", seq, at, event.get()));
    }

    /// Adds text of an open item.
    pub fn delta(&self, thread: &ThreadId, at: Timestamp, item_id: &ItemId, text: &str) {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = tail.texts.entry(item_id.clone()).or_default();
        let offset = whole.len() as u64;
        whole.push_str(text);
        let end = whole.len() as u64;
        let last = tail.last_seq;
        drop(tail);
        let line = delta_line(thread, last, at, item_id, offset, text);
        self.push(EntryKind::Delta { item_id: item_id.clone(), offset, end, after: last }, line);
    }

    /// Adds a sign of life of a tool.
    pub fn progress(&self, thread: &ThreadId, at: Timestamp, event: &str) {
        let last = self.tail.lock().unwrap_or_else(PoisonError::into_inner).last_seq;
        self.push(EntryKind::Progress { after: last }, event_line(thread, "after", last, at, event));
    }

    /// Forgets the text of an item that is complete.
    pub fn forget_text(&self, item_id: &ItemId) {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).texts.remove(item_id);
    }

    /// Tells all who follow that there is something new.
    pub fn wake(&self, thread: &ThreadId) {
        let subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        for subscriber in subscribers.iter().filter_map(Weak::upgrade) {
            subscriber.wake(thread);
        }
    }

    /// What comes next for a cursor, about `max_bytes` of it, and moves the cursor.
    pub fn next(&self, cursor: &mut Cursor, thread: &ThreadId, at: Timestamp, wants: Wants, max_bytes: usize) -> Batch {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if cursor.next_seq <= tail.last_seq && tail.first_durable().is_none_or(|first| cursor.next_seq < first) {
            return Batch::FromLog(tail.first_durable().map_or(tail.last_seq, |first| first - 1));
        }
        let mut lines = Vec::new();
        let mut bytes = 0;
        let skip = usize::try_from(cursor.next_entry.saturating_sub(tail.first_entry)).unwrap_or(usize::MAX);
        let mut seen = cursor.next_entry.max(tail.first_entry);
        for entry in tail.entries.iter().skip(skip) {
            if bytes >= max_bytes {
                break;
            }
            seen += 1;
            if let Some(line) = tail.line_for(entry, cursor, thread, at, wants) {
                bytes += line.len();
                lines.push(line);
            }
        }
        cursor.next_entry = seen;
        cursor.sent.retain(|item_id, _| tail.texts.contains_key(item_id));
        if lines.is_empty() { Batch::Nothing } else { Batch::Lines(lines) }
    }

    fn push(&self, kind: EntryKind, line: Bytes) {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if let EntryKind::Durable(seq) = kind {
            tail.last_seq = seq;
        }
        tail.bytes += line.len();
        tail.entries.push_back(Entry { line, kind });
        while tail.bytes > TAIL_BYTES && tail.entries.len() > 1 {
            if let Some(old) = tail.entries.pop_front() {
                tail.bytes -= old.line.len();
                tail.first_entry += 1;
            }
        }
    }
}

/// Which ephemeral events a subscriber wants.
#[derive(Clone, Copy, Debug)]
pub struct Wants {
    /// Text as it streams.
    pub deltas: bool,
    /// Signs of life of tools.
    pub progress: bool,
}

impl Tail {
    fn first_durable(&self) -> Option<Seq> {
        self.entries.iter().find_map(|entry| match entry.kind {
            EntryKind::Durable(seq) => Some(seq),
            _ => None,
        })
    }

    fn line_for(
        &self,
        entry: &Entry,
        cursor: &mut Cursor,
        thread: &ThreadId,
        at: Timestamp,
        wants: Wants,
    ) -> Option<Bytes> {
        match &entry.kind {
            EntryKind::Durable(seq) if *seq < cursor.next_seq => None,
            EntryKind::Durable(seq) => {
                cursor.next_seq = seq + 1;
                Some(entry.line.clone())
            }
            EntryKind::Progress { after } => (wants.progress && !cursor.is_beyond(*after)).then(|| entry.line.clone()),
            EntryKind::Delta { .. } if !wants.deltas => None,
            // Who joined later has the completed item; of one that is still open, the text so far is told.
            EntryKind::Delta { item_id, after, .. }
                if cursor.is_beyond(*after) && !self.texts.contains_key(item_id) =>
            {
                None
            }
            EntryKind::Delta { item_id, offset, end, .. } => {
                let sent = cursor.sent.get(item_id).copied().unwrap_or(0);
                if sent >= *end {
                    return None;
                }
                if sent == *offset {
                    cursor.sent.insert(item_id.clone(), *end);
                    return Some(entry.line.clone());
                }
                // Something before this was missed: the text so far comes as one delta instead.
                let Some(whole) = self.texts.get(item_id) else {
                    cursor.sent.remove(item_id);
                    return None;
                };
                let missed = usize::try_from(sent).ok().and_then(|sent| whole.get(sent..))?;
                cursor.sent.insert(item_id.clone(), whole.len() as u64);
                Some(delta_line(thread, cursor.next_seq - 1, at, item_id, sent, missed))
            }
        }
    }
}

/// One `thread/event` line.
pub fn event_line(thread: &ThreadId, position: &str, seq: Seq, at: Timestamp, event: &str) -> Bytes {
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"thread/event\",\"params\":{{\"threadId\":\"{thread}\",\"{position}\":{seq},\
         \"at\":\"{at}\",\"event\":{event}}}}}\n"
    );
    Bytes::from(line)
}

fn delta_line(thread: &ThreadId, last: Seq, at: Timestamp, item_id: &ItemId, offset: u64, text: &str) -> Bytes {
    let text = serde_json::Value::from(text);
    let event = format!("{{\"type\":\"itemDelta\",\"itemId\":\"{item_id}\",\"offset\":{offset},\"text\":{text}}}");
    event_line(thread, "after", last, at, &event)
}
