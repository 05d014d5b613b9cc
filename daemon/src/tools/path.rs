//! The one path of every tool call. Nothing else makes one: a source takes a [`SourceCall`], and only this file can.
//!
//! ```text
//! name → identity → policy → repair → veil → schema → stakes → approval → policy → call → result check → budget → record
//! ```
//!
//! The rules have the first word, and a `deny` has the last: between the first and the call a person may have been asked, and
//! meanwhile somebody may have forbidden it (K24).

use std::sync::Arc;

use ropewalk_protocol::{BlobRef, CallDecision, CallId, DecidedVia, PolicyDecision};
use serde_json::{Map, Value, json};

use super::{
    CallFailure, Effective, SourceCall, SourceResult, Stakes, ToolSource, ToolSpec,
    arguments::parse_arguments,
    budget::{cut_content, is_cut},
    digest::exact_digest,
    names::near_names,
    repair::repair,
    results::whole_text,
    schema::Schema,
    summary::{result_severity, result_summary, summary},
    veil::{self, Secrets},
};
use crate::domain::CallEnd;

/// The word of a rule that forbids a call, as a decision.
pub const DENY: &str = "deny";

/// A call as the model made it.
#[derive(Clone, Debug)]
pub struct ModelToolCall {
    /// Our id of it.
    pub call_id: CallId,
    /// The name the model used.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// The same without their secrets, where they have any: all that may be stored or shown.
    pub veiled: Option<String>,
    /// Which call of its message it is, from 1.
    pub index: u64,
    /// How many calls its message has.
    pub total: u64,
}

/// What is asked of a person.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The call.
    pub call: &'a ModelToolCall,
    /// The tool.
    pub tool: &'a Arc<ToolSpec>,
    /// The exact arguments, but for their secrets.
    pub arguments: &'a Map<String, Value>,
    /// The model's own, where they were repaired.
    pub original: Option<&'a Map<String, Value>>,
    /// One line for the prompt.
    pub summary: &'a str,
    /// Stands for the tool and the exact arguments: what the decision is bound to.
    pub digest: &'a str,
    /// What it would change of what runs may do.
    pub stakes: Option<&'a Stakes>,
}

/// Proof that a call has come along the path. Its maker is private to this file.
#[derive(Debug)]
pub struct Walked(());

/// What the path needs of the run it serves.
pub trait Desk: Send + Sync {
    /// The tool of a model-facing name.
    fn find(&self, flat_name: &str) -> Option<Arc<ToolSpec>>;
    /// The model-facing names there are.
    fn names(&self) -> Vec<String>;
    /// What the rules say of a tool at this moment.
    fn effective(&self, tool: &ToolSpec) -> Effective;
    /// The rules that deny a tool right before its call is made, whatever was decided before.
    fn denied(&self, tool: &ToolSpec) -> Option<Effective>;
    /// The decision of a person who has refused exactly this call in this run already, so that nobody is asked again (K12).
    fn refused_before(&self, _: &str) -> Option<CallDecision> {
        None
    }
    /// How often the run has called a tool, this call included.
    fn calls_of(&self, tool: &ToolSpec) -> u64;
    /// How long a call of a tool may be silent.
    fn silence_ms(&self, tool: &ToolSpec, effective: &Effective) -> u64;
    /// How long a call may take in all.
    fn ceiling_ms(&self) -> u64;
    /// The schema of a tool's arguments, ready.
    fn schema(&self, tool: &ToolSpec) -> Option<Arc<Schema>>;
    /// What a call would change of what runs may do, unless a person has decided about it already.
    fn stakes(&self, _tool: &ToolSpec, _arguments: &Map<String, Value>) -> impl Future<Output = Option<Stakes>> + Send {
        std::future::ready(None)
    }
    /// Asks a person, and waits for the decision.
    fn approve(&self, ask: Ask<'_>) -> impl Future<Output = Result<CallDecision, Refused>> + Send;
    /// Takes in the tools as they are now: while a person decided, they may have changed.
    fn look_again(&self) -> impl Future<Output = Result<(), CallFailure>> + Send;
    /// Notes what was decided, to be written down with what comes next.
    fn decided(&self, call_id: &CallId, decision: CallDecision);
    /// Says that a call is about to be made, with whatever may not be made twice: durable before the source hears of it
    /// (K17).
    fn begins(&self, _: &ToolSpec, _: &CallId) -> impl Future<Output = Result<(), CallFailure>> + Send {
        async { Ok(()) }
    }
    /// Whether the model was not told of a tool, because its definition did not fit into the request.
    fn is_left_out(&self, _: &ToolSpec) -> bool {
        false
    }
    /// Why a tool cannot be called whatever anybody decides, where that is so.
    fn unusable(&self, _: &ToolSpec) -> Option<CallFailure> {
        None
    }
    /// How many tokens of a result may enter the model's context, where its window is known.
    fn result_tokens(&self) -> Option<u64> {
        None
    }
    /// Keeps the whole of a result that is cut for the model. Where it cannot be kept there is none, and the model is told
    /// so.
    fn keep_whole(&self, _: String) -> impl Future<Output = Option<BlobRef>> + Send {
        std::future::ready(None)
    }
    /// Where a tool lives.
    fn source(&self, tool: &ToolSpec) -> &dyn ToolSource;
}

/// A call that was not allowed.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Who refused it, where somebody did.
    pub decision: Option<CallDecision>,
    /// How it ends.
    pub failure: CallFailure,
}

