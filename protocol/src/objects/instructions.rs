//! What every run of a project is told, and the files of its directories that are told with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ProjectId, Revision};

/// The instructions of a project as a document of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Instructions {
    /// The project.
    pub project_id: ProjectId,
    /// What its runs are told, at most 32,000 characters: the same text as the project's `instructions`, empty where it has
    /// none.
    pub text: String,
    /// Whether runs are also told what `AGENTS.md` and `CLAUDE.md` say, at the root of every directory that the project may
    /// read.
    pub include_workspace_files: bool,
    /// Those of the files that there are now, as the next run of the project's own endpoint would be told them; none where
    /// they are not included.
    pub sources: Vec<InstructionsSource>,
    /// Its revision: raised by a change of the text or of what is included, and by no other change of the project.
    pub revision: Revision,
}

/// A file that a project's runs are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstructionsSource {
    /// Its path.
    pub path: String,
    /// How many characters it has; of a file above 1 MiB, those of its first MiB; 0 where it could not be read.
    pub characters: u64,
    /// Whether runs are told a part of it only.
    pub cut: bool,
    /// Why it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
