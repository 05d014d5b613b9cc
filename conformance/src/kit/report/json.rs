//! The report as JSON, in a shape that programs may rely on.

use serde_json::{Map, Value, json};

use super::{Counts, Failure, Outcome, Report, VectorResult};

/// The version of the report's shape; a field may be added to it, none goes or changes its meaning.
pub const FORMAT: u32 = 1;

impl Report {
    /// `{format, subject, interrupted, durationMs, counts, vectors}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "format": FORMAT,
            "subject": self.subject,
            "interrupted": self.is_interrupted,
            "durationMs": millis(self.took),
            "counts": self.counts().to_json(),
            "vectors": self.results.iter().map(VectorResult::to_json).collect::<Vec<_>>(),
        })
    }
}

impl VectorResult {
    /// `{name, topic, why, outcome, durationMs, reason?, failure?}`.
    fn to_json(&self) -> Value {
        let mut written = Map::new();
        written.insert("name".to_owned(), json!(self.name));
        written.insert("topic".to_owned(), json!(self.topic));
        written.insert("why".to_owned(), json!(self.why));
        written.insert("outcome".to_owned(), json!(self.outcome.word()));
        written.insert("durationMs".to_owned(), millis(self.took));
        let (reason, failure) = match &self.outcome {
            Outcome::Passed => (None, None),
            Outcome::Failed { failure } => (None, Some(failure)),
            Outcome::Known { reason, failure } => (Some(reason), Some(failure)),
            Outcome::PassedThoughKnown { reason } | Outcome::NotRun { reason } => (Some(reason), None),
        };
        written.extend(reason.map(|reason| ("reason".to_owned(), json!(reason))));
        written.extend(failure.map(|failure| ("failure".to_owned(), failure.to_json())));
        Value::Object(written)
    }
}

impl Failure {
    /// `{step, doing, expected, came, rule?, transcripts: [{connection, lines}]}`.
    fn to_json(&self) -> Value {
        let transcripts = self.transcripts.iter();
        let transcripts = transcripts.map(|said| json!({"connection": said.connection, "lines": said.lines}));
        let mut written = json!({
            "step": self.step, "doing": self.doing, "expected": self.expected, "came": self.came,
            "transcripts": transcripts.collect::<Vec<_>>(),
        });
        if let Some(rule) = &self.rule {
            written["rule"] = json!(rule);
        }
        written
    }
}

impl Counts {
    fn to_json(self) -> Value {
        json!({
            "passed": self.passed, "failed": self.failed, "known": self.known,
            "passedThoughKnown": self.passed_though_known, "notRun": self.not_run,
        })
    }
}

fn millis(took: std::time::Duration) -> Value {
    json!(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
}
