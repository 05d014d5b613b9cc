//! Which messages of a log are on a chain: those that a head leads to. What a retry, a replacement or the deletion of a branch
//! left behind stays in the log and is nobody's any more (ruling 32).

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hasher as _},
};

use ropewalk_protocol::{MessageId, Seq};

use crate::domain::Link;

/// All messages that ever joined, each with the one before it. A few dozen bytes a message, for one thread at a time.
#[derive(Default)]
pub(super) struct Lineage {
    places: HashMap<u64, usize>,
    messages: Vec<Node>,
}

struct Node {
    place: u64,
    message: u64,
    parent: Option<usize>,
}

impl Lineage {
    /// A message joins, behind another one or as the first.
    pub(super) fn joined(&mut self, n: Seq, message_id: &MessageId, parent: Option<(Seq, &MessageId)>) {
        let parent = parent.and_then(|(n, id)| self.places.get(&place(n, id)).copied());
        let node = Node { place: place(n, message_id), message: hash(message_id), parent };
        self.places.insert(node.place, self.messages.len());
        self.messages.push(node);
    }

    /// What no head leads to. A message that joined more than once counts where it did first.
    pub(super) fn dead(self, heads: &[Link]) -> Dead {
        let mut living = HashSet::new();
        for head in heads {
            let mut next = self.places.get(&place(head.n, &head.message_id)).copied();
            while let Some(node) = next.filter(|at| living.insert(*at)).and_then(|at| self.messages.get(at)) {
                next = node.parent;
            }
        }
        let mut seen = HashSet::new();
        let is_dead = |(at, node): &(usize, &Node)| !(living.contains(at) && seen.insert(node.message));
        Dead(self.messages.iter().enumerate().filter(is_dead).map(|(_, node)| node.place).collect())
    }
}

/// The messages of a log that are on no chain that is meant.
pub(super) struct Dead(HashSet<u64>);

impl Dead {
    pub(super) fn has(&self, n: Seq, message_id: &MessageId) -> bool {
        self.0.contains(&place(n, message_id))
    }
}

/// Stands for a message where it joined. Two that are one in 2^64 are not told apart.
fn place(n: Seq, message_id: &MessageId) -> u64 {
    hash((n, message_id.as_str()))
}

fn hash(of: impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
