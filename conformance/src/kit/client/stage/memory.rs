//! What the played daemon remembers, and answers by itself: reading what was sent, which clients do when they see fit.
//!
//! The events it has sent (`thread/events`), the interactions it has offered (`interaction/list`), how it is
//! (`daemon/status`), and that a client does not want a thread any more. A vector that is about one of these lists the
//! method as `manual`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// When everything happens.
pub(in super::super) const AT: &str = "2026-11-30T10:00:00Z";
/// Events of a page that asks for no number.
const PAGE: u64 = 100;

/// The memory of a played daemon, which survives its restarts.
#[derive(Debug, Default)]
pub(in super::super) struct Memory {
    manual: BTreeSet<String>,
    logs: BTreeMap<String, BTreeMap<u64, Value>>,
    open: BTreeMap<String, Value>,
    /// Ids of the daemon's requests, with the interactions they offered.
    offers: BTreeMap<String, String>,
    /// Ids of the daemon's requests, with their methods.
    methods: BTreeMap<String, &'static str>,
    /// The newest request of each interaction.
    newest: BTreeMap<String, String>,
}

impl Memory {
    pub(super) fn new(manual: &[String]) -> Self {
        Self { manual: manual.iter().cloned().collect(), ..Self::default() }
    }

    /// Notes what a message says that is being sent.
    pub(in super::super) fn sent(&mut self, message: &Value) {
        let params = &message["params"];
        match message["method"].as_str() {
            Some("thread/event") => self.log(params),
            Some("tool/call") => self.offered("tool/call", "toolCall", message),
            Some("approval/request") => self.offered("approval/request", "approval", message),
            Some("input/request") => self.offered("input/request", "input", message),
            Some("interaction/settled") => self.settle(params["interactionId"].as_str().unwrap_or_default()),
            _ => {}
        }
    }

    /// An interaction is over.
    pub(in super::super) fn settle(&mut self, interaction: &str) {
        self.open.remove(interaction);
    }

    /// Whether a message answers what nobody waits for any more: an interaction that is over, or an earlier offer of one
    /// that was offered again. Daemons ignore these, so clients may send them or not.
    pub(super) fn is_moot(&self, message: &Value) -> bool {
        let id = message.get("id").filter(|_| message.get("method").is_none()).map(ToString::to_string);
        let offer = id.and_then(|id| self.offers.get(&id).map(|interaction| (id, interaction)));
        offer.is_some_and(|(id, interaction)| {
            !self.open.contains_key(interaction) || self.newest.get(interaction) != Some(&id)
        })
    }

    /// The method of the request of the daemon that a message answers.
    pub(super) fn asked(&self, message: &Value) -> Option<&'static str> {
        let id = message.get("id").filter(|_| message.get("method").is_none())?.to_string();
        self.methods.get(&id).copied()
    }

    /// Keeps a durable event: the parameters of `thread/event`.
    pub(in super::super) fn log(&mut self, params: &Value) {
        if let (Some(thread), Some(seq)) = (params["threadId"].as_str(), params["seq"].as_u64()) {
            self.logs.entry(thread.to_owned()).or_default().insert(seq, params.clone());
        }
    }

    /// The answer to a message of the client, if it is one of those that are answered here. A cancelled request needs none.
    pub(super) fn answer(&self, message: &Value) -> Option<Value> {
        let method = message["method"].as_str()?;
        let id = message.get("id")?;
        if self.manual.contains(method) {
            return None;
        }
        let result = match method {
            "thread/events" => self.events(&message["params"]),
            "interaction/list" => self.interactions(&message["params"]),
            "daemon/status" => status(),
            "thread/unsubscribe" => json!({}),
            _ => return None,
        };
        Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn events(&self, params: &Value) -> Value {
        let after = params["after"].as_u64().unwrap_or(0);
        let limit = usize::try_from(params["limit"].as_u64().unwrap_or(PAGE)).unwrap_or(usize::MAX);
        let log = self.logs.get(params["threadId"].as_str().unwrap_or_default());
        let page: Vec<&Value> =
            log.into_iter().flat_map(|log| log.range(after + 1..)).map(|(_, event)| event).take(limit).collect();
        let next_after = page.last().map_or(json!(after), |event| event["seq"].clone());
        json!({"events": page, "nextAfter": next_after})
    }

    fn interactions(&self, params: &Value) -> Value {
        let wanted = |name: &str, value: &Value| params[name].is_null() || params[name] == *value;
        let items = self.open.values();
        let items = items.filter(|it| wanted("threadId", &it["threadId"]) && wanted("kind", &it["kind"]));
        let items: Vec<_> = if params["state"] == "settled" { Vec::new() } else { items.collect() };
        json!({"items": items})
    }

    fn offered(&mut self, method: &'static str, kind: &str, message: &Value) {
        let (ask, params) = (message["id"].to_string(), &message["params"]);
        let id = params["interactionId"].as_str().unwrap_or_default();
        self.methods.insert(ask.clone(), method);
        self.offers.insert(ask.clone(), id.to_owned());
        self.newest.insert(id.to_owned(), ask);
        let interaction = json!({
            "interactionId": id, "kind": kind, "state": "open", "threadId": params["threadId"], "runId": params["runId"],
            "callId": params["callId"], "request": params, "attempt": params["attempt"], "offeredTo": [],
            "openedAt": AT,
        });
        self.open.insert(id.to_owned(), interaction);
    }
}

fn status() -> Value {
    json!({
        "version": "0.1.0", "instanceId": "dm-1", "startedAt": AT, "uptimeMs": 1_000, "health": {"state": "ok"},
        "counts": {"connections": 1, "threads": 1, "runs": {}, "openInteractions": 0, "children": 0},
        "store": {"format": 1, "logBytes": 0, "blobBytes": 0, "indexBytes": 0, "deadBytes": 0, "index": "ok"},
        "memoryBytes": 1_000_000,
    })
}
