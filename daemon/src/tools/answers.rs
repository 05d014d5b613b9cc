//! Checks what a person's client answers to an approval or to questions. Both stay open while the answer breaks a rule.

use std::collections::{BTreeMap, BTreeSet};

use ropewalk_protocol::{
    ApprovalAnswer, ApprovalRequest, Decision, DecisionScope, InputAnswer, InputRequest, InteractionKind, Question,
    QuestionAnswer, limits,
};
use serde_json::{Map, Value};
use thiserror::Error;

use super::json::join;

#[cfg(test)]
mod tests;

/// Characters of a note that are kept; the rest is cut.
pub const NOTE_CHARACTERS: usize = limits::DESCRIPTION_CHARACTERS as usize;

/// Characters of a free answer that are kept; the rest is cut. Five of them stay within what a model is told at once.
pub const OTHER_CHARACTERS: usize = 32_000;

/// Why an answer is not taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path} {reason}")]
pub struct InvalidAnswer {
    /// Where, as a JSON Pointer into the answer.
    pub path: String,
    /// Why: one of [`reason`].
    pub reason: &'static str,
}

/// The reasons of `interaction/invalidAnswer`; there are no others.
pub mod reason {
    /// A field that answers do not have.
    pub const UNKNOWN_FIELD: &str = "unknown_field";
    /// A value of the wrong type, or a needed one that is not there.
    pub const WRONG_TYPE: &str = "wrong_type";
    /// An answer to a question nobody asked.
    pub const UNKNOWN_QUESTION: &str = "unknown_question";
    /// Two positions where one may be chosen.
    pub const ONE_OPTION_ONLY: &str = "one_option_only";
    /// Text where only options count.
    pub const NO_FREE_TEXT: &str = "no_free_text";
    /// A word that is no decision.
    pub const UNKNOWN_DECISION: &str = "unknown_decision";
}

/// Reads the answer to an approval. A remembering decision that is none of the request's `choices` counts as `accept`, and a scope is
/// kept for `acceptAlways` only.
///
/// # Errors
/// When the answer breaks a rule of its shape.
pub fn check_approval(answer: &Value, request: &ApprovalRequest) -> Result<ApprovalAnswer, InvalidAnswer> {
    let fields = object(answer, "", &["decision", "scope", "note"])?;
    let word = text(fields, "", "decision")?.ok_or_else(|| invalid(reason::WRONG_TYPE, "/decision"))?;
    let mut decision: Decision =
        serde_json::from_value(word.into()).map_err(|_| invalid(reason::UNKNOWN_DECISION, "/decision"))?;
    let scope: Option<DecisionScope> = match text(fields, "", "scope")? {
        None => None,
        Some(word) => Some(serde_json::from_value(word.into()).map_err(|_| invalid(reason::WRONG_TYPE, "/scope"))?),
    };
    let note = text(fields, "", "note")?.map(str::trim).filter(|note| !note.is_empty());
    let remembers = matches!(decision, Decision::AcceptForSession | Decision::AcceptAlways);
    if remembers && !request.choices.contains(&decision) {
        decision = Decision::Accept;
    }
    Ok(ApprovalAnswer {
        decision,
        scope: scope.filter(|_| decision == Decision::AcceptAlways),
        note: note.map(|note| cut(note, NOTE_CHARACTERS)),
    })
}

/// Reads the answer to questions. Positions out of range and repeated ones are dropped, blank text counts as none, and a
/// question answered with nothing is left open.
///
/// # Errors
/// When the answer breaks a rule of its shape or of the questions.
pub fn check_input(answer: &Value, request: &InputRequest) -> Result<InputAnswer, InvalidAnswer> {
    let fields = object(answer, "", &["answers", "dismissed", "declined"])?;
    let mut given = fields.iter().filter(|(_, value)| !value.is_null());
    let (Some((name, value)), extra) = (given.next(), given.next()) else {
        return Err(invalid(reason::WRONG_TYPE, ""));
    };
    if let Some((extra, _)) = extra {
        return Err(invalid(reason::WRONG_TYPE, join("", extra)));
    }
    let mut read = InputAnswer::default();
    match (name.as_str(), value) {
        ("dismissed", Value::Bool(true)) => read.dismissed = Some(true),
        ("declined", Value::Bool(true)) => read.declined = Some(true),
        ("answers", Value::Object(answers)) => read.answers = Some(check_answers(answers, &request.questions)?),
        _ => return Err(invalid(reason::WRONG_TYPE, join("", name))),
    }
    Ok(read)
}

