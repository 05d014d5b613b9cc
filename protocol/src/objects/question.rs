//! Questions of a model to a person, and the answers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CallId, InteractionId, PathStep, RunId, ThreadId, Timestamp};

/// Parameters of `input/request`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InputRequest {
    /// The interaction.
    pub interaction_id: InteractionId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The run.
    pub run_id: RunId,
    /// The call.
    pub call_id: CallId,
    /// How often this interaction has been offered, from 1.
    pub attempt: u64,
    /// One to five questions.
    pub questions: Vec<Question>,
    /// From the ancestor down, for a question of a subtask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathStep>,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// One question to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Question {
    /// What the answer calls it; unique in the request.
    #[schemars(length(min = 1))]
    pub id: String,
    /// The question, at most 500 characters.
    #[schemars(length(min = 1, max = 500))]
    pub text: String,
    /// A chip of at most 24 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 24))]
    pub label: Option<String>,
    /// Up to eight options; none only where free text is allowed.
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub options: Vec<QuestionOption>,
    /// Whether more than one may be chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_select: Option<bool>,
    /// Whether free text is allowed; it is, unless this is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_other: Option<bool>,
}

/// One option of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuestionOption {
    /// What is shown, at most 80 characters.
    #[schemars(length(min = 1, max = 80))]
    pub label: String,
    /// More about it, at most 160 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 160))]
    pub description: Option<String>,
    /// Whether the asker would choose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended: Option<bool>,
}

/// The answer to `input/request`: exactly one of the three fields. Closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InputAnswer {
    /// The answers by question; questions left out are left to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<BTreeMap<String, QuestionAnswer>>,
    /// `true`: you decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dismissed: Option<bool>,
    /// `true`: stop asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<bool>,
}

/// The answer to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuestionAnswer {
    /// Positions of the chosen options, from 0; one out of range is dropped.
    #[serde(default)]
    pub selected: Vec<u64>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}
