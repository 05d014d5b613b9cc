//! What scenarios do with a thread again and again: start it, submit, let a run end, look at what is recorded.

use std::time::Duration;

use ropewalk_protocol::Timestamp;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Fresh, Raw};

/// The declaration of the tool that the transcripts use.
#[must_use]
pub fn get_issue() -> Value {
    json!({
        "name": "get_issue",
        "description": "Read an issue.",
        "inputSchema": {
            "type": "object",
            "properties": {"id": {"type": "string"}},
            "required": ["id"],
            "additionalProperties": false,
        },
        "annotations": {"readOnlyHint": true},
    })
}

/// The declaration of a tool that takes anything.
#[must_use]
pub fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object", "properties": {}}})
}

/// The same with further fields of a declaration.
#[must_use]
pub fn tool_with(name: &str, further: Value) -> Value {
    let mut tool = tool(name);
    for (field, value) in further.as_object().expect("fields of a declaration") {
        tool[field] = value.clone();
    }
    tool
}

/// The names of the tools that clients declared, of a list of all tools: which others there are is not what every scenario
/// is about.
#[must_use]
pub fn client_tools(tools: &Value) -> Vec<&str> {
    let tools = tools.as_array().map_or(&[][..], Vec::as_slice);
    let of_clients = tools.iter().filter(|tool| tool["sourceKind"] == "client");
    of_clients.filter_map(|tool| tool["flatName"].as_str()).collect()
}

/// An input of one text.
#[must_use]
pub fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// A result of a tool that says this.
#[must_use]
pub fn success(text: &str) -> Value {
    json!({"success": true, "contentItems": [{"type": "text", "text": text}]})
}

