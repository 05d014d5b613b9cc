//! Sessions with servers of all kinds, on a clock that stands still.

mod calls;
mod lists;
pub(crate) mod scripted;
mod supervision;

use std::{sync::Arc, time::Duration};

use ropewalk_protocol::Timestamp;
use serde_json::{Map, Value, json};

use self::scripted::Server;
use super::{How, Launch, Outgoing, Sessions};
use crate::clock::{Clock, ManualClock};

/// Sessions on a clock that stands still.
pub(super) struct World {
    pub clock: ManualClock,
    pub sessions: Arc<Sessions>,
}

impl World {
    pub fn new() -> Self {
        let clock = ManualClock::new(Timestamp::from_millis(1_700_000_000_000));
        let shared: Arc<dyn Clock> = Arc::new(clock.clone());
        Self { clock, sessions: Arc::new(Sessions::new(shared, Arc::new(|_| ()))) }
    }

    pub fn advance(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }
}

/// How a session with a scripted server is begun.
pub(crate) fn launch(key: &str, server: &Server) -> Launch {
    let server = server.clone();
    Launch {
        key: key.to_owned(),
        name: key.to_owned(),
        fingerprint: "1".to_owned(),
        version: Some("2025-11-25".to_owned()),
        start_timeout_ms: 10_000,
        how: How::InProcess(Arc::new(move || server.connect())),
    }
}

/// A call of a tool.
pub(super) fn call(tool: &str) -> Outgoing {
    let arguments = Map::from_iter([("text".to_owned(), json!("hello"))]);
    Outgoing {
        tool: tool.to_owned(),
        arguments,
        call_id: "call-1".to_owned(),
        silence_ms: 5_000,
        ceiling_ms: 1_800_000,
    }
}

/// A tool as servers list it.
pub(crate) fn tool(name: &str) -> Value {
    json!({ "name": name, "description": format!("Does {name}."), "inputSchema": { "type": "object" } })
}

/// A result of one text.
pub(crate) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// Fails instead of waiting for ever.
pub(super) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("this takes no time at all")
}

/// Lets everything that can go on do so until `is_so`.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting)
        .await
        .unwrap_or_else(|_| panic!("it never came that {what}"));
}
