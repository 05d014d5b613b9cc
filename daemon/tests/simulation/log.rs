//! What holds of the log of every thread: the rules of its events, checked as far as the log is known.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The log of one thread, as clients and the daemon itself have shown it.
#[derive(Default)]
pub(crate) struct ThreadLog {
    /// The parameters of `thread/event`, by seq.
    events: BTreeMap<u64, Value>,
    checked: u64,
    /// The messages that were stored, as an item or as a queue entry.
    pub(crate) messages: BTreeSet<String>,
    /// The interactions that were settled.
    pub(crate) settled: BTreeSet<String>,
    open_items: BTreeMap<String, String>,
    closed_items: BTreeSet<String>,
    open_interactions: BTreeMap<String, (String, String)>,
    open_runs: BTreeSet<String>,
    ended_runs: BTreeSet<String>,
    queues: BTreeMap<String, Vec<String>>,
    /// The branches that are there.
    pub(crate) branches: BTreeSet<String>,
    branches_gone: BTreeSet<String>,
}

impl ThreadLog {
    /// Takes in an event, which must be the one that others were shown under its seq.
    pub(crate) fn learn(&mut self, params: &Value) {
        let seq = params["seq"].as_u64().expect("a durable event has a seq");
        if let Some(known) = self.events.get(&seq) {
            assert_eq!(known, params, "an event is the same for everybody and for ever");
            return;
        }
        self.events.insert(seq, params.clone());
        while let Some(params) = self.events.get(&(self.checked + 1)).cloned() {
            self.checked += 1;
            self.check(&params["event"]);
        }
    }

    /// The last event up to which everything is known.
    pub(crate) fn end(&self) -> u64 {
        self.checked
    }

    /// The last event that anybody was shown.
    pub(crate) fn last_shown(&self) -> u64 {
        self.events.keys().next_back().copied().unwrap_or(0)
    }

    /// Runs that have begun and not ended.
    pub(crate) fn open_runs(&self) -> &BTreeSet<String> {
        &self.open_runs
    }

    /// The items that were completed on a branch, as a list shows them: newest first.
    pub(crate) fn items_of(&self, branch: &str) -> Vec<Value> {
        let completed = self.events.iter().rev().filter(|(_, params)| params["event"]["type"] == "itemCompleted");
        let listed = completed.map(|(seq, params)| {
            let mut item = params["event"]["item"].clone();
            item["seq"] = (*seq).into();
            item
        });
        listed.filter(|item| item["branchId"] == branch).collect()
    }

    /// Whether a run has begun.
    pub(crate) fn has_run(&self, run: &str) -> bool {
        self.open_runs.contains(run) || self.ended_runs.contains(run)
    }

    fn check(&mut self, event: &Value) {
        let kind = text(&event["type"]);
        for place in ["/branchId", "/branch/branchId", "/run/branchId", "/item/branchId"] {
            let branch = event.pointer(place).and_then(Value::as_str);
            let is_gone = branch.is_some_and(|branch| self.branches_gone.contains(branch));
            assert!(!is_gone, "nothing names a branch that is deleted: {event}");
        }
        match kind.as_str() {
            "threadUpdated" | "toolsChanged" => {}
            "branchUpdated" => drop(self.branches.insert(text(&event["branch"]["branchId"]))),
            "branchDeleted" => {
                let branch = text(&event["branchId"]);
                assert!(self.branches.remove(&branch), "only a branch that is there is deleted: {event}");
                self.branches_gone.insert(branch);
            }
            "runStarted" => {
                let run = text(&event["run"]["runId"]);
                assert!(!self.ended_runs.contains(&run) && self.open_runs.insert(run), "a run begins once: {event}");
            }
            "runState" => {
                assert!(self.open_runs.contains(&text(&event["run"]["runId"])), "a run under way: {event}");
            }
            "itemStarted" => self.item_started(&event["item"]),
            "itemCompleted" => self.item_completed(&event["item"]),
            "interactionOpened" => {
                let interaction = &event["interaction"];
                let run = text(&interaction["runId"]);
                assert!(self.open_runs.contains(&run), "nothing is opened for a run that is over: {event}");
                let of = (run, text(&interaction["callId"]));
                let id = text(&interaction["interactionId"]);
                assert!(!self.settled.contains(&id), "what is settled is opened no more: {event}");
                assert!(self.open_interactions.insert(id, of).is_none(), "opened once: {event}");
            }
            "interactionSettled" => {
                let id = text(&event["interactionId"]);
                assert!(self.open_interactions.remove(&id).is_some(), "what is settled was open: {event}");
                assert!(self.settled.insert(id), "settled once: {event}");
            }
            "runCompleted" => self.run_completed(event),
            "queueChanged" => self.queue_changed(event),
            other => panic!("nobody knows the event {other}"),
        }
    }

