//! What each verb of the step language does.

use std::time::Duration;

use ropewalk_protocol::limits::MAX_MESSAGE_BYTES;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    connection::Connection,
    player::{Failed, Place, Player, Problem},
    seeking::Seeker,
};
use crate::kit::{
    matching::{Mismatch, matches},
    vector::{Answer, Ending, Part, Restart, Step, Verb},
};

/// Between two calls of `eventually` there is nothing to wait on.
const ASKS_AGAIN: Duration = Duration::from_millis(10);

impl Player<'_> {
    pub(super) async fn play_step(&mut self, step: &Step, number: &str) -> Result<(), Failed> {
        if let Verb::Repeat { times, steps } = &step.verb {
            for index in 0..*times {
                self.captures.set("index", index.into());
                self.play_steps(steps, &format!("{number}.")).await?;
            }
            return Ok(());
        }
        let played = self.perform(step).await;
        played.map_err(|problem| Failed { step: Some((number.to_owned(), step.written.clone())), problem })
    }

    async fn perform(&mut self, step: &Step) -> Result<(), Problem> {
        let (on, without) = (step.on.as_str(), step.without.as_ref());
        match &step.verb {
            Verb::Connect { params, answer } => self.connect(on, params, answer).await,
            Verb::Open => self.open(on).await,
            Verb::Call { method, params, id, answer } => {
                let id = self.request(on, method, params.as_ref(), id.as_ref()).await?;
                self.answered(on, without, id, answer).await
            }
            Verb::Send { method, params, id, name } => {
                let id = self.request(on, method, params.as_ref(), id.as_ref()).await?;
                self.captures.set(name, id);
                Ok(())
            }
            Verb::Await { name, answer } => {
                let id = self.captured(name)?;
                self.answered(on, without, id, answer).await
            }
            Verb::Notify { method, params } => {
                let mut message = json!({"jsonrpc": "2.0", "method": method});
                self.fill_params(&mut message, params.as_ref())?;
                self.send(on, &message).await
            }
            Verb::Reply { name, answer } => {
                let request = self.captured(name)?;
                let mut message = self.captures.fill(answer)?;
                message["jsonrpc"] = json!("2.0");
                message["id"] = request["id"].clone();
                self.send(on, &message).await
            }
            Verb::Message(message) => {
                let message = self.captures.fill(message)?;
                self.send(on, &message).await
            }
            Verb::Bytes { parts, ends_line } => self.send_bytes(on, parts, *ends_line).await,
            Verb::Eventually { method, params, result } => self.eventually(on, method, params.as_ref(), result).await,
            Verb::Let(named) => named.iter().try_for_each(|(name, value)| {
                let value = self.captures.fill(value)?;
                self.captures.set(name, value);
                Ok(())
            }),
            Verb::Check { value, is } => {
                let value = self.captures.fill(value)?;
                matches(is, Some(&value), &mut self.captures).map_err(|wrong| mismatch(is, &value, &wrong))
            }
            Verb::Cut | Verb::Pause | Verb::Resume | Verb::Finish | Verb::Clear => self.handle(on, &step.verb),
            Verb::Ended => self.wait_for_end(on, without).await,
            Verb::Restart(how) => self.restart(*how).await,
            Verb::Exited(ending) => self.exited(*ending).await,
            Verb::Start => self.start().await,
            Verb::Asked { .. }
            | Verb::Told { .. }
            | Verb::Event { .. }
            | Verb::Events { .. }
            | Verb::Ephemeral { .. }
            | Verb::Expect(_) => self.expect(on, without, &step.verb).await,
            Verb::Repeat { .. } => unreachable!("repeated steps are played by `play_step`"),
        }
    }

    /// Opens a connection and shakes hands, as a client that can do everything and hears no `data/changed`.
    async fn connect(&mut self, on: &str, params: &Value, answer: &Answer) -> Result<(), Problem> {
        let mut handshake = json!({
            "protocol": {"min": 1, "max": 1},
            "client": {"name": "bot", "version": "1", "instanceId": self.captures.fill_text(&format!("${{unique}}-{on}"))?},
            "capabilities": {"approvals": true, "input": true},
            "optOut": ["data/changed"],
        });
        merge(&mut handshake, self.captures.fill(params)?);
        self.open(on).await?;
        let id = self.request(on, "initialize", Some(&handshake), None).await?;
        self.answered(on, None, id, answer).await
    }

    /// Sends a request; its id.
    pub(super) async fn request(
        &mut self,
        on: &str,
        method: &str,
        params: Option<&Value>,
        id: Option<&Value>,
    ) -> Result<Value, Problem> {
        let id = match id {
            Some(id) => self.captures.fill(id)?,
            None => {
                self.next_id += 1;
                json!(self.next_id - 1)
            }
        };
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        self.fill_params(&mut message, params)?;
        self.send(on, &message).await?;
        Ok(id)
    }

    fn fill_params(&self, message: &mut Value, params: Option<&Value>) -> Result<(), Problem> {
        if let Some(params) = params {
            message["params"] = self.captures.fill(params)?;
        }
        Ok(())
    }

    /// Waits for an answer and holds it against what it has to be.
    async fn answered(&mut self, on: &str, without: Option<&Value>, id: Value, answer: &Answer) -> Result<(), Problem> {
        let taken = self.wait(on, without, &Seeker::answer(id)).await?;
        let pattern = match answer {
            Answer::Result(result) => json!({"result": result, "error": {"$absent": true}}),
            Answer::Error(error) => json!({"error": error, "result": {"$absent": true}}),
        };
        let came = &taken[0];
        matches(&pattern, Some(came), &mut self.captures).map_err(|wrong| mismatch(&pattern, came, &wrong))
    }

    async fn expect(&mut self, on: &str, without: Option<&Value>, verb: &Verb) -> Result<(), Problem> {
        let any = || json!({"$any": true});
        let or_any = |pattern: &Option<Value>| pattern.clone().unwrap_or_else(any);
        let seeker = match verb {
            Verb::Asked { method, params, .. } => {
                Seeker::Messages(vec![json!({"method": method, "id": any(), "params": params})])
            }
            Verb::Told { method, params } => {
                Seeker::Messages(vec![json!({"method": method, "id": {"$absent": true}, "params": params})])
            }
            Verb::Event { event, thread, seq } => Seeker::Event(json!({
                "method": "thread/event", "params": {"threadId": or_any(thread), "seq": or_any(seq), "event": event},
            })),
            Verb::Ephemeral { event, after } => Seeker::Messages(vec![json!({
                "method": "thread/event", "params": {"after": or_any(after), "event": event},
            })]),
            Verb::Events { events, thread, ignoring, .. } => Seeker::Events {
                thread: self.captures.fill(thread)?,
                patterns: events.iter().map(|event| json!({"params": {"event": event}})).collect(),
                ignoring: ignoring.clone(),
            },
            Verb::Expect(patterns) => Seeker::Messages(patterns.clone()),
            _ => unreachable!("other verbs wait for nothing"),
        };
        let taken = self.wait(on, without, &seeker).await?;
        match verb {
            Verb::Asked { name: Some(name), .. } => self.captures.set(name, taken[0].clone()),
            Verb::Events { seq: Some(seq), .. } => {
                let last = taken.last().map(|event| &event["params"]["seq"]);
                matches(seq, last, &mut self.captures)
                    .map_err(|wrong| Problem::said(format!("the number {seq} of the last event"), wrong.came))?;
            }
            _ => {}
        }
        Ok(())
    }

    async fn send_bytes(&mut self, on: &str, parts: &[Part], ends_line: bool) -> Result<(), Problem> {
        let mut bytes = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => bytes.extend(self.captures.fill_text(text)?.into_bytes()),
                Part::Repeated { text, times } => bytes.extend(text.repeat(*times).into_bytes()),
                Part::Octets(octets) => bytes.extend(octets),
            }
        }
        if ends_line {
            bytes.push(b'\n');
        }
        let connection = self.connection(on)?;
        connection.sent(&String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]));
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace)) {
            match serde_json::from_slice::<Value>(line) {
                Ok(message) if line.len() as u64 <= MAX_MESSAGE_BYTES => connection.rules.sends(&message),
                Ok(message) => {
                    connection.rules.sends(&message);
                    connection.rules.sends_unreadable();
                }
                Err(_) => connection.rules.sends_unreadable(),
            }
        }
        self.write(on, &bytes).await
    }

    async fn eventually(
        &mut self,
        on: &str,
        method: &str,
        params: Option<&Value>,
        pattern: &Value,
    ) -> Result<(), Problem> {
        let deadline = Instant::now() + self.patience;
        loop {
            let id = self.request(on, method, params, None).await?;
            let taken = self.wait(on, None, &Seeker::answer(id)).await?;
            match matches(pattern, taken[0].get("result"), &mut self.captures) {
                Ok(()) => return Ok(()),
                Err(wrong) if Instant::now() > deadline => return Err(mismatch(pattern, &taken[0], &wrong)),
                Err(_) => sleep(ASKS_AGAIN).await,
            }
        }
    }

    /// What is done to a connection and waits for nothing.
    fn handle(&mut self, on: &str, verb: &Verb) -> Result<(), Problem> {
        let connection: &mut Connection = self.connection(on)?;
        match verb {
            Verb::Cut => drop(self.connections.remove(on)),
            Verb::Finish => {
                connection.note("# finished sending");
                connection.writer = None;
            }
            Verb::Clear => connection.inbox.clear(),
            pause => {
                connection.is_paused = matches!(pause, Verb::Pause);
                connection.note(if connection.is_paused { "# not read any more" } else { "# read again" });
            }
        }
        Ok(())
    }

    async fn restart(&mut self, how: Restart) -> Result<(), Problem> {
        let process = self.own_process()?;
        let ended = process.end(how).await;
        ended.map_err(|error| Problem::said("a daemon that ends", error.to_string()))?;
        self.start().await
    }

    async fn start(&mut self) -> Result<(), Problem> {
        self.connections.clear();
        let started = self.own_process()?.start_again().await;
        started.map_err(|error| Problem::said("a daemon that starts", error.to_string()))?;
        if let Place::Own(daemon) = &mut self.place {
            daemon.started_anew();
        }
        Ok(())
    }

    async fn exited(&mut self, ending: Ending) -> Result<(), Problem> {
        let ended = self.own_process()?.ended().await;
        let status = ended.map_err(|error| Problem::said("a daemon that ends", error.to_string()))?;
        if status.code() == Some(ending.code) {
            return Ok(());
        }
        Err(Problem::said(format!("an end with exit code {}", ending.code), status.to_string()))
    }

    fn own_process(&mut self) -> Result<&mut super::process::Process, Problem> {
        let process = match &mut self.place {
            Place::Own(daemon) => daemon.process(),
            Place::Shared(_) => None,
        };
        process.ok_or_else(|| Problem::said("`needs` of the vector that lists `restart`", "it does not".to_owned()))
    }

    fn captured(&self, name: &str) -> Result<Value, Problem> {
        let known = self.captures.get(name).cloned();
        known.ok_or_else(|| Problem::said("something that was captured", format!("${name} was not")))
    }
}

/// Members of `more` take the place of those in `base`, objects member by member; null takes one away.
fn merge(base: &mut Value, more: Value) {
    match (base, more) {
        (Value::Object(base), Value::Object(more)) => {
            for (name, member) in more {
                if member.is_null() {
                    base.remove(&name);
                } else {
                    merge(base.entry(name).or_insert(Value::Null), member);
                }
            }
        }
        (base, more) => *base = more,
    }
}

fn mismatch(pattern: &Value, came: &Value, wrong: &Mismatch) -> Problem {
    Problem::said(pattern.to_string(), format!("{wrong}; in {came}"))
}