impl From<CallFailure> for Refused {
    fn from(failure: CallFailure) -> Self {
        Self { decision: None, failure }
    }
}

/// Walks a call along the path, to the one result it gets.
pub async fn walk<D: Desk>(desk: &D, call: &ModelToolCall) -> CallEnd {
    let mut seen = Seen::default();
    let outcome = stages(desk, call, &mut seen).await;
    record(desk, call, seen, outcome).await
}

/// What the stages have learnt on the way, for the record.
#[derive(Default)]
struct Seen {
    tool: Option<Arc<ToolSpec>>,
    summary: Option<String>,
    repaired: Option<(Map<String, Value>, Map<String, Value>)>,
    /// The arguments without their secrets, where the tool takes any.
    shown: Option<Map<String, Value>>,
    /// What is taken out of everything that is written down of the call.
    secrets: Secrets,
}

async fn stages<D: Desk>(desk: &D, call: &ModelToolCall, seen: &mut Seen) -> Result<SourceResult, Refused> {
    let Allowed { tool, arguments, decision } = allowed(desk, call, seen).await?;
    desk.decided(&call.call_id, decision);
    let silence_ms = desk.silence_ms(&tool, &desk.effective(&tool));
    desk.begins(&tool, &call.call_id).await?;
    if let Some(denied) = desk.denied(&tool) {
        return Err(denied_by(&denied));
    }
    let call_id = call.call_id.clone();
    let ceiling_ms = desk.ceiling_ms();
    let source_call = SourceCall { walked: Walked(()), call_id, tool: tool.clone(), arguments, silence_ms, ceiling_ms };
    Ok(desk.source(&tool).call(source_call).await?)
}

/// A call that may be made, and exactly as it may be made.
struct Allowed {
    tool: Arc<ToolSpec>,
    arguments: Map<String, Value>,
    decision: CallDecision,
}

/// What a person allows is what they were shown: a tool that is another one when they have decided is asked about again
/// (K22), and each round waits for a person.
async fn allowed<D: Desk>(desk: &D, call: &ModelToolCall, seen: &mut Seen) -> Result<Allowed, Refused> {
    let mut tool = find(desk, &call.name)?;
    if desk.is_left_out(&tool) {
        seen.tool = Some(tool);
        return Err(CallFailure::ToolLeftOut.into());
    }
    loop {
        seen.tool = Some(tool.clone());
        let decision = by_rules(desk, &tool, &desk.effective(&tool))?;
        if let Some(failure) = desk.unusable(&tool) {
            return Err(failure.into());
        }
        let arguments = arguments(desk, &tool, call, seen)?;
        let veiled = seen.shown.clone();
        let shown = veiled.as_ref().unwrap_or(&arguments);
        let line = summary(tool.label(), shown, &tool.input_schema);
        seen.summary = Some(line.clone());
        let stakes = desk.stakes(&tool, &arguments).await;
        if let Some(decision) = decision.filter(|_| !stakes.as_ref().is_some_and(|stakes| stakes.widens)) {
            return Ok(Allowed { tool, arguments, decision });
        }
        let digest = call_digest(&tool, shown, &call.call_id, !seen.secrets.is_empty());
        if let Some(decision) = desk.refused_before(&digest) {
            let failure = CallFailure::DeclinedBefore { note: decision.note.clone() };
            return Err(Refused { decision: Some(decision), failure });
        }
        let original = seen.repaired.as_ref().map(|(_, original)| original);
        let (summary, digest, stakes) = (line.as_str(), digest.as_str(), stakes.as_ref());
        let ask = Ask { call, tool: &tool, arguments: shown, original, summary, digest, stakes };
        let decision = desk.approve(ask).await?;
        desk.look_again().await?;
        let now = find(desk, &call.name)?;
        if now.digest == tool.digest && now.owner == tool.owner {
            return match desk.unusable(&now) {
                Some(failure) => Err(Refused { decision: Some(decision), failure }),
                None => Ok(Allowed { tool, arguments, decision }),
            };
        }
        tool = now;
    }
}

fn find<D: Desk>(desk: &D, name: &str) -> Result<Arc<ToolSpec>, CallFailure> {
    desk.find(name).ok_or_else(|| {
        let names = desk.names();
        CallFailure::UnknownTool { near: near_names(name, names.iter().map(String::as_str)) }
    })
}

/// What the rules decide by themselves; `None` when a person has to.
fn by_rules<D: Desk>(desk: &D, tool: &ToolSpec, effective: &Effective) -> Result<Option<CallDecision>, Refused> {
    if effective.decision == PolicyDecision::Deny {
        return Err(denied_by(effective));
    }
    if desk.calls_of(tool) > effective.max_calls {
        return Err(CallFailure::CallLimit { limit: effective.max_calls }.into());
    }
    Ok((effective.decision == PolicyDecision::Allow).then(|| decided_by(effective, "allow")))
}

