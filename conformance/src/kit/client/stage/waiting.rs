//! Waiting for the client and its driver, always with a deadline.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::{
    super::super::{matching::Captures, report::Failure},
    Stage,
    inbox::{Found, miss},
};

impl Stage {
    /// Waits for a report of the driver.
    pub(in super::super) async fn hear(
        &mut self,
        pattern: &Value,
        any_order: bool,
        captures: &mut Captures,
    ) -> Result<(), Failure> {
        let until = self.until();
        loop {
            match self.reports.find(pattern, any_order, captures) {
                Found::Yes(_) => return Ok(()),
                Found::Other(failure) => return Err(failure),
                Found::NotYet if self.reports.has_ended => {
                    return Err(miss(&pattern.to_string(), "the driver has ended"));
                }
                Found::NotYet => {}
            }
            if !self.turn(until).await? {
                return Err(self.late(&pattern.to_string(), &self.reports.all()));
            }
        }
    }

    /// Waits for a connection.
    pub(in super::super) async fn accept(&mut self) -> Result<(), Failure> {
        let until = self.until();
        while self.unaccepted == 0 {
            if self.reports.has_ended {
                return Err(miss("a connection", "the driver has ended"));
            }
            if !self.turn(until).await? {
                return Err(self.late("a connection", "nobody connected"));
            }
        }
        self.unaccepted -= 1;
        Ok(())
    }

    /// Waits for a message of the client.
    pub(in super::super) async fn expect(
        &mut self,
        pattern: &Value,
        any_order: bool,
        captures: &mut Captures,
    ) -> Result<Value, Failure> {
        let until = self.until();
        loop {
            let on = self.connections.len() - self.unaccepted;
            match self.messages.find(on, pattern, any_order, captures) {
                Found::Yes(message) => return Ok(message),
                Found::Other(failure) => return Err(failure),
                Found::NotYet if self.is_over() => {
                    return Err(miss(&pattern.to_string(), "the connection has ended"));
                }
                Found::NotYet => {}
            }
            if !self.turn(until).await? {
                return Err(self.late(&pattern.to_string(), &self.messages.all()));
            }
        }
    }

    /// Waits until the client has closed the connection.
    pub(in super::super) async fn closed(&mut self) -> Result<(), Failure> {
        let until = self.until();
        while !self.is_over() {
            if !self.turn(until).await? {
                return Err(self.late("the client closes the connection", "it is open"));
            }
        }
        Ok(())
    }

    /// Waits until everything that was sent before has been read: a request that nobody knows is refused.
    pub(in super::super) async fn fence(&mut self) -> Result<(), Failure> {
        self.fences += 1;
        let id = format!("fence-{}", self.fences);
        self.messages.fence(&id);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "test/fence", "params": {}})).await?;
        let until = self.until();
        while !self.messages.has_passed(&id) {
            if self.is_over() {
                return Err(miss("the refusal of a request that no client knows", "the connection has ended"));
            }
            if !self.turn(until).await? {
                return Err(self.late("the refusal of a request that no client knows", &self.messages.all()));
            }
        }
        Ok(())
    }

    /// Takes deltas until they make this text.
    pub(in super::super) async fn text(&mut self, whole: &str, of: &str, item: &str) -> Result<(), Failure> {
        let (until, mut text) = (self.until(), String::new());
        while text != whole {
            if let Some(report) = self.reports.event(of, "itemDelta") {
                let (offset, more) = (&report["event"]["offset"], report["event"]["text"].as_str().unwrap_or_default());
                if *offset != text.len() || report["event"]["itemId"] != item {
                    return Err(miss(&format!("a delta of {item} at offset {}", text.len()), &report.to_string()));
                }
                text.push_str(more);
                if !whole.starts_with(&text) {
                    return Err(miss(&format!("text that begins {whole:?}"), &format!("{text:?}")));
                }
            } else if self.reports.has_ended || !self.turn(until).await? {
                return Err(
                    self.late(&format!("the text {whole:?}"), &format!("{text:?}, then {}", self.reports.all()))
                );
            }
        }
        Ok(())
    }

    /// Takes so many events of a type, one behind the other.
    pub(in super::super) async fn count(&mut self, count: u64, of: &str, kind: &str) -> Result<(), Failure> {
        let until = self.until();
        for came in 0..count {
            while self.reports.event(of, kind).is_none() {
                if self.reports.has_ended || !self.turn(until).await? {
                    let instead = format!("{came}, then {}", self.reports.all());
                    return Err(self.late(&format!("{count} events {kind}"), &instead));
                }
            }
        }
        Ok(())
    }

    /// Waits until the driver has ended, and looks how.
    pub(in super::super) async fn exits(&mut self) -> Result<(), Failure> {
        let until = self.until();
        loop {
            let status = self.driver.status().map_err(|error| miss("the driver's status", &error.to_string()))?;
            if let (Some(status), true) = (status, self.reports.has_ended) {
                let ended = if status.success() { Ok(()) } else { Err(miss("exit status 0", &status.to_string())) };
                return ended;
            }
            if Instant::now() >= until {
                return Err(self.late("the driver ends by itself", "it is running"));
            }
            // Both the process and its last words are waited for, whichever comes first.
            if status.is_none() && self.reports.has_ended {
                let _ = timeout_at(until, self.driver.wait()).await;
            } else {
                self.turn(until).await?;
            }
        }
    }

    /// The end of a vector: the driver is told nothing more, closes its client and ends; nothing was left unexpected.
    pub(in super::super) async fn finish(&mut self) -> Result<(), Failure> {
        self.reports.is_over = true;
        self.driver.hang_up();
        self.exits().await?;
        if self.unaccepted > 0 {
            return Err(miss("no further connection", &format!("{} that no step accepted", self.unaccepted)));
        }
        if let Some(message) = self.messages.left() {
            return Err(miss("no message that no step expects", &message.to_string()));
        }
        match self.reports.left() {
            Some(report) => Err(miss("no call and no ending that no step hears", &report.to_string())),
            None => Ok(()),
        }
    }

    /// Whether something like this has come that no step expected.
    pub(in super::super) fn never(&self, pattern: &Value, captures: &Captures) -> Result<(), Failure> {
        let came = self.messages.has(pattern, captures).or_else(|| self.reports.has(pattern, captures));
        came.map_or(Ok(()), |came| Err(miss(&format!("nothing like {pattern}"), &came.to_string())))
    }

    fn late(&self, expected: &str, instead: &str) -> Failure {
        let within = Duration::as_secs_f64(&self.patience);
        miss(expected, &format!("nothing like it within {within} s; what no step has expected yet: {instead}"))
    }
}
