//! Projects and their grants.

use ropewalk_protocol::{Project, ProjectId, ProjectParams, ProjectRead};

use super::{noun, verbs};
use crate::Error;

noun! {
    /// Projects.
    Projects
}

impl Projects {
    verbs! {
        /// Makes a project.
        create = ProjectCreate;
        /// The projects, in the order of their ids.
        list = ProjectList;
        /// Changes a project: what is named is set, null clears.
        update = ProjectUpdate;
        /// The project of a directory, made with a read and write grant on it if there is none yet.
        ensure = ProjectEnsure;
        /// Replaces the grants and the rules of a project, all of them at once, or says what would change.
        replace_security = SecurityReplace;
        /// Deletes a project with its threads, grants and rules, or says what would go with it.
        delete = ProjectDelete;
    }

    /// A project with its grants and policies.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn read(&self, project: impl Into<ProjectId>) -> Result<Project, Error> {
        Ok(self.client.call::<ProjectRead>(ProjectParams { project_id: project.into() }).await?.project)
    }
}

noun! {
    /// Directory grants of projects.
    Grants
}

impl Grants {
    verbs! {
        /// Grants a project a directory.
        add = GrantAdd;
        /// Takes a grant back.
        remove = GrantRemove;
        /// The grants of a project.
        list = GrantList;
    }
}
