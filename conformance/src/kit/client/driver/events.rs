//! Events in the few words the driver language has for them, the same for events of a run and of a thread.

use ropewalk::{
    RunEvent, RunResult,
    protocol::{RunOutcome, ThreadEvent},
};
use serde_json::{Map, Value, json};

/// An event of a run.
pub(super) fn of_run(event: &RunEvent) -> Value {
    let wire = match event {
        RunEvent::Started(run) => json!({"type": "runStarted", "run": run}),
        RunEvent::State(run) => json!({"type": "runState", "run": run}),
        RunEvent::ItemStarted(item) => json!({"type": "itemStarted", "item": item}),
        RunEvent::Text { item_id, offset, text } => {
            json!({"type": "itemDelta", "itemId": item_id, "offset": offset, "text": text})
        }
        RunEvent::Progress { item_id, message, fraction } => {
            json!({"type": "toolProgress", "itemId": item_id, "message": message, "fraction": fraction})
        }
        RunEvent::ItemCompleted(item) => json!({"type": "itemCompleted", "item": item}),
        RunEvent::InteractionOpened(interaction) => json!({"type": "interactionOpened", "interaction": interaction}),
        RunEvent::InteractionSettled { interaction_id, outcome, .. } => {
            json!({"type": "interactionSettled", "interactionId": interaction_id, "outcome": outcome})
        }
        RunEvent::Completed(result) => {
            json!({"type": "runCompleted", "runId": result.run_id, "outcome": result.outcome})
        }
        _ => Value::Null,
    };
    brief(&wire)
}

/// An event of a thread.
pub(super) fn of_thread(event: &ThreadEvent) -> Value {
    let mut brief = brief(&serde_json::to_value(&event.event).unwrap_or_default());
    if let Some(seq) = event.seq {
        brief["seq"] = seq.into();
    }
    brief
}

/// The result of a run.
pub(super) fn of_result(result: &RunResult) -> Value {
    json!({"runId": result.run_id, "result": outcome(&result.outcome)})
}

fn outcome(outcome: &RunOutcome) -> Value {
    let mut brief = Map::new();
    brief.insert("status".to_owned(), json!(outcome.status));
    put(&mut brief, "text", json!(outcome.text));
    put(&mut brief, "structured", json!(outcome.structured));
    put(&mut brief, "errorKind", json!(outcome.error.as_ref().map(|error| &error.kind)));
    put(&mut brief, "stoppedBy", json!(outcome.by.as_ref().and_then(|by| by.client_name.as_ref())));
    Value::Object(brief)
}

/// Type, ids, texts and states of an event of the wire, where it has them.
fn brief(wire: &Value) -> Value {
    let mut brief = Map::new();
    for name in ["type", "itemId", "offset", "text", "message", "fraction", "interactionId", "branchId", "runId"] {
        put(&mut brief, name, wire[name].clone());
    }
    for holder in ["run", "item", "interaction"] {
        for name in ["runId", "itemId", "interactionId", "kind", "state", "text"] {
            put(&mut brief, name, wire[holder][name].clone());
        }
    }
    match &wire["outcome"] {
        Value::Object(outcome) => {
            put(&mut brief, "status", outcome.get("status").cloned().unwrap_or_default());
            put(&mut brief, "text", outcome.get("text").cloned().unwrap_or_default());
        }
        word => put(&mut brief, "outcome", word.clone()),
    }
    Value::Object(brief)
}

fn put(brief: &mut Map<String, Value>, name: &str, value: Value) {
    if !value.is_null() {
        brief.insert(name.to_owned(), value);
    }
}
