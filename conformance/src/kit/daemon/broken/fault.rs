//! The rules that can be broken, and how each is.

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;
use serde_json::{Value, json};

/// A rule to be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Fault {
    /// Loses an event of each thread.
    LosesAnEvent,
    /// Sends the first event of a run before the answer to its submit.
    SendsEventsBeforeTheAnswer,
    /// Never says `interaction/settled`.
    NeverSaysSettled,
    /// Completes the item of a call before it settles its interaction.
    CompletesBeforeItSettles,
    /// Takes an id with a fraction for an id.
    TakesFractionalIds,
    /// Sends the first event after a resume twice.
    RepeatsAnEventAfterResume,
    /// Answers each request twice.
    AnswersTwice,
    /// Gives `notFound` the code of another error.
    MixesUpCodes,
    /// Answers a resume with `after` by a snapshot.
    AnswersResumeWithASnapshot,
    /// Reads an `after` beyond the end as the end.
    ClampsAfter,
    /// Does everything again that is repeated with the same `operationId`.
    ForgetsOperations,
    /// Changes what has another revision than expected.
    IgnoresRevisions,
    /// Closes a connection on which a line is no JSON.
    EndsOnGarbage,
    /// Says nothing to a line that is no JSON.
    IgnoresGarbage,
    /// Never offers again what is open.
    ForgetsToOfferAgain,
    /// Answers whoever settles second as if it had won.
    LetsBothWin,
    /// Sends a piece of text twice.
    RepeatsADelta,
    /// Answers with errors under the id null.
    LosesIdsOfErrors,
    /// Leaves `jsonrpc` out.
    LeavesOutTheVersion,
    /// Answers the members of a batch one by one.
    AnswersBatchesOneByOne,
    /// Says of everything that it was not replayed.
    NeverSaysReplayed,
    /// Leaves a field out of an answer that always has it.
    LeavesOutAField,
}

/// A fault on one connection.
pub(super) struct Breaking {
    fault: Fault,
    /// Methods of requests by their ids as text.
    asked: BTreeMap<String, String>,
    /// Threads of which something was broken already.
    done: BTreeSet<String>,
    /// A line that is sent later than it should be.
    held: Option<Value>,
    is_over: bool,
}

impl Breaking {
    pub(super) const fn new(fault: Fault) -> Self {
        Self { fault, asked: BTreeMap::new(), done: BTreeSet::new(), held: None, is_over: false }
    }

    /// Whether the connection is to be closed now.
    pub(super) const fn ends(&self) -> bool {
        self.is_over
    }

