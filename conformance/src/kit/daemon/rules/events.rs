//! Rules `seq`, `delta`, `submitFirst` and `closing`: the events of a thread, as one connection gets them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    Broken,
    answers::{Answers, Request},
    hold,
};

/// What one connection has seen of each thread.
#[derive(Debug, Default)]
pub(super) struct Events {
    threads: BTreeMap<String, Seen>,
}

/// What was seen of a thread since this connection subscribed to it last.
#[derive(Debug, Default)]
struct Seen {
    /// The number of the next durable event; `None` while it is not known where the subscription begins.
    next: Option<u64>,
    /// Runs of which there was an event.
    runs: BTreeSet<String>,
    /// Open items, with the run they belong to.
    items: BTreeMap<String, Value>,
    /// Bytes of text seen of each open item.
    texts: BTreeMap<String, u64>,
    /// Open interactions.
    open: BTreeSet<String>,
    /// Interactions that were settled.
    settled: BTreeSet<String>,
}

impl Events {
    /// An answer that may say from where on a thread is followed.
    pub(super) fn answered(&mut self, request: &Request, answer: &Value) -> Result<(), Broken> {
        let Some(result) = answer.get("result") else { return Ok(()) };
        match request.method.as_str() {
            "thread/start" | "thread/resume" | "thread/subscribe" if request.params["subscribe"] != false => {
                let thread = result["thread"]["threadId"].as_str().or(request.params["threadId"].as_str());
                let begins_after = request.params["after"].as_u64().or(result["seq"].as_u64());
                // A subscription anew moves the cursor, and what was open is told again.
                let seen = Seen { next: begins_after.map(|seq| seq + 1), ..Seen::default() };
                self.threads.extend(thread.map(|thread| (thread.to_owned(), seen)));
            }
            "run/submit" if request.params["wait"] != true && result["replayed"] == false => {
                return self.submit_answered(result);
            }
            _ => {}
        }
        Ok(())
    }

    fn submit_answered(&self, result: &Value) -> Result<(), Broken> {
        // What joins a run that is under way comes after events of that run.
        let Some(run) = result["runId"].as_str().filter(|_| result["state"] == "running") else { return Ok(()) };
        let is_early = self.threads.values().any(|seen| seen.runs.contains(run));
        hold(!is_early, "submitFirst", "the answer to a submit before the events of its run", result)
    }

    /// An event.
    pub(super) fn came(&mut self, params: &Value, answers: &Answers) -> Result<(), Broken> {
        let Some(thread) = params["threadId"].as_str() else { return Ok(()) };
        let seen = self.threads.entry(thread.to_owned()).or_default();
        if params.get("after").is_some() {
            return seen.ephemeral(params);
        }
        let Some(seq) = params["seq"].as_u64() else {
            return hold(false, "seq", "an event with `seq` or `after`", params);
        };
        // While the answer to a resume is under way, what comes may belong to the subscription before it.
        let moves = ["thread/resume", "thread/subscribe"]
            .iter()
            .any(|method| answers.open(method).any(|request| request.params["threadId"] == thread));
        if let Some(next) = seen.next
            && !moves
        {
            let expected = format!("event {next} of the thread, and no gap, repeat or other order");
            hold(seq == next, "seq", &expected, params)?;
        }
        seen.next = Some(seq + 1);
        seen.durable(&params["event"])
    }
}

impl Seen {
    fn ephemeral(&mut self, params: &Value) -> Result<(), Broken> {
        let event = &params["event"];
        if event["type"] != "itemDelta" {
            return Ok(());
        }
        let (Some(item), Some(offset), Some(text)) =
            (event["itemId"].as_str(), event["offset"].as_u64(), event["text"].as_str())
        else {
            return Ok(());
        };
        let known = self.texts.entry(item.to_owned()).or_default();
        hold(offset == *known, "delta", &format!("a delta from byte {known} on"), params)?;
        *known += text.len() as u64;
        Ok(())
    }

    fn durable(&mut self, event: &Value) -> Result<(), Broken> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap_or_default() {
            "runStarted" => drop(self.runs.insert(text(&event["run"]["runId"]))),
            "itemStarted" => {
                self.items.insert(text(&event["item"]["itemId"]), event["item"]["runId"].clone());
            }
            "interactionOpened" => drop(self.open.insert(text(&event["interaction"]["interactionId"]))),
            "interactionSettled" => {
                let interaction = text(&event["interactionId"]);
                self.open.remove(&interaction);
                hold(self.settled.insert(interaction), "closing", "an interaction that is settled once", event)?;
            }
            "itemCompleted" => {
                let item = text(&event["item"]["itemId"]);
                self.texts.remove(&item);
                self.items.remove(&item);
                let is_open = event["item"]["interactionId"].as_str().is_some_and(|own| self.open.contains(own));
                hold(!is_open, "closing", "an item whose interaction was settled before", event)?;
            }
            "runCompleted" => {
                let run = &event["runId"];
                let left = self.items.iter().find(|(_, owner)| *owner == run);
                let expected = "an item that is completed before its run";
                hold(left.is_none(), "closing", expected, event)?;
                self.runs.insert(text(run));
            }
            _ => {}
        }
        Ok(())
    }
}
