//! Client processes and their connections, as far as the simulation remembers them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::wire::Wire;

/// A client process. It outlives its connections and the daemon.
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) instance: String,
    /// Whether it decides approvals and answers questions.
    pub(crate) decides: bool,
    /// The tool calls it was asked to do, by their interaction.
    pub(crate) work: BTreeMap<String, Work>,
}

/// A tool call, as the client that does it remembers it.
#[derive(Default)]
pub(crate) struct Work {
    /// Its result, once there is one: the same whenever the call is offered again.
    pub(crate) result: Option<Value>,
    /// When the daemon has said that it has the result: which time everybody listened.
    pub(crate) acknowledged_in: Option<u64>,
}

/// One connection of a client.
pub(crate) struct Connection {
    /// Tells it from all others of the seed.
    pub(crate) key: u64,
    /// Whose it is.
    pub(crate) client: usize,
    pub(crate) wire: Wire,
    pub(crate) next_id: i64,
    /// Requests without an answer.
    pub(crate) pending: BTreeMap<i64, Pending>,
    /// Answers to requests that somebody looks for.
    pub(crate) answers: BTreeMap<i64, Result<Value, Value>>,
    /// How many answers with the id null are due.
    pub(crate) nulls: u32,
    /// The threads it follows, and the event that comes next of each.
    pub(crate) followed: BTreeMap<String, u64>,
    /// What it was asked and has not been told the end of.
    pub(crate) asks: Vec<Ask>,
    /// How often each interaction was offered on it.
    pub(crate) attempts: BTreeMap<String, u64>,
    /// How much it has of the text of items that stream, by thread and item.
    pub(crate) texts: BTreeMap<(String, String), u64>,
    /// Interactions whose end it was told.
    pub(crate) told: BTreeSet<String>,
    /// Runs of which it has seen events.
    pub(crate) runs: BTreeSet<String>,
}

/// A request without an answer.
pub(crate) struct Pending {
    pub(crate) method: String,
    pub(crate) params: Value,
    /// Whether it may wait for something to happen.
    pub(crate) waits: bool,
    /// Whether somebody looks for its answer.
    pub(crate) is_query: bool,
    /// Whether its operation was known to be done when it was sent.
    pub(crate) was_done: bool,
}

/// Something a client is asked.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) interaction: String,
    pub(crate) params: Value,
}

impl Client {
    pub(crate) fn new(name: &str, instance: &str, decides: bool) -> Self {
        Self { name: name.to_owned(), instance: instance.to_owned(), decides, work: BTreeMap::new() }
    }

    /// The parameters of its handshake.
    pub(crate) fn handshake(&self, opt_out: &Value) -> Value {
        json!({
            "protocol": {"min": 1, "max": 1},
            "client": {"name": self.name, "version": "0.1.0", "instanceId": self.instance},
            "capabilities": {"approvals": self.decides, "input": self.decides},
            "optOut": opt_out,
        })
    }
}

impl Connection {
    pub(crate) fn new(key: u64, client: usize, wire: Wire) -> Self {
        Self {
            key,
            client,
            wire,
            next_id: 1,
            pending: BTreeMap::new(),
            answers: BTreeMap::new(),
            nulls: 0,
            followed: BTreeMap::new(),
            asks: Vec::new(),
            attempts: BTreeMap::new(),
            texts: BTreeMap::new(),
            told: BTreeSet::new(),
            runs: BTreeSet::new(),
        }
    }

    /// Sends a request; its id.
    pub(crate) fn request(&mut self, method: &str, params: Value, is_query: bool) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        let waits = match method {
            "run/wait" => true,
            "run/submit" => params["wait"] == true,
            "thread/events" => params["waitMs"].as_u64().is_some_and(|ms| ms > 0),
            _ => false,
        };
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.pending.insert(id, Pending { method: method.to_owned(), params, waits, is_query, was_done: false });
        id
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.wire.send(format!("{message}\n").as_bytes());
    }

    /// Follows a thread from after an event on, or moves there.
    pub(crate) fn follow(&mut self, thread: &str, after: u64) {
        self.followed.insert(thread.to_owned(), after + 1);
        self.texts.retain(|(of, _), _| of != thread);
    }

    /// Whether every request that need not wait must have been answered, once nothing goes on any more.
    pub(crate) fn is_up_to_date(&self) -> bool {
        !self.wire.is_slow && !self.wire.is_closed && self.wire.has_sent()
    }
}
