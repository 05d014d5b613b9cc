//! What is remembered from one run to the next, and what every run of a project is told.

use ropewalk_protocol::{
    EntryId, Instructions as Document, InstructionsRead, MemoryEntry, MemoryParams, MemoryRead, ProjectId,
    ProjectParams,
};

use super::{noun, verbs};
use crate::Error;

noun! {
    /// Memory: entries that runs to come are shown.
    Memory
}

impl Memory {
    verbs! {
        /// The entries, in the order of their ids, without their texts.
        list = MemoryList;
        /// Remembers something.
        create = MemoryCreate;
        /// Changes an entry: what is not named stays as it is.
        update = MemoryUpdate;
        /// Forgets an entry for good.
        delete = MemoryDelete;
    }

    /// An entry with its text.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn read(&self, entry: impl Into<EntryId>) -> Result<MemoryEntry, Error> {
        Ok(self.client.call::<MemoryRead>(MemoryParams { entry_id: entry.into() }).await?.entry)
    }
}

noun! {
    /// The instructions of projects as documents of their own.
    Instructions
}

impl Instructions {
    verbs! {
        /// Puts another text in the place of a project's instructions.
        replace = InstructionsReplace;
    }

    /// What the runs of a project are told, and which files of its directories with it.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn read(&self, project: impl Into<ProjectId>) -> Result<Document, Error> {
        Ok(self.client.call::<InstructionsRead>(ProjectParams { project_id: project.into() }).await?.instructions)
    }
}
