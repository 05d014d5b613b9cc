//! `ask_user`: how a model asks the person behind a run, and how it is told what came of it.

use std::{collections::HashSet, sync::LazyLock};

use ropewalk_protocol::{InputAnswer, Outcome, Problem, Question, QuestionAnswer, SourceKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    ToolSpec,
    schema::{MAX_PROBLEMS, Schema},
};

#[cfg(test)]
mod tests;

/// Its name at its source.
pub const NAME: &str = "ask_user";

/// Whether a tool is this one.
#[must_use]
pub fn is_ask_user(tool: &ToolSpec) -> bool {
    tool.source_kind == SourceKind::App && tool.name == NAME
}

/// Questions of one call.
pub const QUESTIONS: usize = 5;
/// Options of one question.
pub const OPTIONS: usize = 8;
/// Characters of a question.
pub const TEXT_CHARACTERS: usize = 500;
/// Characters of a question's chip.
pub const LABEL_CHARACTERS: usize = 24;
/// Characters of an option.
pub const OPTION_CHARACTERS: usize = 80;
/// Characters of what is said about an option.
pub const OPTION_DESCRIPTION_CHARACTERS: usize = 160;
/// Characters of a question's id.
pub const ID_CHARACTERS: usize = 64;

/// The arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "ask_user")]
pub struct AskUser {
    /// One to five questions, asked together.
    #[schemars(length(min = 1, max = 5))]
    pub questions: Vec<Question>,
}

/// The tool, as every thread has it.
#[must_use]
pub fn tool() -> ToolSpec {
    SPEC.clone()
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Ask one to five questions.";
    ToolSpec::of_app(NAME, "Ask the person", description, schemars::schema_for!(AskUser).to_value())
});

static SCHEMA: LazyLock<Schema> =
    LazyLock::new(|| Schema::compile(&SPEC.input_schema).expect("the schema of our own tool compiles"));

/// Reads the questions. They reach nobody while they break a rule.
///
/// # Errors
/// What to correct, five problems at most; [`invalid_text`] tells the model.
pub fn check_questions(arguments: &Map<String, Value>) -> Result<Vec<Question>, Vec<Problem>> {
    let arguments = Value::Object(arguments.clone());
    SCHEMA.check(&arguments)?;
    let asked: AskUser = serde_json::from_value(arguments)
        .map_err(|error| vec![Problem { path: String::new(), reason: error.to_string() }])?;
    let mut problems = Vec::new();
    let mut ids = HashSet::new();
    for (index, question) in asked.questions.iter().enumerate() {
        let path = format!("/questions/{index}");
        let mut refuse = |field: &str, reason: &str| {
            problems.push(Problem { path: format!("{path}/{field}"), reason: reason.to_owned() });
        };
        if question.id.chars().count() > ID_CHARACTERS {
            refuse("id", "must have at most 64 characters");
        }
        if !ids.insert(question.id.as_str()) {
            refuse("id", "is the id of an earlier question; give each its own");
        }
        if question.options.is_empty() && question.allow_other == Some(false) {
            refuse("options", "must not be empty where allowOther is false");
        }
        let blank = |text: &str| text.trim().is_empty();
        if blank(&question.text) {
            refuse("text", "must not be blank");
        }
        if let Some(option) = question.options.iter().position(|option| blank(&option.label)) {
            refuse(&format!("options/{option}/label"), "must not be blank");
        }
    }
    problems.truncate(MAX_PROBLEMS);
    if problems.is_empty() { Ok(asked.questions) } else { Err(problems) }
}

/// What the model is told when its questions were answered, dismissed or declined.
#[must_use]
pub fn answered_text(questions: &[Question], answer: &InputAnswer) -> String {
    if answer.declined.is_some() {
        return told(
            "declined",
            "The person does not want to be asked. Stop this, do not ask again, and wait for the person.",
        );
    }
    let Some(answers) = &answer.answers else {
        return told("dismissed", "The person leaves all of this to you: decide yourself. Do not ask these again.");
    };
    let given = |question: &&Question| answers.get(&question.id).is_some();
    let open: Vec<&str> = questions.iter().filter(|question| !given(question)).map(|question| &*question.id).collect();
    let guidance = if open.is_empty() {
        "Do not ask these again.".to_owned()
    } else {
        format!("Left to you: {}. Decide that yourself. Do not ask these again.", open.join(", "))
    };
    let answers = questions.iter().filter_map(|question| Some(Answer::of(question, answers.get(&question.id)?)));
    Told { outcome: "answered", answers: answers.collect(), guidance: &guidance, error: None }.text()
}

/// What the model is told when nobody answered: the questions ended as `expired`, `undeliverable` or otherwise.
#[must_use]
pub fn unanswered_text(outcome: Outcome) -> String {
    match outcome {
        Outcome::Undeliverable => told(
            "undeliverable",
            "Nobody is here who could be asked. Decide yourself where that is safe, and say in your answer what is left to decide.",
        ),
        Outcome::Cancelled => told("cancelled", "The run was stopped before anybody answered."),
        Outcome::Declined => told("declined", "Stop this, do not ask again, and wait for the person."),
        Outcome::Answered | Outcome::Expired | Outcome::OutcomeUnknown => told(
            "expired",
            "Nobody answered in time. Decide yourself where that is safe, say so in your answer, and do not ask these again.",
        ),
    }
}

/// What the model is told when its questions break a rule.
#[must_use]
pub fn invalid_text(problems: &[Problem]) -> String {
    let described = problems.iter().map(|problem| format!("{} {}", problem.path, problem.reason));
    let error = described.collect::<Vec<_>>().join("; ");
    let guidance = "Nobody was asked. Correct the questions and call ask_user again.";
    Told { outcome: "invalid", answers: Vec::new(), guidance, error: Some(&error) }.text()
}

fn told(outcome: &'static str, guidance: &str) -> String {
    Told { outcome, answers: Vec::new(), guidance, error: None }.text()
}

#[derive(Serialize)]
struct Told<'a> {
    outcome: &'static str,
    answers: Vec<Answer<'a>>,
    guidance: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl Told<'_> {
    fn text(&self) -> String {
        serde_json::to_string(self).expect("texts and lists are always JSON")
    }
}

/// An answer in the words of its question: a model has no use for positions.
#[derive(Serialize)]
struct Answer<'a> {
    id: &'a str,
    selected: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<&'a str>,
}

impl<'a> Answer<'a> {
    fn of(question: &'a Question, answer: &'a QuestionAnswer) -> Self {
        let chosen = answer.selected.iter().filter_map(|position| usize::try_from(*position).ok());
        let selected = chosen.filter_map(|position| question.options.get(position)).map(|option| &*option.label);
        Self { id: &question.id, selected: selected.collect(), other: answer.other.as_deref() }
    }
}