fn denied_by(effective: &Effective) -> Refused {
    let failure = CallFailure::ToolDenied { level: effective.level };
    Refused { decision: Some(decided_by(effective, DENY)), failure }
}

fn decided_by(effective: &Effective, word: &str) -> CallDecision {
    CallDecision {
        decision: word.to_owned(),
        via: if effective.policy_id.is_some() { DecidedVia::Policy } else { DecidedVia::Default },
        interaction_id: None,
        policy_id: effective.policy_id.clone(),
        by: None,
        note: None,
    }
}

/// Stands for one call of one tool: another order of the same arguments is the same call. Two calls with secrets are never
/// the same one: secrets are in no digest, because what is short can be guessed from it.
fn call_digest(tool: &ToolSpec, shown: &Map<String, Value>, call_id: &CallId, has_secrets: bool) -> String {
    let mut arguments = Value::Object(shown.clone());
    arguments.sort_all_objects();
    let one = has_secrets.then_some(call_id);
    match one {
        Some(call_id) => exact_digest(&json!([tool.source, tool.rule_name(), tool.digest, arguments, call_id])),
        None => exact_digest(&json!([tool.source, tool.rule_name(), tool.digest, arguments])),
    }
}

fn arguments<D: Desk>(
    desk: &D,
    tool: &ToolSpec,
    call: &ModelToolCall,
    seen: &mut Seen,
) -> Result<Map<String, Value>, CallFailure> {
    let original = parse_arguments(&call.arguments)?;
    seen.repaired = None;
    let arguments = match repair(&original, &tool.input_schema) {
        Some(repaired) => {
            seen.repaired = Some((repaired.clone(), original));
            repaired
        }
        None => original,
    };
    take_secrets(tool, &arguments, seen);
    if let Some(failure) = veil::missing(&arguments, &tool.input_schema) {
        return Err(failure);
    }
    let Some(schema) = desk.schema(tool) else { return Ok(arguments) };
    let value = Value::Object(arguments);
    schema.check(&value).map_err(|problems| CallFailure::InvalidArguments { problems })?;
    match value {
        Value::Object(arguments) => Ok(arguments),
        _ => Ok(Map::new()),
    }
}

/// What is shown and written down of a call has no secrets, also where it comes to nothing.
fn take_secrets(tool: &ToolSpec, arguments: &Map<String, Value>, seen: &mut Seen) {
    let mut without = |arguments: &Map<String, Value>| {
        let veiled = veil::veil(arguments, &tool.input_schema)?;
        seen.secrets.add(veiled.secrets);
        Some(veiled.shown)
    };
    seen.shown = without(arguments);
    if let Some((repaired, original)) = &mut seen.repaired {
        for arguments in [repaired, original] {
            *arguments = without(arguments).unwrap_or_else(|| std::mem::take(arguments));
        }
    }
}

async fn record<D: Desk>(
    desk: &D,
    call: &ModelToolCall,
    seen: Seen,
    outcome: Result<SourceResult, Refused>,
) -> CallEnd {
    let label = seen.tool.as_ref().map_or(call.name.as_str(), |tool| tool.rule_name());
    let mut end = match outcome {
        Ok(result) => of_result(label, result),
        Err(refused) => {
            if let Some(decision) = refused.decision {
                desk.decided(&call.call_id, decision);
            }
            failed(label, &refused.failure)
        }
    };
    seen.secrets.scrub_end(&mut end);
    let tokens = desk.result_tokens();
    if is_cut(&end.content, tokens) {
        end.blob = desk.keep_whole(whole_text(&end.content)).await;
    }
    end.content = cut_content(end.content, tokens, end.blob.as_ref());
    let told = seen.tool.as_deref().and_then(|tool| result_summary(tool, end.meta.as_ref()));
    if let Some(severity) = seen.tool.as_deref().and_then(|tool| result_severity(tool, end.meta.as_ref())) {
        end.severity = severity;
    }
    end.summary = told.or(seen.summary).or_else(|| Some(label.to_owned()));
    end.repaired = seen.repaired.map(|(repaired, original)| (Value::Object(repaired), Value::Object(original)));
    end
}

fn of_result(label: &str, result: SourceResult) -> CallEnd {
    let mut end = match &result.failure {
        Some(failure) => failed(label, failure),
        None => CallEnd { effect: Some(result.effect), severity: result.severity, ..CallEnd::told("") },
    };
    end.content = result.content;
    end.structured_content = result.structured_content;
    end.meta = result.meta;
    end.call_ms = result.call_ms;
    end
}

/// The end of a call of `label` that came to nothing.
#[must_use]
pub fn failed(label: &str, failure: &CallFailure) -> CallEnd {
    CallEnd {
        state: failure.state(),
        severity: failure.severity(),
        content: failure.content(label),
        error: Some(failure.error(label)),
        effect: Some(failure.effect()),
        ..CallEnd::told("")
    }
}
