//! The logs of threads as a search reads them.
//!
//! What can be told without reading a record is told first: a thread whose bytes nowhere have the text is passed over as fast
//! as its bytes come. Of any other the events are read, and of those only the ones that have it; a message that may match is
//! then read as its chain has it, so that a hit is a message that `thread/messages` shows.

use std::{
    collections::VecDeque,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

use regex::bytes::Regex;
use ropewalk_protocol::{Event, Item, ItemBody, ItemId, Message, Part, ProjectId, RpcError, SearchHit, Seq, ThreadId};
use serde_json::value::RawValue;

use super::{
    super::{Shared, history, rows, storage_error},
    Scope,
    living::{Dead, Lineage},
};
use crate::{
    domain::{Fact, Joined, Line, Link},
    engine::rows::{BranchRow, ThreadRow},
    search::{Archive, Matched, Place, Query, Shelf, Spot, Visit},
    store::{Key, LogName, OUT_OF_LINE, Record, Scan, StoreError, keys},
};

/// Threads whose rows are read at once.
const THREADS: usize = 64;

/// Items that matched and have not joined a chain yet, at most. They join within their run, or never.
const WAITING: usize = 4_096;

/// What a log has of which not every message is on a chain.
pub(super) static MOVED: LazyLock<Regex> = LazyLock::new(|| sure(r#""fact":"(?:head|forked)""#));

/// What a log has of which not every string is in it.
pub(super) static ELSEWHERE: LazyLock<Regex> =
    LazyLock::new(|| sure(&regex::escape(&String::from_utf8_lossy(OUT_OF_LINE))));

fn sure(expression: &str) -> Regex {
    Regex::new(expression).expect("both are expressions of ours, which a test makes")
}

/// The threads of a scope.
pub(super) struct LogArchive {
    shared: Arc<Shared>,
    scope: Scope,
    runtime: tokio::runtime::Handle,
}

impl LogArchive {
    pub(super) fn new(shared: Arc<Shared>, scope: Scope) -> Self {
        Self { shared, scope, runtime: tokio::runtime::Handle::current() }
    }

    /// Waits, on a thread that may.
    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    fn rows(&self, prefix: Key, after: Option<Key>, limit: usize) -> Result<Vec<(Key, Vec<u8>)>, RpcError> {
        let scan = Scan { prefix, after, reverse: false, limit };
        self.shared.store.scan(&scan).map_err(|error| storage_error(&error))
    }

    fn branches(&self, thread: &ThreadId) -> Result<Vec<BranchRow>, RpcError> {
        let found = self.rows(keys::of_thread("branch", thread), None, usize::MAX)?;
        let parsed = found.iter().map(|(key, bytes)| rows::parse::<BranchRow>(key, bytes));
        parsed.collect::<Result<_, StoreError>>().map_err(|error| storage_error(&error))
    }

    fn shelf_of(&self, project_id: ProjectId, thread_id: ThreadId) -> Result<Shelf, RpcError> {
        let heads = self.branches(&thread_id)?;
        let messages = heads.iter().filter_map(BranchRow::head).map(|head| head.depth + 1).sum();
        Ok(Shelf { project_id, thread_id, messages })
    }

    fn thread_row(&self, id: &ThreadId) -> Result<Option<ThreadRow>, RpcError> {
        rows::get(&*self.shared.store, &keys::thread(id)).map_err(|error| storage_error(&error))
    }

    /// Whether a log has what one of these finds; also where nobody can tell.
    fn has(&self, thread: &ThreadId, wanted: Vec<Regex>) -> Result<bool, RpcError> {
        let found = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&found);
        let look = move |stretch: &[u8]| {
            let has = wanted.iter().any(|wanted| wanted.is_match(stretch));
            seen.store(has, Ordering::Relaxed);
            has
        };
        let shown = self.shared.store.skim(&LogName::Thread(thread.clone()), Box::new(look));
        let is_whole = self.wait(shown).map_err(|error| storage_error(&error))?;
        Ok(!is_whole || found.load(Ordering::Relaxed))
    }

    /// The messages that are on no chain of the scope; nothing where all of them are on one.
    fn dead(&self, thread: &ThreadId) -> Result<Option<Dead>, RpcError> {
        let branches = self.branches(thread)?;
        let is_whole = self.scope.branch_id.is_none() && branches.len() <= 1;
        if is_whole && !self.has(thread, vec![MOVED.clone()])? {
            return Ok(None);
        }
        let is_meant = |row: &&BranchRow| self.scope.branch_id.as_ref().is_none_or(|id| *id == row.branch.branch_id);
        let heads: Vec<Link> = branches.iter().filter(is_meant).filter_map(|row| row.head().cloned()).collect();
        let mut lineage = Lineage::default();
        self.records(thread, 1, &mut |record| {
            for join in joins(record) {
                let mut parent = join.parent.as_ref().map(|parent| (parent.n, &parent.message_id));
                for joined in &join.messages {
                    lineage.joined(record.n, &joined.message_id, parent);
                    parent = Some((record.n, &joined.message_id));
                }
            }
            true
        })?;
        Ok(Some(lineage.dead(&heads)))
    }

    /// Shows the records of a thread from one on, until it is enough; whether the end was reached.
    fn records(
        &self,
        thread: &ThreadId,
        from: Seq,
        visit: &mut dyn FnMut(&Arc<Record>) -> bool,
    ) -> Result<bool, RpcError> {
        let mut next = from;
        loop {
            let records = self.wait(history::readable_records(&self.shared, thread, next))?;
            let Some(last) = records.last() else { return Ok(true) };
            let reached = last.next_seq();
            for record in records.iter().filter(|record| record.n >= next) {
                if !visit(record) {
                    return Ok(false);
                }
            }
            if reached <= next {
                return Ok(true);
            }
            next = reached;
        }
    }

    /// A message as its chain has it.
    fn message(&self, thread: &ThreadId, link: Link, joined: &Joined) -> Result<Option<Message>, RpcError> {
        let reach = link.n.saturating_sub(joined.from_seq).max(1);
        let line = Line { head: Some(link), summary: None };
        let read = self.wait(history::chain_within(&self.shared, thread, &line, 1, reach));
        match read {
            Err(error) if history::is_damage(&error) => Ok(None),
            read => Ok(read?.0.pop_front().map(|(_, found)| found.message)),
        }
    }
}

impl Archive for LogArchive {
    type Error = RpcError;

    fn shelf(&self, place: &Place) -> Result<Option<Shelf>, RpcError> {
        let Some(row) = self.thread_row(&place.thread_id)? else { return Ok(None) };
        if row.thread.project_id != place.project_id {
            return Ok(None);
        }
        self.shelf_of(place.project_id.clone(), place.thread_id.clone()).map(Some)
    }

    fn beyond(&self, place: Option<&Place>) -> Result<Vec<Shelf>, RpcError> {
        if let Some(thread_id) = &self.scope.thread_id {
            if place.is_some() {
                return Ok(Vec::new());
            }
            let Some(row) = self.thread_row(thread_id)? else { return Ok(Vec::new()) };
            return Ok(vec![self.shelf_of(row.thread.project_id, thread_id.clone())?]);
        }
        let prefix = self.scope.project_id.as_ref().map_or_else(keys::threads_by_project, |id| keys::threads_of(id));
        let after = place.map(|place| keys::in_project(&place.project_id, &place.thread_id));
        let keys = self.rows(prefix, after, THREADS)?;
        let parts = keys.iter().filter_map(|(key, _)| keys::parts_of_in_project(key));
        parts.map(|(project, thread)| self.shelf_of(project.into(), thread.into())).collect()
    }

    fn may_have(&self, shelf: &Shelf, query: &Query) -> Result<bool, RpcError> {
        match query.raw() {
            Some(raw) => self.has(&shelf.thread_id, vec![raw.clone(), ELSEWHERE.clone()]),
            None => Ok(true),
        }
    }

    fn read(&self, shelf: &Shelf, after: Option<Spot>, query: &Query, visit: Visit<'_>) -> Result<bool, RpcError> {
        let thread = &shelf.thread_id;
        let dead = self.dead(thread)?;
        let from = after.map_or(1, |spot| spot.n.max(1));
        let (mut reading, mut failed) = (Reading::from(from), None);
        let is_whole = self.records(thread, from, &mut |record| {
            reading.take_in(record, query);
            for join in joins(record) {
                let first = join.parent.as_ref().map_or(0, |parent| parent.depth + 1);
                for (joined, depth) in join.messages.iter().zip(first..) {
                    let spot = reading.next(record.n);
                    let is_dead = dead.as_ref().is_some_and(|dead| dead.has(record.n, &joined.message_id));
                    if is_dead || after.is_some_and(|after| spot <= after) {
                        continue;
                    }
                    let link = Link { message_id: joined.message_id.clone(), n: record.n, depth };
                    let may_match = query.wants(joined.role) && reading.may_match(joined);
                    let message = if may_match { self.message(thread, link, joined) } else { Ok(None) };
                    let goes_on = message.map(|message| visit(spot, message));
                    if !goes_on.unwrap_or_else(|error| {
                        failed = Some(error);
                        false
                    }) {
                        return false;
                    }
                }
            }
            true
        })?;
        failed.map_or(Ok(is_whole), Err)
    }

    fn hit(&self, shelf: &Shelf, message: Message, matched: Matched) -> Result<SearchHit, RpcError> {
        let snapshot = self.shared.catalogue.snapshot();
        let project = snapshot.projects.get(&shelf.project_id);
        let title = self.thread_row(&shelf.thread_id)?.and_then(|row| row.listed().title);
        Ok(SearchHit {
            project_id: shelf.project_id.clone(),
            project_name: project.map(|project| project.name.clone()).unwrap_or_default(),
            thread_id: shelf.thread_id.clone(),
            thread_title: title,
            branch_id: message.branch_id,
            message_id: message.message_id,
            role: message.role,
            at: message.at,
            fragment: matched.fragment,
            match_count: matched.count,
        })
    }
}

/// A pass over the records of a thread.
struct Reading {
    /// The first event it has.
    from: Seq,
    /// The items that match and have not joined yet.
    matched: VecDeque<ItemId>,
    /// Where the next message would be.
    next: Spot,
}

impl Reading {
    const fn from(from: Seq) -> Self {
        Self { from, matched: VecDeque::new(), next: Spot { n: 0, nth: 0 } }
    }

    /// Looks at the items of a record. Most are passed over by what their JSON has, unread.
    fn take_in(&mut self, record: &Record, query: &Query) {
        for event in record.events.iter().filter(|event| begins(event, "{\"type\":\"itemCompleted\"")) {
            if query.raw().is_some_and(|raw| !raw.is_match(event.get().as_bytes())) {
                continue;
            }
            let Ok(Event::ItemCompleted { item }) = serde_json::from_str(event.get()) else { continue };
            if matches(&item, query) {
                if self.matched.len() == WAITING {
                    self.matched.pop_front();
                }
                self.matched.push_back(item.item_id);
            }
        }
    }

    /// Where the next message of a record is. Some records without events have the number of the one after them.
    fn next(&mut self, n: Seq) -> Spot {
        let nth = if self.next.n == n { self.next.nth } else { 0 };
        self.next = Spot { n, nth: nth + 1 };
        Spot { n, nth }
    }

    /// Whether a message has an item that matches, or one from before the pass.
    fn may_match(&self, joined: &Joined) -> bool {
        joined.from_seq < self.from || joined.items.iter().any(|item| self.matched.contains(item))
    }
}

/// Messages that joined together.
struct Join {
    messages: Vec<Joined>,
    parent: Option<Link>,
}

fn joins(record: &Record) -> impl Iterator<Item = Join> {
    let facts = record.facts.iter().filter(|fact| begins(fact, "{\"fact\":\"joined\""));
    facts.filter_map(|fact| match serde_json::from_str(fact.get()) {
        Ok(Fact::Joined { messages, parent, .. }) => Some(Join { messages, parent }),
        _ => None,
    })
}

fn begins(text: &RawValue, with: &str) -> bool {
    text.get().starts_with(with)
}

fn matches(item: &Item, query: &Query) -> bool {
    let in_parts = |parts: &[Part]| parts.iter().filter_map(Part::as_text).any(|text| query.matches(text));
    match &item.body {
        ItemBody::UserMessage { content, .. } => in_parts(content),
        ItemBody::AssistantMessage { text, .. } => query.matches(text),
        ItemBody::ToolCall(call) => call.content.as_deref().is_some_and(in_parts),
        ItemBody::Reasoning { .. } | ItemBody::Notice { .. } => false,
    }
}
