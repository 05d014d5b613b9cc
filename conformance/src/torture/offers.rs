//! What a client does with requests of the daemon, and with answers to its own: nothing twice, and the same answer always.

use std::time::Duration;

use rand::Rng;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    memory::{Offered, Operation, id},
    session::Session,
};

/// How long a handler or a person takes at most.
const THINKS_MS: u64 = 120;
/// How much longer somebody else's approval is left to its owner.
const LEAVES_MS: u64 = 40;
/// Acknowledged requests that are remembered to be asked once more.
const ASKED_ONCE_MORE_OF: usize = 10;

impl Session<'_> {
    /// The daemon asks for something: it is begun when it is new, and gone on with when it is not.
    pub(super) fn offer(&mut self, line: Value) {
        let params = &line["params"];
        let (interaction_id, call_id) = (id(&params["interactionId"]), id(&params["callId"]));
        let attempt = params["attempt"].as_u64().unwrap_or(0);
        self.must_be_offered.remove(&interaction_id);
        self.offered.insert(interaction_id.clone());
        if self.client.memory.settled.contains(&interaction_id) {
            return self.client.violation(format!("{interaction_id} was offered after it was settled"));
        }
        let delay = self.client.random.random_range(0..THINKS_MS);
        let mut wrong = None;
        if let Some(offered) = self.client.memory.offers.get_mut(&interaction_id) {
            if offered.call_id != call_id || attempt <= offered.attempt {
                wrong =
                    Some(format!("{interaction_id} was offered again as call {call_id}, attempt {attempt}: {line}"));
            }
            offered.attempt = attempt;
            offered.request = Some(line["id"].clone());
            self.client.shared.tally.report().offered_again += 1;
            let delay = if offered.answer.is_some() { 0 } else { delay };
            self.due.push((Instant::now() + Duration::from_millis(delay), interaction_id));
        } else {
            wrong = self.begin(&line, &interaction_id, &call_id, attempt, delay).err();
        }
        if let Some(wrong) = wrong {
            self.client.violation(wrong);
        }
    }

    fn begin(
        &mut self,
        line: &Value,
        interaction_id: &str,
        call_id: &str,
        attempt: u64,
        delay: u64,
    ) -> Result<(), String> {
        let method = id(&line["method"]);
        let memory = &mut self.client.memory;
        let is_own = memory.threads.get(&id(&line["params"]["threadId"])).is_some_and(|thread| thread.is_own);
        let delay = if is_own { delay } else { delay + LEAVES_MS };
        self.due.push((Instant::now() + Duration::from_millis(delay), interaction_id.to_owned()));
        let offered = Offered {
            method: method.clone(),
            thread: id(&line["params"]["threadId"]),
            call_id: call_id.to_owned(),
            attempt,
            request: Some(line["id"].clone()),
            answer: None,
            is_sent: false,
            by_settle: false,
        };
        memory.offers.insert(interaction_id.to_owned(), offered);
        if method != "tool/call" {
            return Ok(());
        }
        self.client.shared.tally.report().effects += 1;
        let effect = memory.effects.entry(call_id.to_owned()).or_default();
        effect.times += 1;
        if effect.times > 1 {
            return Err(format!("call {call_id} was started as {} and as {interaction_id}", effect.interaction_id));
        }
        interaction_id.clone_into(&mut effect.interaction_id);
        Ok(())
    }

    /// Answers an interaction that is still open, on this connection.
    pub(super) async fn answer(&mut self, interaction_id: &str) -> std::io::Result<()> {
        let client = &mut *self.client;
        if client.memory.settled.contains(interaction_id) {
            return Ok(());
        }
        let Some(offered) = client.memory.offers.get_mut(interaction_id) else { return Ok(()) };
        let Some(request) = offered.request.clone().filter(|_| !offered.by_settle) else { return Ok(()) };
        let is_first = offered.answer.is_none();
        let chance = client.random.random_range(0..100);
        let answer = offered.answer.get_or_insert_with(|| answer(&offered.method, &offered.call_id, chance)).clone();
        offered.is_sent = true;
        if offered.method == "tool/call"
            && let Some(effect) = client.memory.effects.get_mut(&offered.call_id)
        {
            effect.told = id(answer.pointer("/contentItems/0/text").unwrap_or(&answer["errorMessage"]));
        }
        if is_first && client.random.random_bool(0.25) {
            offered.by_settle = true;
            let operation = client.chooser.settle(interaction_id, &answer);
            return self.make(operation).await;
        }
        self.wire.reply(&request, &answer).await
    }

    /// The answer to a request of this client's own.
    pub(super) fn answered(&mut self, operation: Operation, mut line: Value) {
        if line.get("error").is_some() {
            return self.refused(&operation, &line["error"]);
        }
        let result = line["result"].take();
        {
            let mut report = self.client.shared.tally.report();
            report.acknowledged += 1;
            report.replayed += u64::from(result["replayed"] == true);
        }
        let memory = &mut self.client.memory;
        match operation.method {
            "policy/set" => {
                memory.rules.insert(id(&result["policy"]["policyId"]));
            }
            "policy/remove" => {
                let rule = id(&operation.params["policyId"]);
                memory.rules.remove(&rule);
                memory.removed_rules.insert(rule);
            }
            "interaction/settle" => {
                memory.settled.insert(id(&result["interactionId"]));
            }
            "thread/start" => {
                let thread = id(&result["thread"]["threadId"]);
                self.started(&thread);
            }
            _ => {}
        }
        let memory = &mut self.client.memory;
        if let Some(thread) = memory.threads.get_mut(&id(&operation.params["threadId"])) {
            thread.unverified.push((operation.clone(), result.clone()));
        }
        if memory.answered.len() == ASKED_ONCE_MORE_OF {
            memory.answered.remove(0);
        }
        memory.answered.push((operation, result));
    }

    /// What may be refused: something else came first, and the daemon says what.
    fn refused(&mut self, operation: &Operation, error: &Value) {
        let kind = error["data"]["kind"].as_str().unwrap_or_default();
        let came_first = match operation.method {
            "queue/update" | "queue/remove" => matches!(kind, "notFound" | "invalidState"),
            "queue/reorder" => kind == "conflict",
            "run/skip" => kind == "invalidState",
            "interaction/settle" => {
                self.client.memory.settled.insert(id(&operation.params["interactionId"]));
                let by = &error["data"]["by"];
                // The same answer from the same process is a replay, and this one never gives another.
                let is_mine = by["kind"] == "client" && by["instanceId"] == self.client.instance.as_str();
                kind == "alreadySettled" && !is_mine
            }
            _ => false,
        };
        if !came_first {
            self.client.violation(format!("{} {} was refused: {error}", operation.method, operation.params));
        }
    }
}

/// What a handler or a person answers; `chance` is below 100.
fn answer(method: &str, call_id: &str, chance: u32) -> Value {
    match (method, chance) {
        ("tool/call", 0..10) => {
            json!({"success": false, "errorCode": "odd", "errorMessage": format!("It did not work: {call_id}.")})
        }
        ("tool/call", _) => {
            json!({"success": true, "contentItems": [{"type": "text", "text": format!("Done: {call_id}.")}]})
        }
        ("approval/request", 0..25) => json!({"decision": "decline"}),
        ("approval/request", 25..30) => json!({"decision": "acceptForSession"}),
        ("approval/request", _) => json!({"decision": "accept"}),
        (_, 0..20) => json!({"dismissed": true}),
        (_, 20..40) => json!({"declined": true}),
        _ => json!({"answers": {"q": {"selected": [0]}}}),
    }
}
