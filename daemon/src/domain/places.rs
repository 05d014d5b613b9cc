//! Finding a message by its id: where it stands, and which branches have it in their chains.
//!
//! The index knows no messages. What it knows is the head of every branch, so a search goes through the log from its end
//! and follows all chains at once: what it holds is one link a branch, however long the thread is.

use std::collections::{BTreeMap, BTreeSet};

use ropewalk_protocol::{BranchId, MessageId, Role, Seq};

use super::{Fact, Joined, Link};

/// Where a message stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The message.
    pub link: Link,
    /// The one before it; `None` for the first of its chain.
    pub parent: Option<Link>,
    /// Who speaks.
    pub role: Role,
    /// The branch it was written on, which may be gone.
    pub written_on: BranchId,
    /// Whether results follow that belong to the same message of the model: a chain may not end here (ruling 14).
    pub is_inside_batch: bool,
    /// The branches that have it in their chains; none where it was replaced everywhere.
    pub branches: BTreeSet<BranchId>,
}

/// A search for one message, fed with the records of a log from the last one to the first.
#[derive(Clone, Debug)]
pub struct PlaceSearch {
    message_id: MessageId,
    /// The branch in whose chain it is wanted, where that matters.
    wanted_on: Option<BranchId>,
    /// The last place where it joined a chain, as long as none is found that is wanted.
    elsewhere: Option<Place>,
    /// How far up each chain has been followed: the message at the link is the next one of it that will be met.
    chains: BTreeMap<BranchId, Link>,
}

impl PlaceSearch {
    /// A search that follows the chains that end at these heads.
    pub fn new(message_id: MessageId, heads: impl IntoIterator<Item = (BranchId, Link)>) -> Self {
        Self { message_id, wanted_on: None, elsewhere: None, chains: heads.into_iter().collect() }
    }

    /// The same search for the place that a branch has in its chain. A message may have joined more than once: a remark
    /// does again after a retry, and a branch that was forked before has it where it joined first.
    #[must_use]
    pub fn in_chain_of(self, branch_id: BranchId) -> Self {
        Self { wanted_on: Some(branch_id), ..self }
    }

    /// Takes in the record with this number, which comes before all that were taken in. Returns the place of the message
    /// if it joined a chain there, and that is the one that is wanted.
    pub fn record(&mut self, n: Seq, facts: &[Fact]) -> Option<Place> {
        for fact in facts.iter().rev() {
            let Fact::Joined { branch_id, messages, parent } = fact else { continue };
            let Some(place) = self.joined(n, branch_id, messages, parent.as_ref()) else { continue };
            if self.wanted_on.as_ref().is_none_or(|branch| place.branches.contains(branch)) {
                return Some(place);
            }
            self.elsewhere.get_or_insert(place);
        }
        None
    }

    /// Whether no earlier record can have the place that is wanted: the message was met, and the chain it is wanted in
    /// has been followed to its beginning.
    pub fn is_over(&self) -> bool {
        self.elsewhere.is_some() && self.wanted_on.as_ref().is_none_or(|branch| !self.chains.contains_key(branch))
    }

    /// What is left of a search that found no place that is wanted: where the message joined a chain the last time, if
    /// it ever did.
    pub fn end(self) -> Option<Place> {
        self.elsewhere
    }

    fn joined(&mut self, n: Seq, written_on: &BranchId, messages: &[Joined], before: Option<&Link>) -> Option<Place> {
        let position = |id: &MessageId| messages.iter().position(|joined| joined.message_id == *id);
        let wanted = position(&self.message_id);
        let mut branches = BTreeSet::new();
        let reached = self.chains.iter().filter(|(_, link)| link.n == n);
        let reached: Vec<_> =
            reached.filter_map(|(id, link)| Some((id.clone(), position(&link.message_id)?))).collect();
        for (branch_id, last) in reached {
            match before {
                Some(link) => drop(self.chains.insert(branch_id.clone(), link.clone())),
                None => drop(self.chains.remove(&branch_id)),
            }
            if wanted.is_some_and(|wanted| wanted <= last) {
                branches.insert(branch_id);
            }
        }
        let wanted = wanted?;
        let link = |at: usize| Link {
            message_id: messages[at].message_id.clone(),
            n,
            depth: before.map_or(0, |before| before.depth + 1) + at as u64,
        };
        Some(Place {
            link: link(wanted),
            parent: wanted.checked_sub(1).map_or_else(|| before.cloned(), |at| Some(link(at))),
            role: messages[wanted].role,
            written_on: written_on.clone(),
            is_inside_batch: messages.get(wanted + 1).is_some_and(|next| next.role == Role::Tool),
            branches,
        })
    }
}