    /// A line of the client: what the daemon is sent of it, and what the client is answered at once.
    pub(super) fn pass_client_line(&mut self, line: Vec<u8>) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        let Ok(mut message) = serde_json::from_slice::<Value>(&line) else {
            self.is_over = self.fault == Fault::EndsOnGarbage;
            let is_swallowed = matches!(self.fault, Fault::EndsOnGarbage | Fault::IgnoresGarbage);
            return (if is_swallowed { Vec::new() } else { vec![line] }, Vec::new());
        };
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            self.asked.insert(id.to_string(), method.to_owned());
        }
        let changed = self.change_request(&mut message);
        (vec![if changed { bytes(&message) } else { line }], Vec::new())
    }

    fn change_request(&mut self, message: &mut Value) -> bool {
        let without = |message: &mut Value, name: &str| {
            message.get_mut("params").and_then(Value::as_object_mut).is_some_and(|params| params.remove(name).is_some())
        };
        match self.fault {
            Fault::ForgetsOperations => without(message, "operationId"),
            Fault::IgnoresRevisions => without(message, "expectedRevision"),
            Fault::AnswersResumeWithASnapshot if message["method"] == "thread/resume" => without(message, "after"),
            Fault::ClampsAfter if message["params"]["after"].as_u64().is_some_and(|after| after >= 900) => {
                without(message, "after")
            }
            Fault::TakesFractionalIds if message["id"].as_f64().is_some_and(|id| id.fract() != 0.0) => {
                let whole = json!(message["id"].as_f64().unwrap_or_default().trunc() as i64 + 1_000_000);
                self.held = Some(json!({"whole": whole, "fraction": message["id"]}));
                message["id"] = whole;
                true
            }
            _ => false,
        }
    }

    /// A line of the daemon: what the client is sent in its place.
    pub(super) fn pass_daemon_line(&mut self, line: Vec<u8>) -> Vec<Vec<u8>> {
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { return vec![line] };
        match self.change(message) {
            Some(messages) => messages.iter().map(bytes).collect(),
            None => vec![line],
        }
    }

    /// What is sent in place of a message; `None` for the message as it is.
    fn change(&mut self, mut message: Value) -> Option<Vec<Value>> {
        if message["method"] == "thread/event" {
            return self.change_event(message);
        }
        if message.get("method").is_some() {
            return self.change_offer(message);
        }
        match self.fault {
            Fault::AnswersBatchesOneByOne if message.is_array() => message.as_array().cloned(),
            Fault::LeavesOutTheVersion => {
                message.as_object_mut()?.remove("jsonrpc")?;
                Some(vec![message])
            }
            Fault::AnswersTwice => Some(vec![message.clone(), message]),
            Fault::SendsEventsBeforeTheAnswer if self.is_answer_to(&message, "run/submit") => {
                self.held = Some(message);
                Some(Vec::new())
            }
            Fault::MixesUpCodes if message["error"]["data"]["kind"] == "notFound" => {
                message["error"]["code"] = json!(-32_601);
                Some(vec![message])
            }
            Fault::LosesIdsOfErrors if message.get("error").is_some() => {
                message["id"] = Value::Null;
                Some(vec![message])
            }
            Fault::LetsBothWin if message["error"]["data"]["kind"] == "alreadySettled" => {
                let interaction = &message["error"]["data"]["interactionId"];
                let result = json!({"interactionId": interaction, "outcome": "answered", "replayed": false});
                Some(vec![json!({"jsonrpc": "2.0", "id": message["id"], "result": result})])
            }
            Fault::NeverSaysReplayed if message["result"]["replayed"] == true => {
                message["result"]["replayed"] = json!(false);
                Some(vec![message])
            }
            Fault::LeavesOutAField if self.is_answer_to(&message, "thread/start") => {
                message["result"].as_object_mut()?.remove("tools");
                Some(vec![message])
            }
            Fault::TakesFractionalIds => {
                let held = self.held.take_if(|held| held["whole"] == message["id"])?;
                message["id"] = held["fraction"].clone();
                Some(vec![message])
            }
            _ => None,
        }
    }

    fn is_answer_to(&self, message: &Value, method: &str) -> bool {
        let asked = self.asked.get(&message["id"].to_string());
        message.get("result").is_some() && asked.is_some_and(|asked| asked == method)
    }

    fn change_offer(&self, message: Value) -> Option<Vec<Value>> {
        let is_dropped = match self.fault {
            Fault::NeverSaysSettled => message["method"] == "interaction/settled",
            Fault::ForgetsToOfferAgain => message["params"]["attempt"].as_u64().is_some_and(|attempt| attempt > 1),
            _ => false,
        };
        is_dropped.then(Vec::new)
    }

    fn change_event(&mut self, message: Value) -> Option<Vec<Value>> {
        let kind = message["params"]["event"]["type"].as_str().unwrap_or_default().to_owned();
        let thread = message["params"]["threadId"].to_string();
        match self.fault {
            Fault::LosesAnEvent if kind == "itemCompleted" && self.done.insert(thread.clone()) => Some(Vec::new()),
            Fault::RepeatsADelta if kind == "itemDelta" => Some(vec![message.clone(), message]),
            Fault::RepeatsAnEventAfterResume
                if self.asked.values().any(|method| method == "thread/resume") && self.done.insert(thread) =>
            {
                Some(vec![message.clone(), message])
            }
            Fault::SendsEventsBeforeTheAnswer => self.held.take().map(|answer| vec![message, answer]),
            Fault::CompletesBeforeItSettles if kind == "interactionSettled" && self.held.is_none() => {
                self.held = Some(message);
                Some(Vec::new())
            }
            Fault::CompletesBeforeItSettles => {
                let mut settled = self.held.take()?;
                let mut first = message;
                let (one, other) = (settled["params"]["seq"].take(), first["params"]["seq"].take());
                first["params"]["seq"] = one;
                settled["params"]["seq"] = other;
                Some(vec![first, settled])
            }
            _ => None,
        }
    }
}

fn bytes(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}
