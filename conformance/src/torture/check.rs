//! Holding what a daemon still knows against what a client remembers.

use std::{collections::HashSet, io};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    memory::{Followed, Operation, id},
    session::{PATIENCE, Session},
};
use crate::suite::all_closed;

impl Session<'_> {
    /// Reads the whole log of a thread: no event is missing or another than it was, and every write that was
    /// acknowledged is in it.
    pub(super) async fn check_log(&mut self, thread: &str) -> io::Result<Vec<Value>> {
        let mut log: Vec<Value> = Vec::new();
        let mut known;
        loop {
            // What is pushed while the last page is on its way may be younger than that page.
            known = self.client.memory.threads.get(thread).map_or(0, Followed::length);
            let params = json!({"threadId": thread, "after": log.len(), "limit": 1_000});
            let mut page = self.call("thread/events", params).await?;
            match page["events"].as_array_mut() {
                Some(events) if !events.is_empty() => log.append(events),
                _ => break,
            }
        }
        self.client.shared.tally.report().logs += 1;
        let Some(followed) = self.client.memory.threads.get_mut(thread) else { return Ok(log) };
        let mut wrong = Vec::new();
        if (log.len() as u64) < known {
            wrong.push(format!("it has {} events and had {known}", log.len()));
        }
        for (event, seq) in log.iter().zip(1_u64..) {
            if event["seq"] != seq {
                wrong.push(format!("event {seq} is {event}"));
            }
            wrong.extend(followed.compare(seq, event).err());
        }
        for (operation, result) in std::mem::take(&mut followed.unverified) {
            if !is_in(&log, &operation, &result) {
                wrong.push(format!("{} {} was acknowledged as {result}", operation.method, operation.params));
            }
        }
        for wrong in wrong {
            self.client.violation(format!("thread {thread}: {wrong}"));
        }
        Ok(log)
    }

    /// Notes the interactions of its thread that are open: each must be offered to this client, who can settle it.
    pub(super) async fn note_open(&mut self, thread: &str) -> io::Result<()> {
        let listed = self.call("interaction/list", json!({"threadId": thread, "state": "open"})).await?;
        for interaction in listed["items"].as_array().into_iter().flatten() {
            let interaction_id = id(&interaction["interactionId"]);
            let is_known =
                self.offered.contains(&interaction_id) || self.client.memory.settled.contains(&interaction_id);
            if !is_known {
                self.must_be_offered.insert(interaction_id, Instant::now() + PATIENCE / 3);
            }
        }
        Ok(())
    }

    /// The last daemon has answered everything: every thread of this client can go on, and is what it should be.
    pub(super) async fn finish(&mut self) -> io::Result<()> {
        let own = self.client.memory.threads.iter().filter(|(_, thread)| thread.is_own);
        let own: Vec<String> = own.map(|(id, _)| id.clone()).collect();
        let mut rules = Vec::new();
        for thread in own {
            self.last_word(&thread).await?;
            let log = self.check_log(&thread).await?;
            self.check_calls(&thread, &log);
            self.check_settled(&thread, &log);
            if let Err(wrong) = all_closed(&log) {
                self.client.violation(format!("thread {thread}: {wrong}"));
            }
            self.check_chain(&thread).await?;
            let listed = self.call("policy/list", json!({"threadId": thread, "limit": 1_000})).await?;
            rules.extend(listed["items"].as_array().into_iter().flatten().map(|rule| id(&rule["policyId"])));
        }
        let memory = &self.client.memory;
        for lost in memory.rules.iter().filter(|rule| !rules.contains(rule)) {
            self.client.violation(format!("rule {lost} was set and is not there"));
        }
        for kept in memory.removed_rules.iter().filter(|rule| rules.contains(rule)) {
            self.client.violation(format!("rule {kept} was removed and is there"));
        }
        Ok(())
    }

    /// A run on the thread, to whose endpoint the whole history is sent.
    async fn last_word(&mut self, thread: &str) -> io::Result<()> {
        let operation = self.client.chooser.last_word(thread);
        let submitted = self.call("run/submit", operation.params).await?;
        let deadline = Instant::now() + PATIENCE / 2;
        // An input of a run that was stopped is read together with this one, and may have calls.
        let waited = loop {
            let waited = self.call("run/wait", json!({"runId": submitted["runId"], "timeoutMs": 1_000})).await?;
            if waited["timedOut"] != true || Instant::now() > deadline {
                break waited;
            }
            self.act(true).await?;
        };
        let outcome = &waited["run"]["outcome"];
        // The script of such an input may also say that the model fails, which it does after it took the history.
        let is_told = outcome["error"]["message"].as_str().is_some_and(|message| message.contains("The script told"));
        if outcome["status"] == "completed" || is_told {
            self.client.shared.tally.report().histories += 1;
        } else {
            self.client.violation(format!("thread {thread} cannot go on: {}", waited["run"]));
        }
        Ok(())
    }

    /// What the log says of each call is what its handler did: once or not at all, and with this result.
    fn check_calls(&self, thread: &str, log: &[Value]) {
        let completed = log.iter().filter(|event| event["event"]["type"] == "itemCompleted");
        for item in completed.map(|event| &event["event"]["item"]) {
            let is_ours = item["tool"]["source"].as_str().is_some_and(|source| source.starts_with("client:client-"));
            if item["kind"] != "toolCall" || !is_ours {
                continue;
            }
            let effect = self.client.memory.effects.get(&id(&item["callId"]));
            let times = effect.map_or(0, |effect| effect.times);
            let is_answered = item["state"] == "completed" || item["error"]["code"] == "odd";
            let fits = match item["effect"].as_str() {
                _ if is_answered => {
                    times == 1 && effect.is_some_and(|effect| item["content"].to_string().contains(&effect.told))
                }
                Some("none") => times == 0,
                _ => times <= 1,
            };
            if !fits {
                self.client.violation(format!("thread {thread}: a handler that was started {times} times is {item}"));
            }
        }
    }

    /// What this client was told to be over is over.
    fn check_settled(&self, thread: &str, log: &[Value]) {
        let memory = &self.client.memory;
        let of_thread =
            memory.offers.iter().filter(|(id, offered)| offered.thread == thread && memory.settled.contains(*id));
        let settled = log.iter().map(|event| &event["event"]).filter(|event| event["type"] == "interactionSettled");
        let settled: HashSet<String> = settled.map(|event| id(&event["interactionId"])).collect();
        for (lost, offered) in of_thread.filter(|(id, _)| !settled.contains(*id)) {
            self.client.violation(format!("thread {thread}: {} {lost} was settled and is open again", offered.method));
        }
    }

    /// The chain is one, and every call in it has one result.
    async fn check_chain(&mut self, thread: &str) -> io::Result<()> {
        let mut chain: Vec<Value> = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let params = json!({"threadId": thread, "cursor": cursor, "limit": 1_000});
            let mut page = self.call("thread/messages", params).await?;
            chain.append(page["items"].as_array_mut().unwrap_or(&mut Vec::new()));
            cursor = page["nextCursor"].take();
            if cursor.is_null() {
                break;
            }
        }
        let is_one = chain.windows(2).all(|pair| pair[0]["parentMessageId"] == pair[1]["messageId"]);
        if !is_one {
            self.client.violation(format!("thread {thread}: its messages are not one chain"));
        }
        let calls = chain.iter().flat_map(|message| message["toolCalls"].as_array().into_iter().flatten());
        for call in calls {
            let results = chain.iter().filter(|message| message["callId"] == call["callId"]).count();
            if results != 1 {
                self.client.violation(format!("thread {thread}: {results} results of the call {call}"));
            }
        }
        Ok(())
    }
}

