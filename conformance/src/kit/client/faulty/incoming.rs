//! What faults do to messages of the daemon.

use ropewalk::protocol::ThreadEvent;
use serde_json::{Value, json};

use super::{Fault, Memory, Passage};

impl Fault {
    /// What becomes of a message on its way to the SDK.
    pub(super) fn incoming(self, mut message: Value, memory: &mut Memory) -> Passage {
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            memory.asked.insert(id.to_string(), method.to_owned());
        }
        if let Some(thread) = message["result"].get("thread").filter(|thread| thread["threadId"].is_string()) {
            let id = thread["threadId"].as_str().unwrap_or_default().to_owned();
            memory.threads.insert(id, thread.clone());
        }
        match self {
            Self::RunsTwice if message["method"] == "tool/call" && message["params"]["attempt"] != 1 => {
                let again = format!("{}-again", message["params"]["interactionId"].as_str().unwrap_or_default());
                message["params"]["interactionId"] = again.into();
            }
            Self::ClosesOnUnknownEvent if message["method"] == "thread/event" && !is_known(&message["params"]) => {
                return Passage { ends: true, ..Passage::default() };
            }
            Self::BlursErrors if message["error"].is_object() => {
                let data = json!({"kind": "internal", "retryable": false, "reference": "blurred"});
                message["error"] = json!({"code": -32603, "message": "Something went wrong.", "data": data});
            }
            _ => {}
        }
        Passage::on(message)
    }
}

/// Whether this build knows the type of an event, and its words.
fn is_known(params: &Value) -> bool {
    serde_json::from_value::<ThreadEvent>(params.clone()).is_ok()
}
