//! The instructions of projects as documents: their text is the project's, what else there is to them is kept beside it.
//!
//! They have a revision of their own, because grants and rules raise the project's: an approval that sets a rule must not
//! make the very change stale that it approves.

use std::sync::Arc;

use ropewalk_protocol::{
    Instructions, InstructionsChanged, InstructionsReplaceParams, InstructionsSource, Project, ProjectId, Revision,
    limits,
};
use serde::{Deserialize, Serialize};

use super::{
    Caller, Catalogue, Refusal, Snapshot,
    document::{Document, DocumentChange},
    projects::{existing, touched},
    refusal::expect_revision,
    rules,
    writer::{Decision, Moment},
};

/// What there is to a project's instructions beside their text. A project without one has never changed them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstructionsRecord {
    /// The project.
    pub project_id: ProjectId,
    /// Whether the files of its directories are told with them.
    pub include_workspace_files: bool,
    /// Their revision.
    pub revision: Revision,
}

impl Catalogue {
    /// Puts another text in the place of a project's instructions. `sources` are the files there are, for the answer.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn replace_instructions(
        self: &Arc<Self>,
        caller: Caller,
        params: InstructionsReplaceParams,
        sources: Vec<InstructionsSource>,
    ) -> Result<InstructionsChanged, Refusal> {
        self.change(caller, move |snapshot, moment| replace(snapshot, moment, params, sources)).await
    }
}

impl Snapshot {
    /// What there is to the instructions of a project beside their text.
    #[must_use]
    pub fn instructions_record(&self, project_id: &ProjectId) -> InstructionsRecord {
        self.instructions.get(project_id).map_or_else(
            || InstructionsRecord { project_id: project_id.clone(), include_workspace_files: true, revision: 1 },
            |record| (**record).clone(),
        )
    }

    /// The instructions of a project. `sources` are the files there are, whether or not they are included.
    ///
    /// # Errors
    /// `notFound`.
    pub fn show_instructions(
        &self,
        project_id: &ProjectId,
        sources: Vec<InstructionsSource>,
    ) -> Result<Instructions, Refusal> {
        let project = existing(self, project_id)?;
        Ok(shown(project.instructions.clone(), self.instructions_record(project_id), sources))
    }
}

/// The text of instructions is not longer than it may be.
pub(super) fn check_text(path: &'static str, text: &str) -> Result<(), Refusal> {
    rules::text(path, text, usize::try_from(limits::INSTRUCTIONS_CHARACTERS).unwrap_or(usize::MAX))
}

/// What a change of a project's text is to its instructions; nothing where the text is the same.
pub(super) fn following(snapshot: &Snapshot, before: &Project, after: &Project) -> Option<DocumentChange> {
    let record = snapshot.instructions_record(&before.project_id);
    (before.instructions != after.instructions).then(|| next(record))
}

fn replace(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    params: InstructionsReplaceParams,
    sources: Vec<InstructionsSource>,
) -> Result<Decision<InstructionsChanged>, Refusal> {
    let project = existing(snapshot, &params.project_id)?;
    let mut record = snapshot.instructions_record(&params.project_id);
    let current = shown(project.instructions.clone(), record.clone(), sources.clone());
    expect_revision("instructions", Some(params.expected_revision), record.revision, &current)?;
    check_text("/text", &params.text)?;
    record.include_workspace_files = params.include_workspace_files.unwrap_or(record.include_workspace_files);
    let text = Some(params.text).filter(|text| !text.is_empty());
    let is_same_text = text == project.instructions;
    if is_same_text && record.include_workspace_files == current.include_workspace_files {
        return Ok(Decision::nothing(InstructionsChanged { instructions: current, replayed: false }));
    }
    let mut changes = vec![next(record)];
    if !is_same_text {
        changes.push(touched(&Project { instructions: text, ..(**project).clone() }, moment));
    }
    let project_id = params.project_id;
    Ok(Decision::new(changes, move |after| {
        let text = after.projects.get(&project_id).and_then(|project| project.instructions.clone());
        let instructions = shown(text, after.instructions_record(&project_id), sources);
        InstructionsChanged { instructions, replayed: false }
    }))
}

fn next(record: InstructionsRecord) -> DocumentChange {
    let record = InstructionsRecord { revision: record.revision + 1, ..record };
    DocumentChange::Put(Document::Instructions(record))
}

fn shown(text: Option<String>, record: InstructionsRecord, sources: Vec<InstructionsSource>) -> Instructions {
    Instructions {
        project_id: record.project_id,
        text: text.unwrap_or_default(),
        include_workspace_files: record.include_workspace_files,
        sources: if record.include_workspace_files { sources } else { Vec::new() },
        revision: record.revision,
    }
}
