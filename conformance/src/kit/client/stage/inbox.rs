//! What has come and no step has expected yet: messages of the client, reports of the driver.

use std::collections::HashSet;

use serde_json::Value;

use super::super::super::{
    matching::{Captures, matches},
    report::Failure,
};

/// What a look into an inbox comes to.
pub(super) enum Found {
    /// It is there, and was taken out.
    Yes(Value),
    /// Nothing like it is there; it may come.
    NotYet,
    /// What came in its place is something else.
    Other(Failure),
}

/// Messages of the client.
#[derive(Debug, Default)]
pub(in super::super) struct Messages {
    waiting: Vec<(usize, Value)>,
    /// Ids of requests, by connection, which no other request may have.
    ids: HashSet<(usize, String)>,
    fences: HashSet<String>,
}

/// Reports of the driver.
#[derive(Debug, Default)]
pub(in super::super) struct Reports {
    waiting: Vec<Value>,
    /// Whether no more will come.
    pub(super) has_ended: bool,
    /// Whether the vector is over, so that what waits may fail now.
    pub(super) is_over: bool,
    late: Vec<Value>,
}

impl Messages {
    /// Takes a message in; what rule it breaks, if it does.
    pub(super) fn take(&mut self, on: usize, message: Value) -> Option<Failure> {
        let (id, method) = (message.get("id").map(ToString::to_string), message.get("method"));
        if let (Some(id), Some(_)) = (&id, method)
            && !self.ids.insert((on, id.clone()))
        {
            return Some(rule("ids", "a request id that no other request of the connection has", &message.to_string()));
        }
        if method.is_none() && id.is_some_and(|id| self.fences.remove(&id)) {
            let code = &message["error"]["code"];
            let refused = code == -32601;
            return (!refused).then(|| miss("the error -32601 for a method no client knows", &message.to_string()));
        }
        self.waiting.push((on, message));
        None
    }

    /// Looks for a message like this on a connection. The first with the same method, or the same id for an answer, has to
    /// be it, unless order does not matter.
    pub(super) fn find(&mut self, on: usize, pattern: &Value, any_order: bool, captures: &mut Captures) -> Found {
        let (method, id) = (key(pattern, "method", captures), key(pattern, "id", captures));
        let is_near = |message: &Value| match &method {
            Some(method) => message.get("method") == Some(method),
            None => message.get("method").is_none() && message.get("id") == id.as_ref(),
        };
        for at in 0..self.waiting.len() {
            if self.waiting[at].0 != on || !is_near(&self.waiting[at].1) {
                continue;
            }
            match matches(pattern, Some(&self.waiting[at].1), captures) {
                Ok(()) => return Found::Yes(self.waiting.remove(at).1),
                Err(mismatch) if !any_order => {
                    let mut failure = miss(&pattern.to_string(), &self.waiting[at].1.to_string());
                    failure.came = format!("{failure}\n  {mismatch}", failure = failure.came);
                    return Found::Other(failure);
                }
                Err(_) => {}
            }
        }
        Found::NotYet
    }

    /// Whether something like this waits.
    pub(super) fn has(&self, pattern: &Value, captures: &Captures) -> Option<&Value> {
        let like = |message: &&Value| matches(pattern, Some(message), &mut captures.clone()).is_ok();
        self.waiting.iter().map(|(_, message)| message).find(like)
    }

    /// A request whose refusal is no message for a step.
    pub(super) fn fence(&mut self, id: &str) {
        self.fences.insert(Value::from(id).to_string());
    }

    /// Whether this fence was passed.
    pub(super) fn has_passed(&self, id: &str) -> bool {
        !self.fences.contains(&Value::from(id).to_string())
    }

    /// No answer comes over a connection that was cut.
    pub(super) fn forget_fences(&mut self) {
        self.fences.clear();
    }

    /// What no step has expected, but for notifications that may come at any time.
    pub(super) fn left(&self) -> Option<&Value> {
        let may_come = ["$/cancelRequest", "tool/progress"];
        let is_left = |message: &&Value| may_come.iter().all(|method| message["method"] != *method);
        self.waiting.iter().map(|(_, message)| message).find(is_left)
    }
}

