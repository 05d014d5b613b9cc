//! What must hold whenever everything has come to rest: of answers, logs, histories and rules.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    log::{check_history, text},
    store::lock,
    world::{World, rows},
};

/// How many events one answer has.
const PAGE: u64 = 1_000;

impl World {
    /// Checks everything; nothing when the daemon has died meanwhile. After a crash every log is read from its beginning.
    pub(crate) fn audit(&mut self, from_the_beginning: bool) {
        // None: the daemon has died on the way, and is looked at in its next life.
        let _ = self.audited(from_the_beginning);
    }

    fn audited(&mut self, from_the_beginning: bool) -> Option<()> {
        self.settle();
        if lock(&self.plan).is_dead || lock(&self.plan).is_between {
            return None;
        }
        self.check_answered();
        let mut threads: BTreeSet<String> = self.book.threads.keys().cloned().collect();
        threads.extend(self.book.logs.keys().cloned());
        for thread in threads {
            if self.is_gone(&thread)? {
                continue;
            }
            self.audit_thread(&thread, from_the_beginning)?;
        }
        self.book.check_logs();
        self.check_gone()?;
        let rules = self.all("policy/list", json!({}))?;
        self.book.check_rules(&rules);
        Some(())
    }

    /// Whoever reads has every answer it can have by now.
    pub(crate) fn check_answered(&mut self) {
        for connection in self.connections.iter().filter(|connection| connection.is_up_to_date()) {
            let late = connection.pending.values().find(|pending| !pending.waits);
            let late = late.map(|pending| format!("{} {}", pending.method, pending.params));
            assert!(late.is_none(), "connection {} has no answer to {late:?}", connection.key);
            assert_eq!(connection.nulls, 0, "connection {} sent lines that were not answered", connection.key);
        }
        let closed = self.connections.iter().find(|connection| connection.wire.is_closed);
        assert!(closed.is_none(), "connection {:?} was closed", closed.map(|connection| connection.key));
    }

    fn audit_thread(&mut self, thread: &str, from_the_beginning: bool) -> Option<()> {
        let mut after = if from_the_beginning { 0 } else { self.book.log(thread).end() };
        loop {
            let page = self.query("thread/events", json!({"threadId": thread, "after": after, "limit": PAGE}))?;
            let page = page.expect("the events of a thread");
            let events = page["events"].as_array().unwrap();
            if events.is_empty() {
                break;
            }
            for event in events {
                after += 1;
                assert_eq!(event["seq"], after, "a log has no gap");
                self.book.log(thread).learn(event);
            }
        }
        let shown = self.book.log(thread).last_shown();
        assert!(after >= shown, "event {shown} of {thread} was shown, and its log ends at {after}");
        let read = self.query("thread/read", json!({"threadId": thread}))?.expect("a thread");
        let known = self.book.threads.get(thread).copied().unwrap_or(0);
        assert!(read["thread"]["revision"].as_u64().unwrap() >= known, "a header goes back: {read}");
        let there: BTreeSet<String> =
            read["thread"]["branches"].as_array().unwrap().iter().map(|branch| text(&branch["branchId"])).collect();
        assert_eq!(there, self.book.log(thread).branches, "the branches are those that its events tell of");
        for branch in read["thread"]["branches"].as_array().unwrap() {
            let params = json!({"threadId": thread, "branchId": branch["branchId"], "limit": PAGE});
            self.check_items(thread, &text(&branch["branchId"]))?;
            let mut chain = self.all("thread/messages", params)?;
            chain.reverse();
            check_history(&chain);
            let head = branch.get("headMessageId").map(text);
            let last = chain.last().map(|message| text(&message["messageId"]));
            assert_eq!(head, last, "the chain ends at its head");
        }
        Some(())
    }

    /// Whether a thread is gone, as it may be once somebody has tried to delete it; and then it is for ever.
    fn is_gone(&mut self, thread: &str) -> Option<bool> {
        if !self.book.is_doomed(thread) && !self.book.gone.contains(thread) {
            return Some(false);
        }
        match self.query("thread/read", json!({"threadId": thread}))? {
            Ok(read) => assert!(!self.book.gone.contains(thread), "it was deleted and comes back: {read}"),
            Err(error) => {
                assert_eq!(error["data"]["kind"], "notFound", "{error}");
                self.book.goes(thread);
            }
        }
        Some(self.book.gone.contains(thread))
    }

    /// Nothing is left of what was deleted, wherever one looks.
    fn check_gone(&mut self) -> Option<()> {
        let lists = [
            ("thread/list", json!({})),
            ("thread/list", json!({"archived": true})),
            ("run/list", json!({})),
            ("interaction/list", json!({})),
            ("project/list", json!({})),
        ];
        for (method, params) in lists {
            for item in self.all(method, params)? {
                let id = text(item.get("threadId").unwrap_or(&item["projectId"]));
                assert!(!self.book.gone.contains(&id), "{method} has something of what was deleted: {item}");
            }
        }
        for (key, _) in rows(&self.store) {
            let is_of_the_gone = self.book.gone.iter().any(|id| key.contains(id.as_str()));
            assert!(!is_of_the_gone || key.starts_with("tombstone"), "a row of what was deleted: {key}");
        }
        Some(())
    }

    /// The list of items is what the events say.
    fn check_items(&mut self, thread: &str, branch: &str) -> Option<()> {
        let (mut items, mut before) = (Vec::new(), Value::Null);
        loop {
            let mut params = json!({"threadId": thread, "branchId": branch, "limit": PAGE});
            if !before.is_null() {
                params["before"] = before;
            }
            let page = self.query("item/list", params)?.expect("the items of a branch");
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            before = page["nextBefore"].clone();
            if before.is_null() {
                break;
            }
        }
        assert_eq!(items, self.book.log(thread).items_of(branch), "the items of a branch are those of its events");
        Some(())
    }

    /// All pages of a list.
    pub(crate) fn all(&mut self, method: &str, params: Value) -> Option<Vec<Value>> {
        let (mut all, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut params = params.clone();
            if !cursor.is_null() {
                params["cursor"] = cursor;
            }
            let page = self.query(method, params)?;
            let page = page.unwrap_or_else(|error| panic!("{method}: {error}"));
            all.extend(page["items"].as_array().unwrap().iter().cloned());
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                return Some(all);
            }
        }
    }
}
