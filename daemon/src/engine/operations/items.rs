//! Reading what happened in a thread: its items, newest first, a page at a time, and one of them by its id.

use std::collections::VecDeque;

use ropewalk_protocol::{
    BranchId, Event, Item, ItemId, ItemPage, ListedItem, RpcError, RunId, Seq, Timestamp, limits::PAGE_CHARACTERS,
};
use serde_json::value::RawValue;

use super::read::unreadable;
use crate::engine::{Shared, ThreadHandle, history, lookup};

/// Events a page looks at first, going back from its end, and how many at once at most.
const WINDOW: (Seq, Seq) = (32, 512);
/// Events a page looks at in all before it ends, whatever it has found.
const LOOKED_AT: Seq = 16_384;
/// Where fewer events than this are left to search, they are read in their order.
const NEAR: Seq = 256;
/// How much earlier than the time in an item's id its first event may say it was: the id may be made beside a clock that
/// has been put back.
const SLACK_MS: i64 = 1_000;

/// Which items are wanted.
#[derive(Clone, Debug)]
pub struct ItemQuery {
    /// Only those of this branch.
    pub branch_id: Option<BranchId>,
    /// Only those of this run.
    pub run_id: Option<RunId>,
    /// Only those whose event comes before this one.
    pub before: Option<Seq>,
    /// How many at most.
    pub limit: usize,
}

impl ThreadHandle {
    /// A page of completed items, newest first. Holds no more of the log in memory than the page and a window. Of a damaged
    /// log it has what stands before the damage; [`ThreadHandle::events`] says where that is.
    ///
    /// # Errors
    /// `notFound` for an unknown branch or run, `unavailable`.
    pub async fn items(&self, query: ItemQuery) -> Result<ItemPage, RpcError> {
        let wanted = query.clone();
        let (seq, low, end) = self
            .look(move |turn| {
                let state = turn.state();
                if let Some(branch_id) = wanted.branch_id.as_ref().filter(|id| !state.branches.contains_key(*id)) {
                    return Err(RpcError::not_found("branch", branch_id));
                }
                let seq = turn.change.seq();
                let (low, end) = match &wanted.run_id {
                    None => (1, seq),
                    Some(run_id) => match state.runs.get(run_id) {
                        Some(run) => (run.from_seq, seq),
                        None => range_of_ended(turn.shared, &state.thread.thread_id, run_id, seq)?,
                    },
                };
                Ok((seq, low, end))
            })
            .await?;
        let mut page = Page::new(query.limit);
        let mut high = query.before.unwrap_or(Seq::MAX).min(end + 1);
        let newest = high;
        let mut width = (query.limit as Seq * 2).clamp(WINDOW.0, WINDOW.1);
        while high > low && !page.is_cut && newest - high < LOOKED_AT {
            let from = high.saturating_sub(width).max(low);
            let found = self.window(&query, from, high, page.room()).await?;
            page.add(found);
            (high, width) = (from, (width * 2).min(WINDOW.1));
        }
        let next_before =
            if page.is_cut { page.items.last().map(|item| item.seq) } else { (high > low).then_some(high) };
        Ok(ItemPage { items: page.items, next_before, seq })
    }

    /// The newest of the items that are wanted of events `from` to `high`, without the last, oldest first.
    async fn window(&self, query: &ItemQuery, from: Seq, high: Seq, room: Room) -> Result<Found, RpcError> {
        let mut found = Found { items: VecDeque::new(), characters: 0, is_cut: false };
        let mut next = from;
        while next < high {
            let records = history::readable_records(self.shared(), self.id(), next).await?;
            let Some(last) = records.last() else { break };
            let reached = last.next_seq();
            let events = records.iter().flat_map(|record| record.events.iter().zip(record.n..));
            for (event, seq) in events.filter(|(_, seq)| (next..high).contains(seq)) {
                if let Some(item) = completed(event, query)? {
                    found.push(ListedItem { seq, item }, event.get().len() as u64, room);
                }
            }
            if reached <= next {
                break;
            }
            next = reached;
        }
        Ok(found)
    }

    /// An item, completed or still open.
    ///
    /// # Errors
    /// `notFound` for an unknown item, `unavailable`.
    pub async fn item(&self, item_id: ItemId) -> Result<Item, RpcError> {
        let wanted = item_id.clone();
        let (open, seq) = self
            .look(move |turn| {
                let open = turn.state().runs.values().find_map(|run| run.open_items.get(&wanted));
                Ok((open.map(|(_, item)| item.clone()), turn.change.seq()))
            })
            .await?;
        if let Some(open) = open {
            return Ok(open);
        }
        let unknown = || RpcError::not_found("item", &item_id);
        let made_at = lookup::time_of_id(&item_id).ok_or_else(unknown)?;
        let from = self.first_since(made_at, seq).await?;
        // Where clocks were put back, it may stand before the place its id names.
        match self.item_within(&item_id, from, seq).await? {
            Some(item) => Ok(item),
            None => self.item_within(&item_id, 1, from.saturating_sub(1)).await?.ok_or_else(unknown),
        }
    }