impl Reports {
    /// Takes a line of the driver's stdout in.
    pub(super) fn take(&mut self, line: &str) -> Result<(), String> {
        let report: Value = serde_json::from_str(line).map_err(|error| format!("{line} ({error})"))?;
        match report.is_object() {
            // What a program says of itself as it starts, and what it shows beside, is for people.
            true if report.get("ready").is_some() || report.get("log").is_some() => Ok(()),
            true if self.is_over => {
                self.late.push(report);
                Ok(())
            }
            true => {
                self.waiting.push(report);
                Ok(())
            }
            false => Err(line.to_owned()),
        }
    }

    /// Looks for a report like this. The first about the same command has to be it, unless order does not matter; of
    /// handlers, which run beside each other, any.
    pub(super) fn find(&mut self, pattern: &Value, any_order: bool, captures: &mut Captures) -> Found {
        let about = key(pattern, "id", captures);
        for at in 0..self.waiting.len() {
            if self.waiting[at].get("id") != about.as_ref() {
                continue;
            }
            match matches(pattern, Some(&self.waiting[at]), captures) {
                Ok(()) => return Found::Yes(self.waiting.remove(at)),
                Err(mismatch) if about.is_some() && !any_order => {
                    let mut failure = miss(&pattern.to_string(), &self.waiting[at].to_string());
                    failure.came = format!("{came}\n  {mismatch}", came = failure.came);
                    return Found::Other(failure);
                }
                Err(_) => {}
            }
        }
        Found::NotYet
    }

    /// The next report about a command, taken out if it is an event of this type; otherwise left, none is skipped.
    pub(super) fn event(&mut self, of: &str, kind: &str) -> Option<Value> {
        let at = self.waiting.iter().position(|report| report["id"] == of)?;
        (self.waiting[at]["event"]["type"] == kind).then(|| self.waiting.remove(at))
    }

    /// Whether something like this waits.
    pub(super) fn has(&self, pattern: &Value, captures: &Captures) -> Option<&Value> {
        self.waiting.iter().find(|report| matches(pattern, Some(report), &mut captures.clone()).is_ok())
    }

    /// What no step has heard and every vector has to: calls of handlers, and how commands ended.
    pub(super) fn left(&self) -> Option<&Value> {
        let calls = |report: &&Value| report["handler"] == "called";
        let ends = |report: &&Value| report.get("done").is_some() || report.get("failed").is_some();
        self.waiting.iter().find(|report| calls(report) || ends(report)).or_else(|| self.late.iter().find(calls))
    }

    /// All that waits, for a sentence.
    pub(super) fn all(&self) -> String {
        listed(self.waiting.iter())
    }
}

impl Messages {
    /// All that waits, for a sentence.
    pub(super) fn all(&self) -> String {
        listed(self.waiting.iter().map(|(_, message)| message))
    }
}

/// A member of a pattern that messages are told apart by, with captures in their place.
fn key(pattern: &Value, name: &str, captures: &Captures) -> Option<Value> {
    pattern.get(name).map(|key| captures.fill(key).unwrap_or_else(|_| key.clone()))
}

/// Reads a line of the client.
pub(super) fn read_message(line: &[u8]) -> Result<Value, Failure> {
    let shown = || String::from_utf8_lossy(line).trim_end().to_owned();
    let message: Value = serde_json::from_slice(line)
        .map_err(|error| rule("framing", "one JSON object a line, in UTF-8", &format!("{} ({error})", shown())))?;
    if message["jsonrpc"] != "2.0" {
        return Err(rule("jsonrpc", "`\"jsonrpc\":\"2.0\"` in every message", &shown()));
    }
    let (method, id) = (message.get("method"), message.get("id"));
    let is_message = match (method, id) {
        (Some(method), _) => method.is_string(),
        (None, Some(_)) => message.get("result").is_some() != message.get("error").is_some(),
        (None, None) => false,
    };
    if is_message { Ok(message) } else { Err(rule("jsonrpc", "a request, a notification or an answer", &shown())) }
}

/// A failure of this step.
pub(in super::super) fn miss(expected: &str, came: &str) -> Failure {
    Failure { expected: expected.to_owned(), came: came.to_owned(), ..Failure::default() }
}

/// A rule that holds throughout was broken.
pub(super) fn rule(rule: &str, expected: &str, came: &str) -> Failure {
    Failure { rule: Some(rule.to_owned()), ..miss(expected, came) }
}

fn listed<'a>(values: impl Iterator<Item = &'a Value>) -> String {
    let texts: Vec<String> = values.map(ToString::to_string).collect();
    if texts.is_empty() { "nothing".to_owned() } else { texts.join("\n    ") }
}
