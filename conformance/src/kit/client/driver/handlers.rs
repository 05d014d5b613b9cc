//! What handlers do: the acts of a command, one after another.

use std::{collections::HashSet, sync::Arc};

use ropewalk::{Approval, ApprovalAnswer, InputAnswer, Questions};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{super::commands::Act, Driver, reports::Reports};

/// The gates that are open. One that was opened stays so.
#[derive(Debug)]
pub(super) struct Gates(watch::Sender<HashSet<String>>);

impl Default for Gates {
    fn default() -> Self {
        Self(watch::Sender::new(HashSet::new()))
    }
}

impl Gates {
    /// Opens a gate.
    pub(super) fn open(&self, gate: &str) {
        self.0.send_if_modified(|open| open.insert(gate.to_owned()));
    }

    /// Resolves when a gate is open.
    pub(super) async fn pass(&self, gate: &str) {
        let mut open = self.0.subscribe();
        // The sender lives as long as whoever asks.
        let _ = open.wait_for(|open| open.contains(gate)).await;
    }
}

/// Says that a handler was called, or that it heard its cancellation.
pub(super) fn report(reports: &Reports, what: &str, of: &str, interaction: &str, beside: Value) {
    let mut report = json!({"handler": what, "of": of, "interactionId": interaction});
    if let (Value::Object(report), Value::Object(beside)) = (&mut report, beside) {
        report.extend(beside);
    }
    reports.send(&report);
}

/// The approval handler of these acts.
pub(super) async fn approve(driver: Arc<Driver>, acts: Vec<Act>, approval: Approval) -> Option<ApprovalAnswer> {
    let beside = json!({
        "callId": approval.call_id, "runId": approval.run_id, "threadId": approval.thread_id,
        "tool": approval.tool.name, "arguments": approval.arguments, "summary": approval.summary,
        "choices": approval.choices,
    });
    let id = approval.interaction_id.to_string();
    report(&driver.reports, "called", "approval", &id, beside);
    answer(&driver, &acts, "approval", &id, || approval.cancelled()).await
}

/// The handler for questions of these acts.
pub(super) async fn reply(driver: Arc<Driver>, acts: Vec<Act>, questions: Questions) -> Option<InputAnswer> {
    let beside = json!({
        "callId": questions.call_id, "runId": questions.run_id, "threadId": questions.thread_id,
        "questions": questions.questions,
    });
    let id = questions.interaction_id.to_string();
    report(&driver.reports, "called", "input", &id, beside);
    answer(&driver, &acts, "input", &id, || questions.cancelled()).await
}

/// Goes through the acts of a handler for a person's answers.
async fn answer<A, Fut>(driver: &Driver, acts: &[Act], of: &str, id: &str, cancelled: impl Fn() -> Fut) -> Option<A>
where
    A: DeserializeOwned,
    Fut: Future<Output = ()>,
{
    for act in acts {
        match act {
            Act::Await(gate) => {
                let went_on = tokio::select! {
                    () = cancelled() => false,
                    () = driver.gates.pass(gate) => true,
                };
                if !went_on {
                    report(&driver.reports, "cancelled", of, id, json!({}));
                    return None;
                }
            }
            Act::UntilCancelled => {
                cancelled().await;
                report(&driver.reports, "cancelled", of, id, json!({}));
            }
            Act::Answer(answer) => {
                return Some(serde_json::from_value(answer.clone()).expect("vectors hold answers of the wire"));
            }
            Act::NoAnswer => return None,
            Act::Throw(message) | Act::Crash(message) => panic!("{message}"),
            _ => panic!("{act:?} is nothing that a person's handler does"),
        }
    }
    None
}