/// Whether two answers to one interaction are the same: when decision and scope, the selections and texts, or the result are
/// equal (ruling 4). A note does not count. `counted` is the answer as it was stored; `given` may be as a client sent it.
#[must_use]
pub fn are_same(kind: InteractionKind, given: &Value, counted: &Value) -> bool {
    match kind {
        InteractionKind::ToolCall | InteractionKind::Input => given == counted,
        InteractionKind::Approval => {
            let read = |answer: &Value| serde_json::from_value::<ApprovalAnswer>(answer.clone());
            let same = |one: ApprovalAnswer, other: ApprovalAnswer| {
                one.decision == other.decision && one.scope.unwrap_or_default() == other.scope.unwrap_or_default()
            };
            read(given).is_ok_and(|given| read(counted).is_ok_and(|counted| same(given, counted)))
        }
    }
}

/// What kind of interaction a stored answer settled. Those of tool calls are not stored with their settlement.
#[must_use]
pub fn kind_of(answer: Option<&Value>) -> InteractionKind {
    match answer {
        Some(answer) if answer.get("decision").is_some() => InteractionKind::Approval,
        Some(answer) if ["answers", "dismissed", "declined"].iter().any(|field| answer.get(field).is_some()) => {
            InteractionKind::Input
        }
        _ => InteractionKind::ToolCall,
    }
}

/// Whether a decision refuses the call: an approval answered so ends as `declined`.
#[must_use]
pub const fn is_refusal(decision: Decision) -> bool {
    matches!(decision, Decision::Decline | Decision::Cancel)
}

fn check_answers(
    answers: &Map<String, Value>,
    questions: &[Question],
) -> Result<BTreeMap<String, QuestionAnswer>, InvalidAnswer> {
    let mut read = BTreeMap::new();
    for (id, answer) in answers {
        let path = join("/answers", id);
        let Some(question) = questions.iter().find(|question| question.id == *id) else {
            return Err(invalid(reason::UNKNOWN_QUESTION, path));
        };
        let answer = check_answer(answer, question, &path)?;
        if answer != QuestionAnswer::default() {
            read.insert(id.clone(), answer);
        }
    }
    Ok(read)
}

fn check_answer(answer: &Value, question: &Question, path: &str) -> Result<QuestionAnswer, InvalidAnswer> {
    let fields = object(answer, path, &["selected", "other"])?;
    let selected = positions(fields, path, question.options.len())?;
    if selected.len() > 1 && question.multi_select != Some(true) {
        return Err(invalid(reason::ONE_OPTION_ONLY, join(path, "selected")));
    }
    let other = text(fields, path, "other")?.map(str::trim).filter(|text| !text.is_empty());
    if other.is_some() && question.allow_other == Some(false) {
        return Err(invalid(reason::NO_FREE_TEXT, join(path, "other")));
    }
    Ok(QuestionAnswer {
        selected: selected.into_iter().collect(),
        other: other.map(|text| cut(text, OTHER_CHARACTERS)),
    })
}

fn positions(fields: &Map<String, Value>, path: &str, options: usize) -> Result<BTreeSet<u64>, InvalidAnswer> {
    let path = join(path, "selected");
    let chosen = match fields.get("selected") {
        None | Some(Value::Null) => return Ok(BTreeSet::new()),
        Some(Value::Array(chosen)) => chosen,
        Some(_) => return Err(invalid(reason::WRONG_TYPE, path)),
    };
    if let Some(wrong) = chosen.iter().position(|position| !position.is_u64() && !position.is_i64()) {
        return Err(invalid(reason::WRONG_TYPE, join(&path, &wrong.to_string())));
    }
    Ok(chosen.iter().filter_map(Value::as_u64).filter(|position| *position < options as u64).collect())
}

fn invalid(reason: &'static str, path: impl Into<String>) -> InvalidAnswer {
    InvalidAnswer { path: path.into(), reason }
}

fn object<'a>(value: &'a Value, path: &str, known: &[&str]) -> Result<&'a Map<String, Value>, InvalidAnswer> {
    let fields = value.as_object().ok_or_else(|| invalid(reason::WRONG_TYPE, path))?;
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(invalid(reason::UNKNOWN_FIELD, join(path, unknown))),
        None => Ok(fields),
    }
}

fn text<'a>(fields: &'a Map<String, Value>, path: &str, name: &str) -> Result<Option<&'a str>, InvalidAnswer> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid(reason::WRONG_TYPE, join(path, name))),
    }
}

fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