    fn item_started(&mut self, item: &Value) {
        let (id, run) = (text(&item["itemId"]), text(&item["runId"]));
        assert!(self.open_runs.contains(&run), "an item begins in a run under way: {item}");
        assert!(!self.closed_items.contains(&id), "an item begins once: {item}");
        assert!(self.open_items.insert(id, run).is_none(), "an item begins once: {item}");
    }

    fn item_completed(&mut self, item: &Value) {
        let id = text(&item["itemId"]);
        let was_open = self.open_items.remove(&id).is_some();
        assert!(self.closed_items.insert(id), "an item completes once: {item}");
        let is_whole_at_birth = matches!(item["kind"].as_str(), Some("userMessage" | "notice"));
        assert_ne!(was_open, is_whole_at_birth, "an item began before it completes: {item}");
        if item["kind"] == "userMessage" {
            self.messages.insert(text(&item["messageId"]));
        }
        if item["kind"] == "toolCall" {
            let call = text(&item["callId"]);
            let asked = self.open_interactions.values().any(|(_, open)| *open == call);
            assert!(!asked, "what a call asked is settled before it completes: {item}");
        }
    }

    fn run_completed(&mut self, event: &Value) {
        let run = text(&event["runId"]);
        assert!(self.open_runs.remove(&run), "a run ends once: {event}");
        assert!(self.open_items.values().all(|of| *of != run), "no item outlives its run: {event}");
        assert!(self.open_interactions.values().all(|(of, _)| *of != run), "no interaction outlives its run: {event}");
        self.ended_runs.insert(run);
    }

    fn queue_changed(&mut self, event: &Value) {
        let queue = self.queues.entry(text(&event["branchId"])).or_default();
        let message = event["messageId"].as_str().unwrap_or_default();
        match event["change"].as_str().unwrap_or_default() {
            "added" => {
                let message = text(&event["entry"]["messageId"]);
                assert!(!queue.contains(&message), "an input is added once: {event}");
                self.messages.insert(message.clone());
                queue.push(message);
            }
            "removed" | "started" => {
                let at = queue.iter().position(|waiting| waiting == message);
                queue.remove(at.unwrap_or_else(|| panic!("only what waits is taken out: {event}")));
            }
            "moved" => {
                let order: Vec<String> = event["order"].as_array().unwrap().iter().map(text).collect();
                let (mut before, mut after) = (queue.clone(), order.clone());
                before.sort();
                after.sort();
                assert_eq!(before, after, "an order has what waits, and nothing else");
                *queue = order;
            }
            "edited" | "held" | "released" => {}
            other => panic!("nobody knows the change {other} of a queue"),
        }
        assert_eq!(event["length"], queue.len() as u64, "a queue is as long as it says: {event}");
    }
}

/// What the strictest provider wants: every call has its result right after it, in order, and nothing is empty.
pub(crate) fn check_history(chain: &[Value]) {
    let mut owed: Vec<String> = Vec::new();
    let mut parent = Value::Null;
    for message in chain {
        assert_eq!(message.get("parentMessageId").unwrap_or(&Value::Null), &parent, "a chain has no gap: {message}");
        parent = message["messageId"].clone();
        let is_empty = message["content"].as_array().is_none_or(Vec::is_empty);
        if message["role"] == "tool" {
            assert!(!owed.is_empty(), "a result belongs to a call of the message before it: {message}");
            assert_eq!(text(&message["callId"]), owed.remove(0), "results come in the order of their calls");
            assert!(!is_empty, "a result says something: {message}");
            continue;
        }
        assert!(owed.is_empty(), "every call has a result right after it: {owed:?} before {message}");
        let calls = message["toolCalls"].as_array().cloned().unwrap_or_default();
        assert!(!is_empty || !calls.is_empty(), "no message is empty: {message}");
        assert!(calls.is_empty() || message["role"] == "assistant", "only a model calls: {message}");
        owed = calls.iter().map(|call| text(&call["callId"])).collect();
    }
    assert!(owed.is_empty(), "every call has a result: {owed:?}");
}

/// A text that must be there.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text, not {value}")).to_owned()
}
