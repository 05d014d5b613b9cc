//! One step of a run: ask the model, stream what it says, store its answer.

use ropewalk_protocol::{CallId, ItemId, MessageId, RunErrorKind, RunId, ToolCallItem, limits::TOOL_CALLS_PER_MESSAGE};
use serde_json::Value;

use super::{
    ask::{Heard, Texts, ask, endless},
    output,
    party::Party,
    report::{Over, Reporter},
    request,
    retry::{self, Attempts, Failure, Next},
    shortening::Shortening,
    shortfall::{Lack, Shortfalls},
    toolbox::Toolbox,
};
use crate::{
    domain::{Answered, AnsweredCall, World},
    engine::Turn,
    models::{ANSWER_ARGUMENT_BYTES, ModelAnswer, ModelError, ProviderParts},
    tools::{arguments::parse_arguments, path::ModelToolCall, unknown_ref, veil::Secrets},
};

/// What a step came to.
pub enum Stepped {
    /// The model calls tools. Its answer is staged: it is written down with the first thing that comes of a call.
    Calls(Vec<ModelToolCall>),
    /// The run has ended, or is paused.
    Ended,
    /// The model is asked again.
    Again,
}

/// Does one step: asks until there is an answer, or no point in asking again.
pub async fn step(reporter: &Reporter, shortfalls: &mut Shortfalls) -> Result<Stepped, Over> {
    let mut attempts = Attempts::begin(&*reporter.shared().clock);
    let mut shortening = Shortening::default();
    loop {
        let Some(plan) = reporter.report(request::plan).await? else { return Ok(Stepped::Ended) };
        shortening.asks(reporter.shared(), &plan.endpoint_id);
        let (party, toolbox) = (Party::of(reporter.shared(), &plan.endpoint_id), plan.toolbox.clone());
        let wants_data = plan.wants_data();
        let mut texts = Texts::new(reporter);
        let failure = match ask(reporter, plan, &mut texts, &mut attempts.ceiling).await {
            Ok(heard) => return answered(reporter, heard, &texts, &toolbox, &party, shortfalls, wants_data).await,
            Err(failure) => failure,
        };
        if !texts.has_begun() && shortening.goes_on(reporter.shared(), &failure.error) {
            continue;
        }
        let failure = Failure { error: shortening.told(failure.error), ..failure };
        if let Next::End(error) = retry::next(reporter, &mut attempts, failure, &party).await? {
            reporter.finish(party.outcome(error)).await?;
            return Ok(Stepped::Ended);
        }
    }
}

async fn answered(
    reporter: &Reporter,
    heard: Heard,
    texts: &Texts<'_>,
    toolbox: &Toolbox,
    party: &Party,
    shortfalls: &mut Shortfalls,
    wants_data: bool,
) -> Result<Stepped, Over> {
    let Heard { mut answer, is_certain } = heard;
    if let Some(error) = excess(&answer) {
        reporter.finish(party.outcome(error)).await?;
        return Ok(Stepped::Ended);
    }
    let lack = shortfalls.of(&answer, is_certain);
    let made = std::mem::take(&mut answer.calls);
    let veiled: Vec<_> = made.iter().map(|call| toolbox.veil(&call.name, &call.arguments)).collect();
    let calls = made.iter().zip(&veiled);
    let shown: Vec<_> =
        calls.map(|(call, veiled)| show_call(reporter, &texts.message_id, call, veiled.as_ref(), toolbox)).collect();
    let provider_parts = without_secrets(answer.provider_parts, &veiled);
    let calls = to_make(made, veiled, &shown);
    let (text, reasoning) = (answer.text.clone(), answer.reasoning);
    let said = Said { text: texts.text.clone(), reasoning: texts.reasoning.clone() };
    // A text that did not stream has no item yet.
    let item = |begun: &Option<ItemId>| begun.clone().unwrap_or_else(|| reporter.shared().next_id().into());
    let stored = Answered {
        message_id: texts.message_id.clone(),
        text: (!text.is_empty()).then(|| (item(&said.text), text)),
        reasoning: (!reasoning.is_empty()).then(|| (item(&said.reasoning), reasoning)),
        calls: shown,
        usage: answer.usage,
        provider_parts,
        is_incomplete: lack == Some(Lack::EndOfText),
    };
    let store = move |turn: &mut Turn<'_>, run_id: &RunId| store_answer(turn, run_id, stored, &said);
    if let Some(lack) = lack {
        return shortfalls.settle(reporter, lack, calls, party, store).await;
    }
    if !calls.is_empty() {
        reporter.stage(store);
        return Ok(Stepped::Calls(calls));
    }
    let judged = output::judge(reporter, answer.text, wants_data).await?;
    reporter
        .report(move |turn, run_id| {
            store(turn, run_id);
            // The end of an answer is a step boundary as well: who has said something meanwhile gets an answer to it.
            let goes_on = judged.is_good_end() && turn.change.deliver_remarks(run_id);
            if goes_on { Stepped::Again } else { judged.write(turn, run_id) }
        })
        .await
}

