//! What was settled before: whether an answer is the same, and what whoever comes too late is told.

use ropewalk_protocol::{
    By, ByKind, ClientRef, ErrorDetail, Event, InteractionAnswered, InteractionId, InteractionKind,
    InteractionSettledParams, RpcError,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::not_waiting;
use crate::{
    domain::Fact,
    engine::{Shared, ThreadHandle, history, lookup},
    store::Record,
    tools::{answers, digest::digest},
};

/// The interaction was settled earlier: its settlement is read from the log.
pub async fn settled_before(
    thread: &ThreadHandle,
    client: &ClientRef,
    id: &InteractionId,
    given: &Value,
) -> Result<InteractionAnswered, RpcError> {
    let Settlement { kind, settled, digest: counted } = read_settlement(thread.shared(), id).await?;
    let is_counted = match kind {
        InteractionKind::ToolCall => {
            is_by(client, &settled.by) && counted.is_some_and(|counted| counted == digest(given))
        }
        _ => is_same(kind, client, given, &settled.by, settled.answer.as_ref()),
    };
    if is_counted {
        return Ok(InteractionAnswered { interaction_id: id.clone(), outcome: settled.outcome, replayed: true });
    }
    Err(already_settled(kind, &settled))
}

/// How an interaction ended, as its record has it.
struct Settlement {
    kind: InteractionKind,
    settled: InteractionSettledParams,
    /// Stands for the result of a tool, which the event does not have.
    digest: Option<String>,
}

async fn read_settlement(shared: &Shared, id: &InteractionId) -> Result<Settlement, RpcError> {
    let home = lookup::interaction_home(shared, id)?;
    let seq = home.settled_in.ok_or_else(|| not_waiting(id))?;
    // Records without events have the number of the one after them: an offer made again may stand before it.
    for record in history::records(shared, &home.thread_id, seq).await?.iter().take_while(|record| record.n <= seq) {
        for event in &record.events {
            if let Ok(Event::InteractionSettled { interaction_id, outcome, by, answer }) =
                serde_json::from_str(event.get())
                && interaction_id == *id
            {
                let kind = kind_of(answer.as_ref());
                let settled = InteractionSettledParams { interaction_id, outcome, by, at: record.at, answer };
                return Ok(Settlement { kind, settled, digest: given(record, id) });
            }
        }
    }
    Err(RpcError::not_found("interaction", id))
}

/// What stands for the result that settled a tool call.
fn given(record: &Record, id: &InteractionId) -> Option<String> {
    let facts = record.facts.iter().filter(|fact| fact.get().starts_with("{\"fact\":\"given\""));
    facts.filter_map(|fact| serde_json::from_str(fact.get()).ok()).find_map(|fact| match fact {
        Fact::Given { interaction_id, digest } if interaction_id == *id => Some(digest),
        _ => None,
    })
}

/// Whether an answer is the one that counted, from the same client.
pub fn is_same(kind: InteractionKind, client: &ClientRef, given: &Value, by: &By, counted: Option<&Value>) -> bool {
    is_by(client, by) && counted.is_some_and(|counted| are_same(kind, given, counted))
}

fn is_by(client: &ClientRef, by: &By) -> bool {
    by.instance_id.as_ref() == Some(&client.instance_id)
}

/// Two answers are the same when decision and scope, the selections and texts, or the result are equal (ruling 4).
fn are_same(kind: InteractionKind, one: &Value, other: &Value) -> bool {
    match kind {
        InteractionKind::Approval => both(one, other, answers::same_approval),
        InteractionKind::Input => both(one, other, answers::same_input),
        InteractionKind::ToolCall => one == other,
    }
}

fn both<T: DeserializeOwned>(one: &Value, other: &Value, same: impl Fn(&T, &T) -> bool) -> bool {
    let read = |value: &Value| serde_json::from_value::<T>(value.clone()).ok();
    read(one).zip(read(other)).is_some_and(|(one, other)| same(&one, &other))
}

/// What kind of interaction an answer in the log belongs to; those of tool calls are not in it.
fn kind_of(answer: Option<&Value>) -> InteractionKind {
    match answer {
        Some(answer) if answer.get("decision").is_some() => InteractionKind::Approval,
        Some(_) => InteractionKind::Input,
        None => InteractionKind::ToolCall,
    }
}

/// The refusal of an answer that came after another one.
pub fn already_settled(kind: InteractionKind, settled: &InteractionSettledParams) -> RpcError {
    let who = settled.by.client_name.clone().unwrap_or_else(|| match settled.by.kind {
        ByKind::Policy => "A rule".to_owned(),
        ByKind::Deadline => "A deadline".to_owned(),
        ByKind::Stop => "A stop of the run".to_owned(),
        ByKind::Client | ByKind::Daemon => "The daemon".to_owned(),
    });
    let noun = match kind {
        InteractionKind::Approval => "approval",
        InteractionKind::Input => "question",
        InteractionKind::ToolCall => "tool call",
    };
    let message = format!("{who} settled this {noun} first, at {}.", settled.at);
    let detail = ErrorDetail::AlreadySettled {
        interaction_id: settled.interaction_id.clone(),
        by: settled.by.clone(),
        at: settled.at,
        outcome: settled.outcome,
        answer: settled.answer.clone().filter(|_| kind != InteractionKind::ToolCall),
    };
    RpcError::new(detail, message)
}
