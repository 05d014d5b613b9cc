//! Rule `answer`: each request is answered once, and nothing else is.

use serde_json::Value;

use super::{Broken, Schemas, hold};

/// A request that was sent.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Value,
}

/// What was asked and not answered yet.
#[derive(Debug, Default)]
pub(super) struct Answers {
    open: Vec<Request>,
    /// Messages of which nobody can say what their answer's id will be.
    unreadable: u32,
}

impl Answers {
    pub(super) fn sends(&mut self, message: &Value) {
        let Some(members) = message.as_object() else { return self.sends_unreadable() };
        let is_answer =
            !members.contains_key("method") && (members.contains_key("result") || members.contains_key("error"));
        match (members.get("id"), members.get("method")) {
            (Some(id), Some(Value::String(method))) => {
                let params = members.get("params").cloned().unwrap_or_default();
                self.open.push(Request { id: id.clone(), method: method.clone(), params });
                // A request that is no good may be answered with id null.
                if !(id.is_string() || id.is_i64() || id.is_null()) || message["jsonrpc"] != "2.0" {
                    self.sends_unreadable();
                }
            }
            (None, Some(Value::String(_))) if message["jsonrpc"] == "2.0" => {}
            _ if is_answer => {}
            _ => self.sends_unreadable(),
        }
    }

    pub(super) const fn sends_unreadable(&mut self) {
        self.unreadable += 1;
    }

    /// The requests of this method that are not answered yet.
    pub(super) fn open(&self, method: &str) -> impl Iterator<Item = &Request> {
        self.open.iter().filter(move |request| request.method == method)
    }

    /// An answer that came: the request it is for, where that is known.
    pub(super) fn came(&mut self, answer: &Value, schemas: &Schemas) -> Result<Option<Request>, Broken> {
        let has = |name| answer.get(name).is_some();
        hold(has("result") != has("error"), "answer", "a `result` or an `error`", answer)?;
        hold(has("id"), "answer", "an answer with an `id`", answer)?;
        if let Some(error) = answer.get("error") {
            is_error(error, schemas)?;
        }
        let at = self.open.iter().position(|request| request.id == answer["id"]);
        match at {
            Some(at) => Ok(Some(self.open.remove(at))),
            // Told to a connection too many, before it has asked for anything.
            None if answer["id"].is_null() && answer["error"]["data"]["kind"] == "overloaded" => Ok(None),
            None => {
                let expected = "an answer to what was asked and is not answered yet";
                hold(self.unreadable > 0, "answer", expected, answer)?;
                self.unreadable -= 1;
                Ok(None)
            }
        }
    }
}

fn is_error(error: &Value, schemas: &Schemas) -> Result<(), Broken> {
    let data = &error["data"];
    let has_shape = error["code"].is_i64() && error["message"].is_string() && data["retryable"].is_boolean();
    hold(has_shape, "answer", "an error with code, message, data.kind and data.retryable", error)?;
    let code = data["kind"].as_str().and_then(|kind| schemas.code(kind));
    let expected = "an error whose `data.kind` is one of the list and has its own code";
    hold(code.is_some_and(|code| error["code"] == code), "answer", expected, error)?;
    schemas.error(error)
}
