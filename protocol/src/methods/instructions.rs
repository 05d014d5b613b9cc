//! The instructions of projects as documents of their own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ProjectParams, methods};
use crate::{Instructions, OperationId, ProjectId, Revision};

methods! {
    /// What the runs of a project are told, and which files of its directories with it.
    InstructionsRead = "instructions/read"(ProjectParams) -> InstructionsResult, ToDaemon, reads, Work;
    /// Put another text in the place of a project's instructions.
    InstructionsReplace = "instructions/replace"(InstructionsReplaceParams) -> InstructionsChanged, ToDaemon, changes, Work;
}

/// The answer to `instructions/read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstructionsResult {
    /// The instructions.
    pub instructions: Instructions,
}

/// Parameters of `instructions/replace`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstructionsReplaceParams {
    /// Which project's.
    pub project_id: ProjectId,
    /// All of the new text, at most 32,000 characters; empty takes the instructions away.
    pub text: String,
    /// Whether runs are also told what `AGENTS.md` and `CLAUDE.md` say; as before unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_workspace_files: Option<bool>,
    /// The revision of the instructions this is based on. What replaces a whole text must have seen it.
    pub expected_revision: Revision,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The instructions after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstructionsChanged {
    /// The instructions.
    pub instructions: Instructions,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}