/// Whether a log shows what was acknowledged, and shows it once.
fn is_in(log: &[Value], operation: &Operation, result: &Value) -> bool {
    let of_type =
        |kind: &'static str| log.iter().map(|event| &event["event"]).filter(move |event| event["type"] == kind);
    let changes = |change: &'static str| of_type("queueChanged").filter(move |event| event["change"] == change);
    let has_token = |value: &Value| value.to_string().contains(&operation.token);
    match operation.method {
        "run/submit" => {
            let items = of_type("itemCompleted").map(|event| &event["item"]);
            let said = items.filter(|item| item["kind"] == "userMessage" && has_token(&item["content"]));
            let queued = changes("added").map(|event| &event["entry"]).filter(|entry| has_token(&entry["input"]));
            let mut ids: Vec<String> = said.chain(queued).map(|message| id(&message["messageId"])).collect();
            ids.sort();
            ids.dedup();
            ids == [id(&result["messageId"])]
        }
        "thread/update" => of_type("threadUpdated").filter(|event| has_token(&event["thread"]["title"])).count() == 1,
        "queue/update" => changes("edited").filter(|event| has_token(&event["entry"]["input"])).count() == 1,
        "queue/remove" => {
            let message = &operation.params["messageId"];
            changes("removed").filter(|event| event["messageId"] == *message).count() == 1
        }
        "run/stop" => result["seq"].as_u64() <= Some(log.len() as u64),
        _ => true,
    }
}
