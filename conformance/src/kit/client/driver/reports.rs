//! What a driver says: one JSON object a line, on stdout, at once.

use std::{
    io::{self, Write},
    sync::Mutex,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{sync::watch, time::timeout};

/// How long commands may take to end when their client has been closed.
const TOLD_WITHIN: Duration = Duration::from_secs(10);

/// The way out; lines of different tasks do not mix.
#[derive(Debug)]
pub(super) struct Reports {
    turn: Mutex<()>,
    /// Commands that have not ended yet.
    pending: watch::Sender<usize>,
}

impl Default for Reports {
    fn default() -> Self {
        Self { turn: Mutex::default(), pending: watch::Sender::new(0) }
    }
}

impl Reports {
    /// Says one thing. When nobody listens any more there is nobody to tell.
    pub(super) fn send(&self, report: &Value) {
        let _turn = self.turn.lock();
        let mut out = io::stdout().lock();
        let _ = out.write_all(format!("{report}\n").as_bytes()).and_then(|()| out.flush());
    }

    /// A command has done its work.
    pub(super) fn done(&self, id: &str, what: Value) {
        self.send(&json!({"id": id, "done": what}));
    }

    /// How a command ended.
    pub(super) fn outcome(&self, id: &str, outcome: Result<Value, Value>) {
        match outcome {
            Ok(what) => self.done(id, what),
            Err(failure) => self.send(&json!({"id": id, "failed": failure})),
        }
        self.pending.send_modify(|pending| *pending = pending.saturating_sub(1));
    }

    /// An event of something that a command iterates.
    pub(super) fn event(&self, id: &str, event: Value) {
        self.send(&json!({"id": id, "event": event}));
    }

    /// One more command has begun, which has to end.
    pub(super) fn expect_one_more(&self) {
        self.pending.send_modify(|pending| *pending += 1);
    }

    /// Waits until every command has ended, or long enough.
    pub(super) async fn all_told(&self) {
        let mut pending = self.pending.subscribe();
        // What has not ended by then is missed by the runner, which says so.
        let _ = timeout(TOLD_WITHIN, pending.wait_for(|pending| *pending == 0)).await;
    }
}
