//! Which items belong to a branch: its own, and those of the branches it comes from, up to where it left them.

use std::collections::HashMap;

use ropewalk_protocol::{Branch, BranchId, Event, Item, ItemBody, MessageId};

/// A branch and those it comes from, as its items go by in the order of the log.
#[derive(Debug)]
pub(super) struct Lineage {
    /// The branches whose items belong to it still, each with the message its child follows.
    open: HashMap<BranchId, Option<MessageId>>,
    /// The child of each.
    children: HashMap<BranchId, BranchId>,
}

impl Lineage {
    /// The lineage of a branch; none where there is no such branch.
    pub(super) fn of(branch_id: &str, branches: &[Branch]) -> Option<Self> {
        let find = |id: &str| branches.iter().find(|branch| branch.branch_id.as_str() == id);
        let mut branch = find(branch_id)?;
        let mut open = HashMap::from([(branch.branch_id.clone(), None)]);
        let mut children = HashMap::new();
        while let Some(parent) = branch.parent_branch_id.as_deref().and_then(find) {
            let is_known = open.insert(parent.branch_id.clone(), branch.root_message_id.clone()).is_some();
            children.insert(parent.branch_id.clone(), branch.branch_id.clone());
            if is_known {
                break;
            }
            branch = parent;
        }
        Some(Self { open, children })
    }

    /// An event goes by: with the first one of a child, its parent's items belong to the lineage no longer.
    pub(super) fn passes(&mut self, event: &Event) {
        if let Event::BranchUpdated { branch } = event {
            self.open.retain(|id, _| self.children.get(id) != Some(&branch.branch_id));
        }
    }

    /// Whether what happens on the branch now belongs to the lineage.
    pub(super) fn covers(&self, branch_id: &BranchId) -> bool {
        self.open.contains_key(branch_id)
    }

    /// Whether the item that goes by belongs to the lineage. The message a child follows is the last one of its parent.
    pub(super) fn has(&mut self, item: &Item) -> bool {
        let Some(last) = self.open.get(&item.branch_id) else { return false };
        let is_last = last.is_some() && message_of(item) == last.as_ref();
        if is_last {
            self.open.remove(&item.branch_id);
        }
        true
    }
}

fn message_of(item: &Item) -> Option<&MessageId> {
    match &item.body {
        ItemBody::UserMessage { message_id, .. } | ItemBody::AssistantMessage { message_id, .. } => Some(message_id),
        ItemBody::Reasoning { .. } | ItemBody::ToolCall(_) | ItemBody::Notice { .. } => None,
    }
}
