//! Forking and replacing on a thread under test: messages are found in its log as the engine finds them.

use ropewalk_protocol::{BranchId, MessageId, Part, Role};

use super::{
    bench::{Bench, Done},
    check,
    fixtures::submission,
};
use crate::domain::{BranchError, Fork, Place, PlaceSearch, Replaced, Submission, Submitted};

/// An input for a branch.
pub(super) fn submission_to(branch: &BranchId, text: &str) -> Submission {
    Submission { branch_id: branch.clone(), ..submission(text) }
}

impl Bench {
    /// Where a message stands, if it has joined a chain.
    pub(super) fn place(&self, message: &MessageId) -> Option<Place> {
        self.sought(self.search(message))
    }

    /// Where a message stands in the chain of a branch, else where it joined one the last time.
    pub(super) fn place_on(&self, branch: &BranchId, message: &MessageId) -> Option<Place> {
        self.sought(self.search(message).in_chain_of(branch.clone()))
    }

    fn search(&self, message: &MessageId) -> PlaceSearch {
        let branches = self.state.branches.iter();
        PlaceSearch::new(message.clone(), branches.filter_map(|(id, branch)| Some((id.clone(), branch.head.clone()?))))
    }

    fn sought(&self, mut search: PlaceSearch) -> Option<Place> {
        let found = self.log.iter().rev().find_map(|record| search.record(record.n, &record.facts));
        found.or_else(|| search.end())
    }

    /// The fork of a branch at a message, as the engine would make it. `None` where none may begin.
    pub(super) fn fork_at(&self, parent: &BranchId, message: Option<&MessageId>, text: &str) -> Option<Fork> {
        let branch = self.state.branches.get(parent)?;
        let (head, summary) = match message {
            None => (branch.head.clone(), branch.summary.clone()),
            Some(message) => {
                let place = self.place(message).filter(|place| !place.is_inside_batch)?;
                let holds = place.branches.contains(parent);
                let covers = branch.summary.clone().filter(|summary| summary.covers.depth <= place.link.depth);
                (Some(place.link), covers.filter(|_| holds))
            }
        };
        Some(Fork { parent: parent.clone(), head, summary, title: None, submission: submission_to(parent, text) })
    }

    pub(super) fn fork(&mut self, message: Option<&MessageId>, text: &str) -> Done<(BranchId, Submitted)> {
        let fork = self.fork_at(&super::fixtures::branch(), message, text).expect("a fork may begin there");
        let done = self.change(|change| change.fork(fork));
        Done { value: done.value.unwrap(), events: done.events, effects: done.effects }
    }

    /// What takes the place of a message of a branch, and the revision it was read at. `None` where nothing may.
    pub(super) fn replaced(&self, branch: &BranchId, message: &MessageId) -> Option<(Replaced, u64)> {
        let place = self.place_on(branch, message)?;
        let may = place.role == Role::User && place.branches.contains(branch);
        let revision = self.state.branches.get(branch)?.branch.revision;
        may.then_some((Replaced { message: place.link, parent: place.parent, is_gone: false }, revision))
    }

    pub(super) fn replace(
        &mut self,
        branch: &BranchId,
        message: &MessageId,
        text: &str,
    ) -> Done<Result<Submitted, BranchError>> {
        let (replaced, revision) = self.replaced(branch, message).expect("it may be replaced");
        let submission = submission_to(branch, text);
        self.change(|change| change.replace(submission, replaced, revision))
    }

    /// Who says what in the chain of a branch.
    pub(super) fn said_on(&self, branch: &BranchId) -> Vec<String> {
        let chain = check::chain(&self.state, &self.log, branch);
        let say = |message: &crate::domain::ChainMessage| {
            let texts: Vec<&str> = message.message.content.iter().filter_map(Part::as_text).collect();
            format!("{:?}: {}", message.message.role, texts.join(" ")).to_lowercase()
        };
        chain.iter().map(say).collect()
    }

    /// Every message that ever joined a chain, in the order of the log.
    pub(super) fn messages(&self) -> Vec<MessageId> {
        let facts = self.log.iter().flat_map(|record| &record.facts);
        let joined = facts.filter_map(|fact| match fact {
            crate::domain::Fact::Joined { messages, .. } => Some(messages),
            _ => None,
        });
        joined.flatten().map(|joined| joined.message_id.clone()).collect()
    }
}
