//! Starting a thread and changing its header.

use ropewalk_protocol::{
    AgentRef, Branch, BranchId, EndpointId, Event, Origin, Patch, ProjectId, QueueState, Thread, ThreadId, Timestamp,
};

use super::{Change, Declaring, DomainError, Fact};

/// A thread to start.
#[derive(Clone, Debug)]
pub struct StartThread {
    /// Its id.
    pub thread_id: ThreadId,
    /// Its project.
    pub project_id: ProjectId,
    /// Its title.
    pub title: Option<String>,
    /// The endpoint of its runs.
    pub endpoint_id: Option<EndpointId>,
    /// Its own instructions.
    pub instructions: Option<String>,
    /// The agent it runs.
    pub agent: Option<AgentRef>,
    /// Who starts it.
    pub origin: Origin,
}

impl StartThread {
    /// The header of the thread before its first event.
    #[must_use]
    pub fn header(&self, at: Timestamp) -> Thread {
        Thread {
            thread_id: self.thread_id.clone(),
            project_id: self.project_id.clone(),
            title: self.title.clone(),
            pinned: false,
            archived: false,
            unread: false,
            endpoint_id: self.endpoint_id.clone(),
            agent: self.agent.clone(),
            origin: self.origin.clone(),
            seq: 0,
            created_at: at,
            updated_at: at,
            revision: 1,
            branches: None,
        }
    }
}

impl Change<'_> {
    /// Writes a thread's first record: its header, its original branch and the tools it begins with.
    ///
    /// # Errors
    /// None today: an empty thread has no tools that could clash.
    pub fn start_thread(&mut self, start: &StartThread, declaring: &Declaring) -> Result<(), DomainError> {
        let mut thread = start.header(self.at);
        thread.seq = 1;
        self.event(Event::ThreadUpdated { thread });
        self.event(Event::BranchUpdated {
            branch: Branch {
                branch_id: BranchId::from(start.thread_id.clone()),
                thread_id: start.thread_id.clone(),
                title: None,
                parent_branch_id: None,
                root_message_id: None,
                head_message_id: None,
                active_run_id: None,
                queue: QueueState::default(),
                revision: 1,
            },
        });
        if let Some(text) = &start.instructions {
            self.fact(Fact::Instructions { text: text.clone() });
        }
        self.declare_tools(declaring)
    }

    /// Changes the header. Writes nothing when nothing would change.
    ///
    /// # Errors
    /// [`DomainError::Revision`] when the thread is at another revision than expected.
    pub fn update_header(
        &mut self,
        expected: Option<u64>,
        title: Patch<String>,
        pinned: Option<bool>,
        endpoint_id: Patch<EndpointId>,
        archived: Option<bool>,
    ) -> Result<(), DomainError> {
        let current = self.state.thread.revision;
        if expected.is_some_and(|expected| expected != current) {
            return Err(DomainError::Revision { current });
        }
        let mut thread = self.state.thread.clone();
        title.apply(&mut thread.title);
        endpoint_id.apply(&mut thread.endpoint_id);
        thread.pinned = pinned.unwrap_or(thread.pinned);
        thread.archived = archived.unwrap_or(thread.archived);
        if thread != self.state.thread {
            thread.revision += 1;
            thread.seq = self.seq() + 1;
            self.event(Event::ThreadUpdated { thread });
        }
        Ok(())
    }
}
