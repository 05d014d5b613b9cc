//! What a client remembers beyond the life of a daemon: what it was told, what it asked for, and what it did.

use std::{
    collections::{BTreeMap, HashMap, HashSet, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
};

use serde_json::Value;

/// All that a client process knows.
#[derive(Default)]
pub(super) struct Memory {
    /// The threads it has followed, by id.
    pub(super) threads: BTreeMap<String, Followed>,
    /// The one it works on.
    pub(super) current: Option<String>,
    /// Requests that were not answered yet, by operation id, in the order in which they were made.
    pub(super) unanswered: BTreeMap<u64, Operation>,
    /// The last ones that were.
    pub(super) answered: Vec<(Operation, Value)>,
    /// What it was offered, by interaction.
    pub(super) offers: HashMap<String, Offered>,
    /// Interactions it knows to be over.
    pub(super) settled: HashSet<String>,
    /// How often the handler of a call was started, by call, and what it answered.
    pub(super) effects: HashMap<String, Effect>,
    /// Rules that were set and not removed, by id.
    pub(super) rules: HashSet<String>,
    /// Rules that were removed.
    pub(super) removed_rules: HashSet<String>,
}

/// A request under an operation id.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) id: String,
    pub(super) method: &'static str,
    pub(super) params: Value,
    /// Words that are in this request and in no other.
    pub(super) token: String,
}

/// An interaction as a client holds it.
#[derive(Clone, Debug)]
pub(super) struct Offered {
    pub(super) method: String,
    pub(super) thread: String,
    pub(super) call_id: String,
    pub(super) attempt: u64,
    /// Its request on the connection of the moment.
    pub(super) request: Option<Value>,
    /// The answer, once there is one; it never changes.
    pub(super) answer: Option<Value>,
    pub(super) is_sent: bool,
    /// Whether it is answered by `interaction/settle`, which is an operation of its own.
    pub(super) by_settle: bool,
}

/// A handler that was started.
#[derive(Clone, Debug, Default)]
pub(super) struct Effect {
    pub(super) times: u32,
    pub(super) interaction_id: String,
    pub(super) told: String,
}

/// A thread as its events show it.
#[derive(Default)]
pub(super) struct Followed {
    /// Whether it is this client's own, whose calls it answers.
    pub(super) is_own: bool,
    /// The life of the daemon it was started in.
    pub(super) born: u32,
    /// The last event that was pushed.
    pub(super) seq: u64,
    /// One number for every event that was seen, pushed or pulled, in order.
    known: Vec<u64>,
    pub(super) active: HashSet<String>,
    pub(super) queue: Vec<String>,
    pub(super) held: bool,
    /// Acknowledged writes to it that were not yet looked for in its log.
    pub(super) unverified: Vec<(Operation, Value)>,
}

impl Followed {
    /// A thread that nothing is known of yet, followed first in this life of the daemon.
    pub(super) fn new(is_own: bool, born: u32) -> Self {
        Self { is_own, born, ..Self::default() }
    }

    /// Takes in an event that was pushed; what is wrong about it.
    pub(super) fn pushed(&mut self, event: &Value) -> Result<(), String> {
        let seq = event["seq"].as_u64().unwrap_or(0);
        if seq != self.seq + 1 {
            return Err(format!("event {seq} came after event {}: {event}", self.seq));
        }
        self.seq = seq;
        self.compare(seq, event)?;
        self.follow(&event["event"])
    }

    /// Holds an event against what was seen under its number before.
    pub(super) fn compare(&mut self, seq: u64, event: &Value) -> Result<(), String> {
        let mut hasher = DefaultHasher::new();
        event.to_string().hash(&mut hasher);
        let hash = hasher.finish();
        let at = usize::try_from(seq).unwrap_or(usize::MAX) - 1;
        match self.known.get(at) {
            Some(known) if *known != hash => Err(format!("event {seq} is not what it was: {event}")),
            Some(_) => Ok(()),
            None if at == self.known.len() => {
                self.known.push(hash);
                Ok(())
            }
            None => Err(format!("event {seq} follows event {}", self.known.len())),
        }
    }

    /// How many events of it are known.
    pub(super) fn length(&self) -> u64 {
        self.known.len() as u64
    }

    /// Nothing goes on and nothing waits.
    pub(super) fn is_quiet(&self) -> bool {
        self.active.is_empty() && self.queue.is_empty()
    }

    fn follow(&mut self, event: &Value) -> Result<(), String> {
        match event["type"].as_str().unwrap_or_default() {
            "runStarted" => {
                self.active.insert(id(&event["run"]["runId"]));
            }
            "runCompleted" if !self.active.remove(&id(&event["runId"])) => {
                return Err(format!("a run ended that had not started, or had ended: {event}"));
            }
            "queueChanged" => return self.queue_changed(event),
            _ => {}
        }
        Ok(())
    }

    fn queue_changed(&mut self, event: &Value) -> Result<(), String> {
        let message_id = id(&event["messageId"]);
        match event["change"].as_str().unwrap_or_default() {
            "added" => self.queue.push(id(&event["entry"]["messageId"])),
            "removed" | "started" => self.queue.retain(|waiting| *waiting != message_id),
            "moved" => self.queue = event["order"].as_array().into_iter().flatten().map(id).collect(),
            _ => {}
        }
        self.held = event["held"] == true;
        if event["length"] != self.queue.len() as u64 {
            return Err(format!("the queue has {} entries and not as many as this says: {event}", self.queue.len()));
        }
        Ok(())
    }
}

impl Memory {
    /// The phases this client is in, for the table.
    pub(super) fn phases(&self, is_back: bool) -> Vec<&'static str> {
        if !is_back {
            return vec!["its return under way"];
        }
        let open = self.offers.iter().filter(|(id, _)| !self.settled.contains(*id)).map(|(_, offered)| offered);
        let open: Vec<&Offered> = open.collect();
        let waits = |method: &str| open.iter().any(|offered| offered.method == method && !offered.is_sent);
        let all = [
            ("a tool call open", waits("tool/call")),
            ("an approval open", waits("approval/request")),
            ("a question open", waits("input/request")),
            ("an answer not yet acknowledged", open.iter().any(|offered| offered.is_sent)),
            ("a request not yet answered", !self.unanswered.is_empty()),
            ("a run under way", self.threads.values().any(|thread| !thread.active.is_empty())),
        ];
        let phases: Vec<_> = all.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect();
        if phases.is_empty() { vec!["nothing under way"] } else { phases }
    }
}

/// An id, or nothing.
pub(super) fn id(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
