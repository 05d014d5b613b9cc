//! A few threads in memory, which count what is asked of them.

use std::cell::Cell;

use ropewalk_protocol::{Message, Role, SearchHit};
use serde_json::json;

use crate::search::{Archive, Matched, Place, Query, Shelf, Spot, Visit};

/// A project, a thread, and what was said in it by whom.
pub(super) type Thread = (&'static str, &'static str, Vec<(Role, String)>);

pub(super) struct Threads {
    pub(super) threads: Vec<Thread>,
    /// Messages that were shown.
    pub(super) read: Cell<u64>,
    /// Threads that were looked over.
    pub(super) looked: Cell<u64>,
}

impl Threads {
    pub(super) fn new(threads: Vec<Thread>) -> Self {
        Self { threads, read: Cell::new(0), looked: Cell::new(0) }
    }

    fn shelves(&self) -> Vec<Shelf> {
        let shelf = |(project, thread, said): &Thread| Shelf {
            project_id: (*project).into(),
            thread_id: (*thread).into(),
            messages: said.len() as u64,
        };
        let mut shelves: Vec<Shelf> = self.threads.iter().map(shelf).collect();
        shelves.sort_by(|a, b| (&a.project_id, &a.thread_id).cmp(&(&b.project_id, &b.thread_id)));
        shelves
    }

    fn said(&self, shelf: &Shelf) -> &[(Role, String)] {
        let found = self.threads.iter().find(|(_, thread, _)| shelf.thread_id.as_str() == *thread);
        found.map_or(&[], |(_, _, said)| said)
    }
}

impl Archive for Threads {
    type Error = String;

    fn shelf(&self, place: &Place) -> Result<Option<Shelf>, String> {
        Ok(self.shelves().into_iter().find(|shelf| shelf.thread_id == place.thread_id))
    }

    fn beyond(&self, place: Option<&Place>) -> Result<Vec<Shelf>, String> {
        let is_beyond = |shelf: &Shelf| {
            place.is_none_or(|place| (&shelf.project_id, &shelf.thread_id) > (&place.project_id, &place.thread_id))
        };
        Ok(self.shelves().into_iter().filter(is_beyond).take(2).collect())
    }

    fn may_have(&self, shelf: &Shelf, query: &Query) -> Result<bool, String> {
        self.looked.set(self.looked.get() + 1);
        Ok(self.said(shelf).iter().any(|(_, text)| query.matches(text)))
    }

    fn read(&self, shelf: &Shelf, after: Option<Spot>, query: &Query, visit: Visit<'_>) -> Result<bool, String> {
        for (at, (role, text)) in (1..).zip(self.said(shelf)) {
            let spot = Spot { n: at, nth: 0 };
            if after.is_some_and(|after| spot <= after) {
                continue;
            }
            self.read.set(self.read.get() + 1);
            let message = query.wants(*role).then(|| message(shelf, at, *role, text));
            if !visit(spot, message) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn hit(&self, shelf: &Shelf, message: Message, matched: Matched) -> Result<SearchHit, String> {
        if matched.fragment.contains("unreadable") {
            return Err("a row cannot be read".to_owned());
        }
        Ok(SearchHit {
            project_id: shelf.project_id.clone(),
            project_name: format!("Project {}", shelf.project_id),
            thread_id: shelf.thread_id.clone(),
            thread_title: None,
            branch_id: message.branch_id,
            message_id: message.message_id,
            role: message.role,
            at: message.at,
            fragment: matched.fragment,
            match_count: matched.count,
        })
    }
}

pub(super) fn message(shelf: &Shelf, at: u64, role: Role, text: &str) -> Message {
    let message = json!({
        "messageId": format!("{}-{at}", shelf.thread_id), "threadId": shelf.thread_id, "branchId": shelf.thread_id,
        "role": role, "delivery": "turn", "content": [{"type": "text", "text": text}], "at": "2026-11-30T10:00:00Z",
    });
    serde_json::from_value(message).unwrap()
}
