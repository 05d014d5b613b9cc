//! Checks what a person's client answers to an approval or to questions. Both stay open while the answer breaks a rule.

use std::collections::{BTreeMap, BTreeSet};

use ropewalk_protocol::{
    ApprovalAnswer, Decision, DecisionScope, InputAnswer, Outcome, Question, QuestionAnswer, limits,
};
use serde_json::{Map, Value};
use thiserror::Error;

use super::json::join;
use crate::context::cut::first_characters;

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
    /// Why.
    pub reason: AnswerReason,
}

/// The reasons of `interaction/invalidAnswer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AnswerReason {
    /// A field that answers do not have.
    #[error("unknown_field")]
    UnknownField,
    /// A value of the wrong type, or a needed one that is not there.
    #[error("wrong_type")]
    WrongType,
    /// An answer to a question nobody asked.
    #[error("unknown_question")]
    UnknownQuestion,
    /// Two positions where one may be chosen.
    #[error("one_option_only")]
    OneOptionOnly,
    /// Text where only options count.
    #[error("no_free_text")]
    NoFreeText,
    /// A word that is no decision.
    #[error("unknown_decision")]
    UnknownDecision,
}

impl AnswerReason {
    /// The word on the wire.
    #[must_use]
    pub fn word(self) -> String {
        self.to_string()
    }

    fn at(self, path: impl Into<String>) -> InvalidAnswer {
        InvalidAnswer { path: path.into(), reason: self }
    }
}

/// Reads the answer to an approval. A remembering decision that is none of `choices` counts as `accept`, and a scope is
/// kept for `acceptAlways` only.
///
/// # Errors
/// When the answer breaks a rule of its shape.
pub fn check_approval(answer: &Value, choices: &[Decision]) -> Result<ApprovalAnswer, InvalidAnswer> {
    let fields = object(answer, "", &["decision", "scope", "note"])?;
    let word = text(fields, "", "decision")?.ok_or_else(|| AnswerReason::WrongType.at("/decision"))?;
    let mut decision: Decision =
        serde_json::from_value(word.into()).map_err(|_| AnswerReason::UnknownDecision.at("/decision"))?;
    let scope: Option<DecisionScope> = match text(fields, "", "scope")? {
        None => None,
        Some(word) => Some(serde_json::from_value(word.into()).map_err(|_| AnswerReason::WrongType.at("/scope"))?),
    };
    let note = text(fields, "", "note")?.map(str::trim).filter(|note| !note.is_empty());
    let remembers = matches!(decision, Decision::AcceptForSession | Decision::AcceptAlways);
    if remembers && !choices.contains(&decision) {
        decision = Decision::Accept;
    }
    Ok(ApprovalAnswer {
        decision,
        scope: scope.filter(|_| decision == Decision::AcceptAlways),
        note: note.map(|note| first_characters(note, NOTE_CHARACTERS)),
    })
}

/// Reads the answer to questions. Positions out of range and repeated ones are dropped, blank text counts as none, and a
/// question answered with nothing is left open.
///
/// # Errors
/// When the answer breaks a rule of its shape or of the questions.
pub fn check_input(answer: &Value, questions: &[Question]) -> Result<InputAnswer, InvalidAnswer> {
    let fields = object(answer, "", &["answers", "dismissed", "declined"])?;
    let mut given = fields.iter().filter(|(_, value)| !value.is_null());
    let (Some((name, value)), extra) = (given.next(), given.next()) else { return Err(AnswerReason::WrongType.at("")) };
    if let Some((extra, _)) = extra {
        return Err(AnswerReason::WrongType.at(join("", extra)));
    }
    let mut read = InputAnswer::default();
    match (name.as_str(), value) {
        ("dismissed", Value::Bool(true)) => read.dismissed = Some(true),
        ("declined", Value::Bool(true)) => read.declined = Some(true),
        ("answers", Value::Object(answers)) => read.answers = Some(check_answers(answers, questions)?),
        _ => return Err(AnswerReason::WrongType.at(join("", name))),
    }
    Ok(read)
}

/// Whether two answers to one approval are the same. A note does not count.
#[must_use]
pub fn same_approval(one: &ApprovalAnswer, other: &ApprovalAnswer) -> bool {
    one.decision == other.decision && one.scope.unwrap_or_default() == other.scope.unwrap_or_default()
}

/// Whether two answers to the same questions are the same.
#[must_use]
pub fn same_input(one: &InputAnswer, other: &InputAnswer) -> bool {
    one == other
}

/// How an approval ends with this answer: a refusal by a person is `declined`.
#[must_use]
pub const fn approval_outcome(answer: &ApprovalAnswer) -> Outcome {
    match answer.decision {
        Decision::Decline | Decision::Cancel => Outcome::Declined,
        Decision::Accept | Decision::AcceptForSession | Decision::AcceptAlways => Outcome::Answered,
    }
}

/// How questions end with this answer. "You decide" is an answer; "stop asking" is a refusal.
#[must_use]
pub const fn input_outcome(answer: &InputAnswer) -> Outcome {
    if answer.declined.is_some() { Outcome::Declined } else { Outcome::Answered }
}

fn check_answers(
    answers: &Map<String, Value>,
    questions: &[Question],
) -> Result<BTreeMap<String, QuestionAnswer>, InvalidAnswer> {
    let mut read = BTreeMap::new();
    for (id, answer) in answers {
        let path = join("/answers", id);
        let Some(question) = questions.iter().find(|question| question.id == *id) else {
            return Err(AnswerReason::UnknownQuestion.at(path));
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
        return Err(AnswerReason::OneOptionOnly.at(join(path, "selected")));
    }
    let other = text(fields, path, "other")?.map(str::trim).filter(|text| !text.is_empty());
    if other.is_some() && question.allow_other == Some(false) {
        return Err(AnswerReason::NoFreeText.at(join(path, "other")));
    }
    Ok(QuestionAnswer {
        selected: selected.into_iter().collect(),
        other: other.map(|text| first_characters(text, OTHER_CHARACTERS)),
    })
}

fn positions(fields: &Map<String, Value>, path: &str, options: usize) -> Result<BTreeSet<u64>, InvalidAnswer> {
    let path = join(path, "selected");
    let chosen = match fields.get("selected") {
        None | Some(Value::Null) => return Ok(BTreeSet::new()),
        Some(Value::Array(chosen)) => chosen,
        Some(_) => return Err(AnswerReason::WrongType.at(path)),
    };
    if let Some(wrong) = chosen.iter().position(|position| !position.is_u64() && !position.is_i64()) {
        return Err(AnswerReason::WrongType.at(join(&path, &wrong.to_string())));
    }
    Ok(chosen.iter().filter_map(Value::as_u64).filter(|position| *position < options as u64).collect())
}

fn object<'a>(value: &'a Value, path: &str, known: &[&str]) -> Result<&'a Map<String, Value>, InvalidAnswer> {
    let fields = value.as_object().ok_or_else(|| AnswerReason::WrongType.at(path))?;
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(AnswerReason::UnknownField.at(join(path, unknown))),
        None => Ok(fields),
    }
}

fn text<'a>(fields: &'a Map<String, Value>, path: &str, name: &str) -> Result<Option<&'a str>, InvalidAnswer> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(AnswerReason::WrongType.at(join(path, name))),
    }
}