/// What an item told the model: its texts, a line each.
#[must_use]
pub fn told_text(item: &Value) -> String {
    let parts = item["content"].as_array().map_or(&[][..], Vec::as_slice);
    parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Whether a line says that a run waits for its endpoint.
fn is_endpoint_wait(line: &Value) -> bool {
    let event = &line["params"]["event"];
    event["type"] == "runState" && event["run"]["waitingOn"]["kind"] == "endpoint"
}

impl<S: AsyncRead + AsyncWrite + Unpin> Raw<S> {
    /// Starts a thread with these tools; its id.
    pub async fn start(&mut self, tools: &[Value]) -> Value {
        self.call("thread/start", json!({"tools": tools})).await["thread"]["threadId"].clone()
    }

    /// Submits a text; the id of the run.
    pub async fn submit(&mut self, thread: &Value, input: &str) -> Value {
        self.call("run/submit", json!({"threadId": thread, "input": text(input)})).await["runId"].clone()
    }

    /// Waits until a run has ended; the `runCompleted` event.
    pub async fn ended(&mut self, run: &Value) -> Value {
        let what = format!("the end of run {run}");
        let is_it = |line: &Value| {
            line["params"]["event"]["type"] == "runCompleted" && line["params"]["event"]["runId"] == *run
        };
        let mut line = self.until(&what, is_it).await;
        line["params"]["event"].take()
    }

    /// Submits a text and waits until its run has ended; the `runCompleted` event.
    pub async fn run(&mut self, thread: &Value, input: &str) -> Value {
        let run = self.submit(thread, input).await;
        self.ended(&run).await
    }

    /// What the next run to wait for its endpoint waits on.
    pub async fn waits_for_endpoint(&mut self) -> Value {
        let mut line = self.until("a wait for an endpoint", is_endpoint_wait).await;
        line["params"]["event"]["run"]["waitingOn"].take()
    }

    /// Waits until a run has ended, and lets every wait for its endpoint pass; the `runCompleted` event.
    pub async fn ended_after_waits(&mut self, subject: &Fresh, run: &Value) -> Value {
        loop {
            let is_it = |line: &Value| {
                let event = &line["params"]["event"];
                event["type"] == "runCompleted" && event["runId"] == *run || is_endpoint_wait(line)
            };
            let mut line = self.until("the end of the run, or a wait", is_it).await;
            let event = &mut line["params"]["event"];
            if event["type"] == "runCompleted" {
                return event.take();
            }
            let waiting = &event["run"]["waitingOn"];
            let moment = |at: &Value| at.as_str().and_then(|at| at.parse::<Timestamp>().ok()).expect("a moment");
            let wait = moment(&waiting["deadlineAt"]).millis_since(moment(&waiting["since"]));
            subject.advance(Duration::from_millis(wait));
        }
    }

    /// The next notice.
    pub async fn notice(&mut self) -> Value {
        let mut line = self.until("a notice", |line| line["params"]["event"]["item"]["kind"] == "notice").await;
        line["params"]["event"]["item"].take()
    }

    /// Every durable event of a thread, pulled, and checked to be without gaps.
    pub async fn log(&mut self, thread: &Value) -> Vec<Value> {
        let mut events: Vec<Value> = Vec::new();
        loop {
            let after = events.len();
            let page = self.call("thread/events", json!({"threadId": thread, "after": after, "limit": 1000})).await;
            let more = page["events"].as_array().expect("a list of events").clone();
            if more.is_empty() {
                break;
            }
            events.extend(more);
        }
        for (event, seq) in events.iter().zip(1_u64..) {
            assert_eq!(event["seq"], seq, "the events of a thread have no gap: {event}");
        }
        events
    }

    /// The types of the durable events of a thread after one.
    pub async fn types(&mut self, thread: &Value, after: usize) -> Vec<String> {
        let log = self.log(thread).await;
        log.iter().skip(after).filter_map(|event| event["event"]["type"].as_str().map(str::to_owned)).collect()
    }

    /// The completed tool calls of a thread, in order.
    pub async fn calls(&mut self, thread: &Value) -> Vec<Value> {
        self.items(thread, "toolCall").await
    }

    /// The completed texts of a thread's model, in order.
    pub async fn said(&mut self, thread: &Value) -> Vec<Value> {
        self.items(thread, "assistantMessage").await
    }

    async fn items(&mut self, thread: &Value, kind: &str) -> Vec<Value> {
        let log = self.log(thread).await;
        let completed = log.into_iter().filter(|event| event["event"]["type"] == "itemCompleted");
        let items = completed.map(|mut event| event["event"]["item"].take());
        items.filter(|item| item["kind"] == kind).collect()
    }

    /// The chain of a thread, oldest message first.
    pub async fn chain(&mut self, thread: &Value) -> Vec<Value> {
        let page = self.call("thread/messages", json!({"threadId": thread, "limit": 1000})).await;
        page["items"].as_array().expect("a list of messages").iter().rev().cloned().collect()
    }

    /// Sets a rule about a client tool of `bot`; its id.
    pub async fn rule(&mut self, level: &str, owner: &Value, tool: &str, decision: &str) -> Value {
        let mut params = json!({
            "level": level, "tool": {"source": "client:bot", "name": tool}, "decision": decision,
        });
        match level {
            "thread" => params["threadId"] = owner.clone(),
            "project" => params["projectId"] = owner.clone(),
            _ => {}
        }
        self.call("policy/set", params).await["policy"]["policyId"].clone()
    }

    /// Makes an OpenAI-compatible endpoint the default; its id.
    pub async fn use_model_at(&mut self, base_url: &str) -> Value {
        let endpoint = json!({
            "name": "http", "provider": "openaiCompatible", "baseUrl": base_url, "model": "m", "isDefault": true,
        });
        self.call("endpoint/set", endpoint).await["endpoint"]["endpointId"].clone()
    }

    /// The project of a thread.
    pub async fn project_of(&mut self, thread: &Value) -> Value {
        self.call("thread/read", json!({"threadId": thread})).await["thread"]["projectId"].clone()
    }

    /// A tool of a thread as it is shown.
    pub async fn shown_tool(&mut self, thread: &Value, flat_name: &str) -> Value {
        let tools = self.call("thread/tools", json!({"threadId": thread, "schemas": true})).await;
        let tools = tools["items"].as_array().expect("a list of tools");
        let found = tools.iter().find(|tool| tool["flatName"] == flat_name);
        found.unwrap_or_else(|| panic!("there is a tool {flat_name}")).clone()
    }
}

/// Nothing of a thread is left open: every item that began is completed once, every interaction that was opened is
/// settled once and before its item, and nothing follows the end of its run.
///
/// # Panics
/// When that is not so.
pub fn assert_all_closed(log: &[Value]) {
    if let Err(wrong) = all_closed(log) {
        panic!("{wrong}");
    }
}

/// What [`assert_all_closed`] claims; the first thing that is not so.
pub(crate) fn all_closed(log: &[Value]) -> Result<(), String> {
    let mut open: Vec<(&str, &Value)> = Vec::new();
    let mut runs: Vec<&str> = Vec::new();
    let must = |holds: bool, what: &str, event: &Value| holds.then_some(()).ok_or_else(|| format!("{what}: {event}"));
    for event in log {
        let event = &event["event"];
        match event["type"].as_str().unwrap_or_default() {
            "runStarted" => runs.push(id(&event["run"]["runId"])),
            "itemStarted" => open.push((id(&event["item"]["itemId"]), &event["item"]["runId"])),
            "itemCompleted" => {
                let was_open = close(&mut open, &event["item"]["itemId"]);
                let is_whole_at_birth = ["userMessage", "notice"].iter().any(|kind| event["item"]["kind"] == *kind);
                must(was_open != is_whole_at_birth, "completed once", event)?;
            }
            "interactionOpened" => {
                let interaction = &event["interaction"];
                open.push((id(&interaction["interactionId"]), &interaction["runId"]));
            }
            "interactionSettled" => must(close(&mut open, &event["interactionId"]), "settled once", event)?,
            "runCompleted" => {
                let is_closed = open.iter().all(|(_, run)| **run != event["runId"]);
                must(is_closed, &format!("open at the end of the run: {open:?}"), event)?;
                let at = runs.iter().position(|run| event["runId"] == *run);
                must(at.map(|at| runs.remove(at)).is_some(), "a run ends once", event)?;
            }
            _ => {}
        }
    }
    if !open.is_empty() || !runs.is_empty() {
        return Err(format!("left open: {open:?}; not ended: {runs:?}"));
    }
    Ok(())
}

fn id(value: &Value) -> &str {
    value.as_str().expect("an id")
}

fn close(open: &mut Vec<(&str, &Value)>, wanted: &Value) -> bool {
    let at = open.iter().position(|(known, _)| wanted == known);
    at.map(|at| open.remove(at)).is_some()
}
