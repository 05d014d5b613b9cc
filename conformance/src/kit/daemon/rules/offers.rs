//! Rule `offer`: the requests of a daemon to its client.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Broken, hold};

/// What one connection was offered.
#[derive(Debug, Default)]
pub(super) struct Offers {
    /// The highest attempt of each interaction.
    attempts: BTreeMap<String, u64>,
    /// Interactions it was told to be settled.
    settled: BTreeSet<String>,
    /// Ids of the daemon's requests.
    ids: BTreeSet<String>,
}

impl Offers {
    /// A request or notification other than an event.
    pub(super) fn came(&mut self, method: &str, message: &Value) -> Result<(), Broken> {
        let params = &message["params"];
        if let Some(id) = message.get("id") {
            hold(self.ids.insert(id.to_string()), "offer", "a request with an id of its own", message)?;
        }
        let Some(interaction) = params["interactionId"].as_str() else { return Ok(()) };
        match method {
            "tool/call" | "approval/request" | "input/request" => {
                let expected = "no offer of what was settled";
                hold(!self.settled.contains(interaction), "offer", expected, message)?;
                let attempt = params["attempt"].as_u64().unwrap_or_default();
                let before = self.attempts.insert(interaction.to_owned(), attempt);
                let expected = "an attempt above the one before, and from 1 on";
                hold(attempt > before.unwrap_or_default(), "offer", expected, message)
            }
            "interaction/settled" => {
                self.settled.insert(interaction.to_owned());
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
