//! Branches: forking one, naming it, moving its head back, deleting it.

use ropewalk_protocol::{
    Branch, BranchId, Event, MessageId, Mode, OutcomeStatus, Patch, QueueState, RunError, RunErrorKind, RunOutcome,
    limits::BRANCHES,
};

use super::{Change, DomainError, Fact, Link, Partial, Submission, Submitted, Summary, ThreadState};

/// A branch to make, and what is said on it first.
#[derive(Clone, Debug)]
pub struct Fork {
    /// The branch it is made from.
    pub parent: BranchId,
    /// The message it follows; `None` where nothing has been said yet. Never a call whose results come after it.
    pub head: Option<Link>,
    /// What stands for its oldest messages. It covers none that comes after `head`.
    pub summary: Option<Summary>,
    /// Its title.
    pub title: Option<String>,
    /// What is said; its branch is the new one, whatever it names.
    pub submission: Submission,
}

/// Why an operation on a branch is refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BranchError {
    /// As with any input.
    #[error(transparent)]
    Refused(#[from] DomainError),
    /// The original branch goes with its thread.
    #[error("the original branch cannot be deleted")]
    Original,
    /// The branch has another revision than was expected.
    #[error("the branch {} is at revision {}", .0.branch_id, .0.revision)]
    Revision(Box<Branch>),
    /// The thread has too many branches.
    #[error("the thread has {0} branches already")]
    TooMany(u64),
    /// The message is not in the chain of the branch, or will not be when its turn comes.
    #[error("the message has left the chain of {}", .0.branch_id)]
    NotInChain(Box<Branch>),
}

