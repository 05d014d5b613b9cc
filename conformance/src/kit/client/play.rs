//! Plays a vector: goes through its steps on a stage.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{
    super::{matching::Captures, report::Failure},
    stage::{AT, Setting, Stage, miss},
    vector::{EventStep, Numbered, Reply, Step, Then, Vector},
};

/// Plays a vector against a driver of its own.
///
/// # Errors
/// Where it does not hold, and what was said until then.
pub(super) async fn play(vector: &Vector, values: &Map<String, Value>, setting: &Setting) -> Result<(), Failure> {
    let mut stage = match Stage::set(setting, &vector.manual).await {
        Ok(stage) => stage,
        Err(error) => return Err(miss("the driver starts", &format!("{}: {error}", setting.command.join(" ")))),
    };
    let mut captures = Captures::new();
    for (name, value) in values {
        captures.set(name.clone(), value.clone());
    }
    let mut player = Player { stage: &mut stage, captures, kept: HashMap::new() };
    let played = player.all(&vector.steps).await;
    let transcripts = stage.clear().await;
    played.map_err(|failure| Failure { transcripts, ..failure })
}

struct Player<'a> {
    stage: &'a mut Stage,
    captures: Captures,
    /// Ids of requests that are answered later, by the names the vector has for them.
    kept: HashMap<String, Value>,
}

impl Player<'_> {
    async fn all(&mut self, steps: &[Numbered]) -> Result<(), Failure> {
        for Numbered { number, step } in steps {
            let played = self.step(step).await;
            played.map_err(|failure| Failure { step: number.clone(), doing: step.words(), ..failure })?;
        }
        let finished = self.stage.finish().await;
        finished.map_err(|failure| Failure {
            doing: "the end: the driver closes its client and ends".to_owned(),
            ..failure
        })
    }

    async fn step(&mut self, step: &Step) -> Result<(), Failure> {
        match step {
            Step::Tell(command) => {
                let mut command = self.fill(command)?;
                if command["cmd"] == "connect" && command.get("socket").is_none() {
                    command["socket"] = self.stage.socket().into();
                }
                self.stage.tell(&command).await
            }
            Step::Hear { pattern, any_order } => self.stage.hear(pattern, *any_order, &mut self.captures).await,
            Step::Accept => self.stage.accept().await,
            Step::Expect { pattern, then, any_order } => self.expect(pattern, then, *any_order).await,
            Step::Answer { name, reply } => {
                let id = self.kept.remove(name).ok_or_else(|| miss("a request kept under a name", name))?;
                self.reply(&id, reply).await
            }
            Step::Send(message) => {
                let message = self.message(message)?;
                self.stage.send(&message).await
            }
            Step::Pieces { message, bytes } => self.pieces(message, *bytes).await,
            Step::Raw(text) => {
                let text = self.fill(text)?;
                let text = text.as_str().ok_or_else(|| miss("a text to send", &text.to_string()))?.to_owned();
                self.stage.write(text.as_bytes()).await
            }
            Step::Half(message) => {
                let line = self.message(message)?.to_string();
                self.stage.write(&line.as_bytes()[..line.len() / 2]).await?;
                self.stage.cut().await
            }
            Step::Event(event) => {
                let params = self.event(event)?;
                self.stage.send(&json!({"jsonrpc": "2.0", "method": "thread/event", "params": params})).await
            }
            Step::Log(event) => {
                let params = self.event(event)?;
                self.stage.memory.log(&params);
                Ok(())
            }
            Step::Lines(messages) => {
                for message in self.fill(messages)?.as_array().into_iter().flatten() {
                    let message = self.message(message)?;
                    self.stage.send(&message).await?;
                }
                Ok(())
            }
            Step::Settle(interaction) => {
                self.stage.memory.settle(interaction);
                Ok(())
            }
            Step::Cut => self.stage.cut().await,
            Step::Listen(yes) => self.stage.listen(*yes).await.map_err(|error| miss("a socket", &error.to_string())),
            Step::Read(yes) => self.stage.read(*yes),
            Step::Closed => self.stage.closed().await,
            Step::Exits => self.stage.exits().await,
            Step::Text { text, of, item } => {
                let text = self.fill(text)?;
                self.stage.text(text.as_str().unwrap_or_default(), of, item).await
            }
            Step::Count { count, of, kind } => self.stage.count(*count, of, kind).await,
            Step::Set(values) => self.set(values),
            Step::Fence => self.stage.fence().await,
            Step::Never(pattern) => self.stage.never(pattern, &self.captures),
        }
    }

    async fn expect(&mut self, pattern: &Value, then: &Then, any_order: bool) -> Result<(), Failure> {
        let message = self.stage.expect(pattern, any_order, &mut self.captures).await?;
        let id = message.get("id").cloned().unwrap_or_default();
        match then {
            Then::Nothing => Ok(()),
            Then::Keep(name) => {
                self.kept.insert(name.clone(), id);
                Ok(())
            }
            Then::Reply(reply) => self.reply(&id, reply).await,
        }
    }

    async fn reply(&mut self, id: &Value, reply: &Reply) -> Result<(), Failure> {
        let message = match reply {
            Reply::Result(result) => json!({"jsonrpc": "2.0", "id": id, "result": self.fill(result)?}),
            Reply::Error(error) => json!({"jsonrpc": "2.0", "id": id, "error": self.fill(error)?}),
        };
        self.stage.send(&message).await
    }

    async fn pieces(&mut self, message: &Value, bytes: usize) -> Result<(), Failure> {
        let message = self.message(message)?;
        self.stage.memory.sent(&message);
        let line = format!("{message}\n");
        for piece in line.as_bytes().chunks(bytes) {
            self.stage.write(piece).await?;
            // The client's process needs a turn to read this piece alone; that it has one cannot be seen from here.
            tokio::time::sleep(PIECE_PAUSE).await;
        }
        Ok(())
    }

    /// A message of a vector, which leaves out what is the same in all.
    fn message(&self, template: &Value) -> Result<Value, Failure> {
        let mut message = self.fill(template)?;
        if let Some(members) = message.as_object_mut() {
            members.insert("jsonrpc".to_owned(), "2.0".into());
        }
        Ok(message)
    }

    fn event(&self, step: &EventStep) -> Result<Value, Failure> {
        let thread = self.fill(&Value::from(step.thread.as_str()))?;
        let mut params = json!({"threadId": thread, "at": AT, "event": self.fill(&step.event)?});
        for (name, place) in [("seq", &step.seq), ("after", &step.after)] {
            if let Some(place) = place {
                params[name] = self.fill(place)?;
            }
        }
        Ok(params)
    }

    fn set(&mut self, values: &Map<String, Value>) -> Result<(), Failure> {
        let filled = values.iter().map(|(name, value)| Ok((name.clone(), self.fill(value)?)));
        for (name, value) in filled.collect::<Result<Vec<_>, Failure>>()? {
            self.captures.set(name, value);
        }
        Ok(())
    }

    fn fill(&self, template: &Value) -> Result<Value, Failure> {
        self.captures.fill(template).map_err(|problem| miss("a vector that can be played", &problem.to_string()))
    }
}

/// Between two pieces of a line.
const PIECE_PAUSE: std::time::Duration = std::time::Duration::from_millis(2);
