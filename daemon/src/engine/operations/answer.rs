//! Answering interactions: the first valid answer counts, and everybody is told precisely.

use std::sync::Arc;

use ropewalk_protocol::{
    By, ByKind, ClientRef, ErrorDetail, Event, InteractionAnswered, InteractionBody, InteractionId,
    InteractionInvalidAnswerParams, InteractionKind, InteractionSettledParams, Outcome, RpcError, Timestamp,
    ToolProgressParams, limits::MAX_DEPTH,
};
use serde_json::{Value, value::RawValue};
use tokio::sync::oneshot;

use super::{
    offer::offer_again,
    settled::{already_settled, is_same, settled_before},
};
use crate::{
    catalogue::Operation,
    engine::{
        AttachedClient, ThreadHandle, Turn,
        live::{Acknowledge, Acknowledged, Claim},
    },
    tools::{
        answers::{self, InvalidAnswer},
        json,
    },
};

/// Answers of one connection that may be refused before it counts as "not I".
const REFUSALS: u8 = 3;
/// Characters of a sign of life's message.
const PROGRESS_CHARACTERS: usize = 500;

/// An answer, and how it came.
pub enum Answering {
    /// As the JSON-RPC response to the request of an offer.
    Response(Result<Box<RawValue>, RpcError>),
    /// By `interaction/settle`.
    Settle(Value),
}

impl ThreadHandle {
    /// A client has answered the request of an offer.
    pub async fn answered(
        &self,
        client: Arc<dyn AttachedClient>,
        interaction_id: InteractionId,
        response: Result<Box<RawValue>, RpcError>,
    ) {
        self.post(move |turn| take_response(turn, &client, &interaction_id, response)).await;
    }

    /// A client answers by `interaction/settle`. Resolves when the settlement is durable.
    ///
    /// # Errors
    /// `alreadySettled`, `invalidParams` with the path in the answer, `forbidden {reason: not_offered}`, `notFound`.
    pub async fn settle(
        &self,
        client: ClientRef,
        interaction_id: InteractionId,
        answer: Value,
        operation: Option<Operation>,
    ) -> Result<InteractionAnswered, RpcError> {
        let (reply, settled) = oneshot::channel();
        let (id, by, given, by_operation) = (interaction_id.clone(), client.clone(), answer.clone(), operation.clone());
        let is_open = self
            .turn(move |turn| {
                // What shares a record with its settlement is still waited for, and comes too late all the same.
                if !turn.state().interactions.contains_key(&id) {
                    return Ok(false);
                }
                if !turn.live.waits.contains_key(&id) {
                    return Ok(true);
                }
                let kind = turn.live.waits.get(&id).map(|wait| wait.body.kind());
                if kind == Some(InteractionKind::ToolCall) && !was_offered(turn, &id, &by) {
                    return Err(not_offered());
                }
                let checked = check(turn, &id, &given).map_err(|problem| refused_answer(&problem))?;
                let claim = claim_of(&checked, &by, turn.at());
                let already = turn.live.waits.get(&id).is_some_and(|wait| wait.claim.is_some());
                turn.claim(&id, claim);
                if let Some(wait) = turn.live.waits.get_mut(&id) {
                    wait.acknowledge.push(Acknowledge {
                        is_first: !already,
                        client: by,
                        answer: checked.answer,
                        operation: by_operation,
                        reply,
                    });
                }
                Ok(true)
            })
            .await?;
        if !is_open {
            let answer = settled_before(self, &client, &interaction_id, &answer).await?;
            remember(self, operation, &answer).await?;
            return Ok(answer);
        }
        let Acknowledged { outcome, replayed, operation } =
            settled.await.map_err(|_| not_waiting(&interaction_id))??;
        let answer = InteractionAnswered { interaction_id, outcome, replayed };
        remember(self, operation, &answer).await?;
        Ok(answer)
    }

    /// A tool's handler shows life.
    pub async fn progress(&self, client: ClientRef, params: ToolProgressParams) {
        self.post(move |turn| {
            let id = params.interaction_id;
            if !was_offered(turn, &id, &client) {
                return;
            }
            let at = turn.at();
            let Some(wait) = turn.live.waits.get(&id) else { return };
            wait.life.send_replace(at);
            let (run_id, call_id) = (
                wait.run_id.clone(),
                match &wait.body {
                    InteractionBody::ToolCall(request) => request.call_id.clone(),
                    _ => return,
                },
            );
            let Some(call) = turn.state().call(&run_id, &call_id) else { return };
            let item_id = call.call.item_id.clone();
            turn.progress(Event::ToolProgress {
                item_id,
                interaction_id: Some(id),
                message: params.message.map(|text| text.chars().take(PROGRESS_CHARACTERS).collect()),
                fraction: params.fraction.filter(|fraction| fraction.is_finite()).map(|f| f.clamp(0.0, 1.0)),
            });
        })
        .await;
    }
}

/// An answer that has been checked.
struct Checked {
    answer: Value,
    is_refusal: bool,
}

fn take_response(
    turn: &mut Turn<'_>,
    client: &Arc<dyn AttachedClient>,
    id: &InteractionId,
    response: Result<Box<RawValue>, RpcError>,
) {
    let Some(wait) = turn.live.waits.get(id) else { return };
    if wait.claim.is_some() {
        return;
    }
    let kind = wait.body.kind();
    let by = client.client_ref().clone();
    match response {
        Err(error) if kind == InteractionKind::ToolCall => {
            turn.claim(
                id,
                Claim {
                    outcome: Outcome::Answered,
                    by: by_client(&by),
                    at: turn.at(),
                    answer: None,
                    error: Some(Box::new(error)),
                },
            );
        }
        Err(_) => not_i(turn, client, id),
        Ok(result) => {
            // What cannot be kept as it came (ruling 19) is no answer; the check that follows says so.
            let value = json::parse(result.get(), MAX_DEPTH as usize).unwrap_or(Value::Null);
            match check(turn, id, &value) {
                Ok(checked) => {
                    let claim = claim_of(&checked, &by, turn.at());
                    turn.claim(id, claim);
                }
                Err(problem) => refuse(turn, client, id, problem),
            }
        }
    }
}