/// What of an answer is over its limit.
fn excess(answer: &ModelAnswer) -> Option<ModelError> {
    if answer.calls.len() as u64 > TOOL_CALLS_PER_MESSAGE {
        let message = format!("The model made more than {TOOL_CALLS_PER_MESSAGE} calls in one message.");
        return Some(ModelError::new(RunErrorKind::BadResponse, message));
    }
    let bytes = answer.calls.iter().map(|call| call.arguments.len()).sum::<usize>();
    (bytes > ANSWER_ARGUMENT_BYTES).then(|| endless(ANSWER_ARGUMENT_BYTES, "arguments"))
}

/// Items of the answer's texts that have begun.
#[derive(Clone)]
struct Said {
    text: Option<ItemId>,
    reasoning: Option<ItemId>,
}

fn store_answer(turn: &mut Turn<'_>, run_id: &RunId, answer: Answered, said: &Said) {
    if said.reasoning.is_none()
        && let Some((id, _)) = &answer.reasoning
    {
        turn.change.text_started(run_id, id, &answer.message_id, true);
    }
    if said.text.is_none()
        && let Some((id, _)) = &answer.text
    {
        turn.change.text_started(run_id, id, &answer.message_id, false);
    }
    turn.change.answered(run_id, answer);
}

/// The calls of an answer as they are worked off, beside what is shown of each.
fn to_make(
    made: Vec<crate::models::ModelCall>,
    veiled: Vec<Option<(String, Secrets)>>,
    shown: &[(AnsweredCall, ToolCallItem)],
) -> Vec<ModelToolCall> {
    let total = made.len() as u64;
    let calls = made.into_iter().zip(veiled).zip(shown).zip(1..);
    calls
        .map(|(((call, veiled), (known, _)), index)| ModelToolCall {
            call_id: known.call_id.clone(),
            name: call.name,
            arguments: call.arguments,
            veiled: veiled.map(|(arguments, _)| arguments),
            index,
            total,
        })
        .collect()
}

/// What goes back to a provider may repeat the arguments in its own words.
fn without_secrets(parts: Option<ProviderParts>, veiled: &[Option<(String, Secrets)>]) -> Option<ProviderParts> {
    let mut parts = parts?;
    for (_, secrets) in veiled.iter().flatten() {
        parts.parts.iter_mut().for_each(|part| secrets.scrub(part));
    }
    Some(parts)
}

fn show_call(
    reporter: &Reporter,
    message_id: &MessageId,
    call: &crate::models::ModelCall,
    veiled: Option<&(String, Secrets)>,
    toolbox: &Toolbox,
) -> (AnsweredCall, ToolCallItem) {
    let shared = reporter.shared();
    let call_id: CallId = shared.next_id().into();
    let arguments = veiled.map_or(&call.arguments, |(arguments, _)| arguments);
    let parsed = parse_arguments(arguments);
    let known = AnsweredCall {
        call_id: call_id.clone(),
        item_id: shared.next_id().into(),
        name: call.name.clone(),
        raw_arguments: parsed.is_err().then(|| arguments.clone()),
        message_id: shared.next_id().into(),
    };
    let tool = toolbox.find(&call.name).map_or_else(|| unknown_ref(&call.name), |spec| spec.to_ref());
    let item = ToolCallItem {
        message_id: message_id.clone(),
        call_id,
        interaction_id: None,
        tool,
        // Arguments that are no object could not be sent to a provider again (K27); the raw text is kept beside them.
        arguments: Value::Object(parsed.unwrap_or_default()),
        original_arguments: None,
        decision: None,
        content: None,
        structured_content: None,
        meta: None,
        error: None,
        effect: None,
        blob: None,
        transcript_id: None,
        timing: None,
    };
    (known, item)
}
