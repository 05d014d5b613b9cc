//! What holds on every connection at every moment, whatever a vector is about.
//!
//! | Rule | Says |
//! |---|---|
//! | `line` | each line is one JSON-RPC 2.0 message or batch, in UTF-8, at most `maxMessageBytes` long |
//! | `answer` | each request is answered once, by a result or by an error whose kind has its code; nothing else is answered |
//! | `schema` | parameters and results are what `protocol/schema.json` says |
//! | `seq` | durable events of a thread come in order, without gap or repeat, from where a client subscribed |
//! | `delta` | the text of an open item comes without gap or repeat |
//! | `submitFirst` | the answer to a submit comes before the events of its run |
//! | `closing` | an interaction is settled once, before its item is completed, before its run is completed |
//! | `offer` | an interaction is offered again with a higher attempt, and never after it was settled |

mod answers;
mod events;
mod offers;
mod schema;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use ropewalk_protocol::limits::{MAX_BATCH, MAX_MESSAGE_BYTES};
pub(in crate::kit) use schema::Schemas;
use serde_json::Value;

use self::{answers::Answers, events::Events, offers::Offers};

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    /// Its name, as in the table above.
    pub(super) rule: &'static str,
    /// What should have been.
    pub(super) expected: String,
    /// What was instead.
    pub(super) came: String,
}

/// The rules over one connection.
pub(super) struct Rules {
    schemas: Arc<Schemas>,
    answers: Answers,
    events: Events,
    offers: Offers,
    is_greeted: bool,
}

impl Broken {
    pub(super) fn new(rule: &'static str, expected: impl Into<String>, came: impl Into<String>) -> Self {
        Self { rule, expected: expected.into(), came: came.into() }
    }
}

/// Refuses with what should have been, unless it is so.
fn hold(is_so: bool, rule: &'static str, expected: &str, came: &Value) -> Result<(), Broken> {
    if is_so { Ok(()) } else { Err(Broken::new(rule, expected, came.to_string())) }
}

impl Rules {
    pub(super) fn new(schemas: Arc<Schemas>) -> Self {
        Self {
            schemas,
            answers: Answers::default(),
            events: Events::default(),
            offers: Offers::default(),
            is_greeted: false,
        }
    }

    /// Whether the handshake was answered with a result.
    pub(super) const fn is_greeted(&self) -> bool {
        self.is_greeted
    }

    /// A message is about to be sent.
    pub(super) fn sends(&mut self, message: &Value) {
        match message.as_array() {
            Some(batch) => {
                batch.iter().for_each(|member| self.answers.sends(member));
                // Such a batch is answered as a whole, under no id.
                if batch.is_empty() || batch.len() as u64 > MAX_BATCH {
                    self.answers.sends_unreadable();
                }
            }
            None => self.answers.sends(message),
        }
    }

    /// Something is about to be sent of which nobody can say what its answer's id will be.
    pub(super) const fn sends_unreadable(&mut self) {
        self.answers.sends_unreadable();
    }

    /// A line that came, as a message.
    #[expect(clippy::unused_self, reason = "all rules are asked the same way")]
    pub(super) fn read(&self, line: &[u8]) -> Result<Value, Broken> {
        let shown = || String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        if line.len() as u64 > MAX_MESSAGE_BYTES {
            let expected = format!("a line of at most {MAX_MESSAGE_BYTES} bytes");
            return Err(Broken::new("line", expected, format!("{} bytes, which begin with {}", line.len(), shown())));
        }
        let message = serde_json::from_slice(line);
        let message: Value = message.map_err(|error| Broken::new("line", "JSON", format!("{error}: {}", shown())))?;
        let members = message.as_array().map_or_else(|| std::slice::from_ref(&message), Vec::as_slice);
        let is_message = |member: &Value| member["jsonrpc"] == "2.0";
        let holds = !members.is_empty() && members.iter().all(is_message);
        hold(holds, "line", "an object with \"jsonrpc\":\"2.0\", or a list of such", &message)?;
        Ok(message)
    }

    /// A message that came.
    pub(super) fn came(&mut self, message: &Value) -> Result<(), Broken> {
        match message.as_array() {
            Some(batch) => batch.iter().try_for_each(|member| self.came_alone(member)),
            None => self.came_alone(message),
        }
    }

    fn came_alone(&mut self, message: &Value) -> Result<(), Broken> {
        let Some(method) = message["method"].as_str() else {
            let answered = self.answers.came(message, &self.schemas)?;
            if let Some(request) = &answered {
                self.is_greeted |= request.method == "initialize" && message.get("result").is_some();
                self.schemas.result(&request.method, message)?;
                self.events.answered(request, message)?;
            }
            return Ok(());
        };
        self.schemas.params(method, message)?;
        let params = &message["params"];
        match method {
            "thread/event" => self.events.came(params, &self.answers),
            _ => self.offers.came(method, message),
        }
    }
}
