//! What a client hears, line by line, and what must be so when it hears it.

use serde_json::Value;

use crate::{
    book::Book,
    client::{Ask, Client, Connection, Pending},
    log::text,
    trace::Trace,
};

/// What hears: the connection, whose it is, and what everybody remembers.
pub(crate) struct Ear<'a> {
    pub(crate) connection: &'a mut Connection,
    pub(crate) client: &'a mut Client,
    pub(crate) book: &'a mut Book,
    pub(crate) trace: &'a mut Trace,
    /// Which time everybody listens: what two connections hear in one has no order.
    pub(crate) pass: u64,
}

impl Ear<'_> {
    /// Takes in a line.
    pub(crate) fn hear(&mut self, line: &str) {
        let message: Value = serde_json::from_str(line).expect("every line is JSON");
        let shown = format!("{} < {line}", self.connection.key);
        // These say what machine this is, and how it is.
        if message.pointer("/result/memoryBytes").is_some() || message.pointer("/result/daemon/pid").is_some() {
            self.trace.remark(&shown);
        } else {
            self.trace.note(&shown);
        }
        match message {
            Value::Array(members) => members.into_iter().for_each(|member| self.message(member)),
            message => self.message(message),
        }
    }

    fn message(&mut self, message: Value) {
        assert_eq!(message["jsonrpc"], "2.0");
        let id = message.get("id").cloned();
        match (message["method"].as_str().map(str::to_owned), id) {
            (Some(method), Some(id)) => self.asked(id, method, &message["params"]),
            (Some(method), None) => self.told(&method, &message["params"]),
            (None, Some(Value::Null)) => {
                assert!(self.connection.nulls > 0, "an answer to nothing: {message}");
                self.connection.nulls -= 1;
            }
            (None, Some(id)) => self.answered(&id, message),
            (None, None) => panic!("neither request nor answer: {message}"),
        }
    }

    fn answered(&mut self, id: &Value, mut message: Value) {
        let pending = id.as_i64().and_then(|id| self.connection.pending.remove(&id));
        let pending = pending.unwrap_or_else(|| panic!("a second answer, or one to nothing: {message}"));
        let result = message.as_object_mut().unwrap().remove("result");
        let answer = result.ok_or_else(|| message["error"].take());
        match &answer {
            Ok(result) => self.succeeded(&pending, result),
            Err(error) => {
                let kind = text(&error["data"]["kind"]);
                assert_ne!(kind, "internal", "{} {} {error}", pending.method, pending.params);
                let deletes = matches!(pending.method.as_str(), "thread/delete" | "project/delete");
                // What began a thread is recognised after its end, and begins no other.
                let of_gone = error["data"]["noun"] == "thread" && self.book.is_doomed(&text(&error["data"]["id"]));
                let is_doomed = of_gone || self.book.is_of_the_doomed(&pending.params);
                let is_gone = kind == "notFound" && !deletes && is_doomed;
                let is_passing = Book::is_passing(&kind) || is_gone || !pending.was_done;
                assert!(
                    is_passing,
                    "an operation that was done is refused: {} {}: {kind}",
                    pending.method, pending.params
                );
            }
        }
        if pending.is_query
            && let Some(id) = id.as_i64()
        {
            self.connection.answers.insert(id, answer);
        }
    }

    fn succeeded(&mut self, pending: &Pending, result: &Value) {
        let Pending { method, params, .. } = pending;
        let thread = || text(&params["threadId"]);
        let is_new = result["replayed"] != true;
        let subscribes = params["subscribe"] != false;
        match method.as_str() {
            "thread/start" if is_new && subscribes => {
                self.connection.follow(&text(&result["thread"]["threadId"]), result["seq"].as_u64().unwrap());
            }
            "thread/resume" if is_new && subscribes => {
                let after = params["after"].as_u64().unwrap_or_else(|| result["seq"].as_u64().unwrap());
                self.connection.follow(&thread(), after);
            }
            "thread/subscribe" => {
                let after = params["after"].as_u64().unwrap_or_else(|| result["seq"].as_u64().unwrap());
                self.connection.follow(&thread(), after);
            }
            "thread/unsubscribe" => {
                self.connection.followed.remove(&thread());
            }
            "run/submit" if is_new && params["wait"] != true && params.get("mode").is_none() => {
                let run = text(&result["runId"]);
                assert!(!self.connection.runs.contains(&run), "an event of run {run} came before the answer");
            }
            _ => {}
        }
        self.book.answered(method, params, result);
    }

    fn asked(&mut self, id: Value, method: String, params: &Value) {
        let interaction = text(&params["interactionId"]);
        let attempt = params["attempt"].as_u64().expect("an attempt");
        let before = self.connection.attempts.insert(interaction.clone(), attempt);
        assert!(before.is_none_or(|before| before < attempt), "attempts grow: {params}");
        assert!(!self.connection.told.contains(&interaction), "what is over is asked no more: {params}");
        self.book.thread_of.insert(interaction.clone(), text(&params["threadId"]));
        match method.as_str() {
            "tool/call" => {
                let work = self.client.work.entry(interaction.clone()).or_default();
                // What is read late may have been sent before another connection heard the end.
                let is_over = work.acknowledged_in.is_some_and(|pass| pass < self.pass);
                let is_asked_again = is_over && !self.connection.wire.was_slow;
                assert!(!is_asked_again, "a call whose result the daemon has is asked for again: {params}");
            }
            "approval/request" | "input/request" => assert!(self.client.decides, "only who can is asked: {params}"),
            other => panic!("nobody knows the request {other}"),
        }
        self.connection.asks.push(Ask { id, method, interaction, params: params.clone() });
    }

    fn told(&mut self, method: &str, params: &Value) {
        match method {
            "thread/event" if params.get("seq").is_some() => self.durable(params),
            "thread/event" => self.ephemeral(params),
            "interaction/settled" => {
                let id = text(&params["interactionId"]);
                assert!(self.connection.attempts.contains_key(&id), "only who was asked is told the end: {params}");
                assert!(self.connection.told.insert(id.clone()), "the end is told once: {params}");
                self.connection.asks.retain(|ask| ask.interaction != id);
                if is_passed_on(params) {
                    // The call goes on with another process, and may come back to this one.
                    self.connection.told.remove(&id);
                    return;
                }
                if let Some(work) = self.client.work.get_mut(&id) {
                    work.acknowledged_in = Some(self.pass);
                }
                self.book.settled(&id);
            }
            "thread/unsubscribed" => {
                let thread = text(&params["threadId"]);
                let next = self.connection.followed.remove(&thread);
                assert_eq!(next.map(|next| next - 1), params["after"].as_u64(), "it is said behind the last event");
                let kind = text(&params["error"]["data"]["kind"]);
                let is_gone = kind == "notFound" && self.book.is_doomed(&thread);
                assert!(is_gone || Book::is_passing(&kind), "{params}");
            }
            "interaction/invalidAnswer" | "data/changed" => {}
            other => panic!("nobody knows the notification {other}"),
        }
    }

    fn durable(&mut self, params: &Value) {
        let (thread, seq) = (text(&params["threadId"]), params["seq"].as_u64().unwrap());
        let next = self.connection.followed.get_mut(&thread);
        let next = next.unwrap_or_else(|| panic!("an event of a thread that is not followed: {params}"));
        assert_eq!(*next, seq, "events come in order, without gaps or repeats");
        *next += 1;
        let event = &params["event"];
        if let Some(run) = event["runId"].as_str().or_else(|| event.pointer("/run/runId").and_then(Value::as_str)) {
            self.connection.runs.insert(run.to_owned());
        }
        if event["type"] == "itemCompleted" {
            self.connection.texts.remove(&(thread.clone(), text(&event["item"]["itemId"])));
        }
        self.book.log(&thread).learn(params);
    }

    fn ephemeral(&mut self, params: &Value) {
        let thread = text(&params["threadId"]);
        let next = self.connection.followed.get(&thread);
        let next = next.unwrap_or_else(|| panic!("an event of a thread that is not followed: {params}"));
        assert!(params["after"].as_u64().is_some_and(|after| after < *next), "it follows what was sent: {params}");
        let event = &params["event"];
        if event["type"] == "itemDelta" {
            let had = self.connection.texts.entry((thread, text(&event["itemId"]))).or_default();
            assert_eq!(event["offset"].as_u64(), Some(*had), "deltas are gapless from 0: {params}");
            *had += text(&event["text"]).len() as u64;
        }
    }
}

/// Whether somebody is told that a call is over for them alone: another process has its tool now.
fn is_passed_on(settled: &Value) -> bool {
    settled["outcome"] == "cancelled" && settled["by"]["kind"] == "client"
}