/// A refused answer leaves the interaction open: the client is told why and asked again, three times at most.
fn refuse(turn: &mut Turn<'_>, client: &Arc<dyn AttachedClient>, id: &InteractionId, problem: InvalidAnswer) {
    client.invalid_answer(&InteractionInvalidAnswerParams {
        interaction_id: id.clone(),
        path: problem.path,
        reason: problem.reason.word(),
    });
    let Some(wait) = turn.live.waits.get_mut(id) else { return };
    let offered = wait.offered.entry(client.connection()).or_default();
    offered.refused += 1;
    if offered.refused > REFUSALS {
        not_i(turn, client, id);
        return;
    }
    offer_again(turn, id, client);
}

fn not_i(turn: &mut Turn<'_>, client: &Arc<dyn AttachedClient>, id: &InteractionId) {
    if let Some(wait) = turn.live.waits.get_mut(id) {
        wait.offered.entry(client.connection()).or_default().not_i = true;
    }
    turn.live.look_again();
}

fn check(turn: &Turn<'_>, id: &InteractionId, answer: &Value) -> Result<Checked, InvalidAnswer> {
    let wait = turn.live.waits.get(id);
    let Some(wait) = wait else {
        return Ok(Checked { answer: answer.clone(), is_refusal: false });
    };
    match &wait.body {
        // What breaks a rule of results settles the call all the same; the path looks at it (ruling 5).
        InteractionBody::ToolCall(_) => Ok(Checked { answer: answer.clone(), is_refusal: false }),
        InteractionBody::Approval(request) => {
            let approval = answers::check_approval(answer, &request.choices)?;
            let is_refusal = answers::approval_outcome(&approval) == Outcome::Declined;
            let answer = serde_json::to_value(&approval).unwrap_or(Value::Null);
            Ok(Checked { answer, is_refusal })
        }
        InteractionBody::Input(request) => {
            let input = answers::check_input(answer, &request.questions)?;
            let is_refusal = answers::input_outcome(&input) == Outcome::Declined;
            let answer = serde_json::to_value(&input).unwrap_or(Value::Null);
            Ok(Checked { answer, is_refusal })
        }
    }
}

fn claim_of(checked: &Checked, by: &ClientRef, at: Timestamp) -> Claim {
    let outcome = if checked.is_refusal { Outcome::Declined } else { Outcome::Answered };
    Claim { outcome, by: by_client(by), at, answer: Some(checked.answer.clone()), error: None }
}

fn by_client(client: &ClientRef) -> By {
    By::client(ByKind::Client, client)
}

fn was_offered(turn: &Turn<'_>, id: &InteractionId, client: &ClientRef) -> bool {
    turn.state().interactions.get(id).is_some_and(|open| open.offered_to.contains(client))
}

/// Once a settlement is durable: everyone who was offered it is told, and everyone who answered is answered.
pub fn acknowledge(live: &mut crate::engine::live::Live, params: &InteractionSettledParams) {
    for connection in live.asked.remove(&params.interaction_id).unwrap_or_default() {
        if let Some(attached) = live.attached.get(&connection) {
            attached.client.settled(params);
        }
    }
    let Some(mut wait) = live.waits.remove(&params.interaction_id) else { return };
    for waiting in wait.acknowledge.drain(..) {
        let counted = wait.claim.as_ref().and_then(|claim| claim.answer.as_ref());
        let same = is_same(wait.body.kind(), &waiting.client, &waiting.answer, &params.by, counted);
        let verdict = if waiting.is_first || same {
            let (outcome, replayed) = (params.outcome, !waiting.is_first);
            Ok(Acknowledged { outcome, replayed, operation: waiting.operation })
        } else {
            Err(already_settled(wait.body.kind(), params))
        };
        // Whoever asked may have gone.
        let _ = waiting.reply.send(verdict);
    }
}

async fn remember(
    thread: &ThreadHandle,
    operation: Option<Operation>,
    answer: &InteractionAnswered,
) -> Result<(), RpcError> {
    if operation.is_none() {
        return Ok(());
    }
    let answer = answer.clone();
    match thread.turn(move |turn| turn.answers(operation, &answer)).await {
        // The answer counted before the thread was deleted, and its operation went with the thread.
        Err(_) if thread.is_deleted() => Ok(()),
        remembered => remembered,
    }
}

fn refused_answer(problem: &InvalidAnswer) -> RpcError {
    RpcError::invalid_params(
        problem.path.clone(),
        problem.reason.word(),
        format!("The answer is not valid at {}: {}. The interaction stays open.", problem.path, problem.reason),
    )
}

fn not_offered() -> RpcError {
    RpcError::new(
        ErrorDetail::Forbidden { reason: "not_offered".to_owned(), policy_id: None },
        "This tool call was offered to another client process; only that one can answer it.",
    )
}

/// The interaction is open and nobody waits for its answer yet.
pub fn not_waiting(id: &InteractionId) -> RpcError {
    RpcError::retryable(
        ErrorDetail::Unavailable { reason: "starting".to_owned(), progress: None, party: None, effect: None },
        format!("The run of interaction {id} is just being taken up again. Repeat the answer in a moment."),
        Some(100),
    )
}