impl Change<'_> {
    /// Makes a branch that follows a message, and begins a run on it. The branch it is made from stays as it is.
    ///
    /// # Errors
    /// [`BranchError::TooMany`]; [`DomainError::NoBranch`] when the parent is gone.
    pub fn fork(&mut self, fork: Fork) -> Result<(BranchId, Submitted), BranchError> {
        if !self.state.branches.contains_key(&fork.parent) {
            return Err(DomainError::NoBranch(fork.parent).into());
        }
        if self.state.branches.len() as u64 >= BRANCHES {
            return Err(BranchError::TooMany(BRANCHES));
        }
        let branch_id: BranchId = self.id();
        let message_id = fork.head.as_ref().map(|head| head.message_id.clone());
        self.event(Event::BranchUpdated {
            branch: Branch {
                branch_id: branch_id.clone(),
                thread_id: self.state.thread.thread_id.clone(),
                title: fork.title,
                parent_branch_id: Some(fork.parent),
                root_message_id: message_id.clone(),
                head_message_id: message_id,
                active_run_id: None,
                queue: QueueState::default(),
                revision: 1,
            },
        });
        if let Some(head) = fork.head {
            self.fact(Fact::Forked { branch_id: branch_id.clone(), head, summary: fork.summary });
        }
        let submission = Submission { branch_id: branch_id.clone(), ..fork.submission };
        let submitted = self.enter(submission, Mode::Fork, None)?;
        Ok((branch_id, submitted))
    }

    /// Changes the title of a branch. Writes nothing when it is the same.
    ///
    /// # Errors
    /// [`DomainError::NoBranch`].
    pub fn update_branch(&mut self, branch_id: &BranchId, title: Patch<String>) -> Result<(), DomainError> {
        let known = self.state.branches.get(branch_id).ok_or_else(|| DomainError::NoBranch(branch_id.clone()))?;
        let mut branch = known.branch.clone();
        title.apply(&mut branch.title);
        if branch != known.branch {
            branch.revision += 1;
            self.event(Event::BranchUpdated { branch });
        }
        Ok(())
    }

    /// Moves the head of a branch back to a message of its chain, `None` for before the first. What comes after it leaves
    /// the chain and stays in the log. Nothing may be under way on the branch.
    pub fn move_head(&mut self, branch_id: &BranchId, head: Option<Link>) {
        self.show_head(branch_id, head.as_ref().map(|head| &head.message_id));
        self.fact(Fact::Head { branch_id: branch_id.clone(), head });
    }

    /// Tells readers where the head of a branch is from this record on, before anything else of the record: it is moved
    /// otherwise than by a message that is said now.
    pub(super) fn show_head(&mut self, branch_id: &BranchId, head: Option<&MessageId>) {
        let Some(state) = self.state.branches.get(branch_id) else { return };
        let (head_message_id, revision) = (head.cloned(), state.branch.revision + 1);
        let branch = Branch { head_message_id, revision, ..state.branch.clone() };
        self.event(Event::BranchUpdated { branch });
    }

    /// Whether a branch may be deleted.
    ///
    /// # Errors
    /// [`DomainError::NoBranch`], [`BranchError::Original`], [`BranchError::Revision`].
    pub fn may_delete_branch(&self, branch_id: &BranchId, expected_revision: Option<u64>) -> Result<(), BranchError> {
        let Some(state) = self.state.branches.get(branch_id) else {
            return Err(DomainError::NoBranch(branch_id.clone()).into());
        };
        if state.branch.branch_id == BranchId::from(self.state.thread.thread_id.clone()) {
            return Err(BranchError::Original);
        }
        match expected_revision {
            Some(expected) if expected != state.branch.revision => {
                Err(BranchError::Revision(Box::new(state.branch.clone())))
            }
            _ => Ok(()),
        }
    }

    /// Deletes a branch that may be: what waits on it is dropped, its run ends with everything that is open of it, the
    /// branches forked from it become those of its parent and keep their messages. Nothing of it comes afterwards.
    ///
    /// Of a text that was streaming stays what `partial` has.
    pub fn delete_branch(&mut self, branch_id: &BranchId, partial: Partial<'_>) {
        let Some(state) = self.state.branches.get(branch_id) else { return };
        let (branch, waiting) = (state.branch.clone(), state.queue.clone());
        // First what waits, or the end of the run would hold it or begin the next.
        for input in waiting {
            self.take_out(branch_id, &input.entry.message_id);
        }
        if let Some(run_id) = &branch.active_run_id {
            self.finish_run(run_id, deleted(), partial);
        }
        let forks: Vec<Branch> = self.forks_of(branch_id).cloned().collect();
        for fork in forks {
            let (parent_branch_id, revision) = (branch.parent_branch_id.clone(), fork.revision + 1);
            self.event(Event::BranchUpdated { branch: Branch { parent_branch_id, revision, ..fork } });
        }
        self.event(Event::BranchDeleted { branch_id: branch_id.clone() });
    }

    /// The branches that were forked from one.
    pub fn forks_of<'a>(&'a self, branch_id: &'a BranchId) -> impl Iterator<Item = &'a Branch> {
        let branches = self.state.branches.values().map(|state| &state.branch);
        branches.filter(move |branch| branch.parent_branch_id.as_ref() == Some(branch_id))
    }
}

impl ThreadState {
    /// What [`Fact::Head`] does.
    pub(super) fn apply_head(&mut self, branch_id: &BranchId, head: Option<&Link>) {
        let Some(state) = self.branches.get_mut(branch_id) else { return };
        // A summary that covers messages after the head stands for what is in the chain no more.
        let reaches = |summary: &Summary| head.is_some_and(|head| head.depth >= summary.covers.depth);
        state.summary = state.summary.take().filter(reaches);
        state.branch.head_message_id = head.map(|head| head.message_id.clone());
        state.head = head.cloned();
        self.touched.branches.insert(branch_id.clone());
        self.lose_replaced(branch_id, head);
    }

    /// What [`Fact::Forked`] does.
    pub(super) fn apply_forked(&mut self, branch_id: &BranchId, head: &Link, summary: Option<&Summary>) {
        let Some(state) = self.branches.get_mut(branch_id) else { return };
        state.summary = summary.cloned();
        state.branch.head_message_id = Some(head.message_id.clone());
        state.head = Some(head.clone());
        self.touched.branches.insert(branch_id.clone());
    }
}

fn deleted() -> RunOutcome {
    RunOutcome {
        status: OutcomeStatus::Failed,
        text: None,
        structured: None,
        reason: None,
        by: None,
        error: Some(RunError {
            kind: RunErrorKind::BranchDeleted,
            message: "The branch of the run was deleted.".to_owned(),
            retryable: false,
            retry_after_ms: None,
            provider: None,
        }),
    }
}