    /// An event before everything that happened since a moment, found by halves.
    async fn first_since(&self, at: Timestamp, last: Seq) -> Result<Seq, RpcError> {
        let since = Timestamp::from_millis(at.as_millis() - SLACK_MS);
        let (mut low, mut high) = (1, last.max(1));
        while high - low > NEAR {
            let middle = low + (high - low) / 2;
            let records = history::readable_records(self.shared(), self.id(), middle).await?;
            match records.first() {
                Some(record) if record.at < since => low = middle,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// The item, where it was completed by one of these events.
    async fn item_within(&self, item_id: &ItemId, from: Seq, to: Seq) -> Result<Option<Item>, RpcError> {
        let mut next = from;
        while next <= to {
            let records = history::records(self.shared(), self.id(), next).await?;
            let Some(last) = records.last() else { break };
            let reached = last.next_seq();
            for event in records.iter().flat_map(|record| &record.events) {
                if is_completed(event) && event.get().contains(item_id.as_str()) {
                    let item = item_of(event)?.filter(|item| item.item_id == *item_id);
                    if item.is_some() {
                        return Ok(item);
                    }
                }
            }
            if reached <= next {
                break;
            }
            next = reached;
        }
        Ok(None)
    }
}

fn range_of_ended(
    shared: &Shared,
    thread_id: &ropewalk_protocol::ThreadId,
    run_id: &RunId,
    seq: Seq,
) -> Result<(Seq, Seq), RpcError> {
    let row = lookup::run_row(shared, run_id)?;
    if row.run.thread_id != *thread_id {
        return Err(RpcError::not_found("run", run_id));
    }
    Ok((row.from_seq, row.to_seq.unwrap_or(seq)))
}

fn is_completed(event: &RawValue) -> bool {
    event.get().starts_with("{\"type\":\"itemCompleted\"")
}

fn item_of(event: &RawValue) -> Result<Option<Item>, RpcError> {
    match serde_json::from_str(event.get()).map_err(|error| unreadable(&error))? {
        Event::ItemCompleted { item } => Ok(Some(item)),
        _ => Ok(None),
    }
}

/// The item an event completes, if it is wanted. Most are told apart without being read whole.
fn completed(event: &RawValue, query: &ItemQuery) -> Result<Option<Item>, RpcError> {
    let named = |id: Option<&str>| id.is_none_or(|id| event.get().contains(id));
    if !is_completed(event) || !named(query.branch_id.as_deref()) || !named(query.run_id.as_deref()) {
        return Ok(None);
    }
    let is_wanted = |item: &Item| {
        query.branch_id.as_ref().is_none_or(|id| *id == item.branch_id)
            && query.run_id.as_ref().is_none_or(|id| Some(id) == item.run_id.as_ref())
    };
    Ok(item_of(event)?.filter(is_wanted))
}

/// How much more a page takes.
#[derive(Clone, Copy)]
struct Room {
    items: usize,
    characters: u64,
}

/// What a window has, oldest first.
struct Found {
    items: VecDeque<(ListedItem, u64)>,
    characters: u64,
    /// Whether older ones were let go, because the page has no room for them.
    is_cut: bool,
}

impl Found {
    fn push(&mut self, item: ListedItem, characters: u64, room: Room) {
        self.items.push_back((item, characters));
        self.characters += characters;
        while self.items.len() > 1 && (self.items.len() > room.items || self.characters > room.characters) {
            let let_go = self.items.pop_front().map_or(0, |(_, characters)| characters);
            self.characters -= let_go;
            self.is_cut = true;
        }
    }
}

struct Page {
    limit: usize,
    items: Vec<ListedItem>,
    characters: u64,
    /// Whether there are more, for which it has no room.
    is_cut: bool,
}

impl Page {
    const fn new(limit: usize) -> Self {
        Self { limit, items: Vec::new(), characters: 0, is_cut: false }
    }

    const fn room(&self) -> Room {
        let characters = PAGE_CHARACTERS.saturating_sub(self.characters);
        Room { items: self.limit.saturating_sub(self.items.len()), characters }
    }

    /// Takes in what an older window has, as far as there is room. The first item always has.
    fn add(&mut self, found: Found) {
        for (item, characters) in found.items.into_iter().rev() {
            let is_too_long = !self.items.is_empty() && self.characters + characters > PAGE_CHARACTERS;
            if self.items.len() >= self.limit || is_too_long {
                self.is_cut = true;
                return;
            }
            self.characters += characters;
            self.items.push(item);
        }
        self.is_cut |= found.is_cut;
    }
}
