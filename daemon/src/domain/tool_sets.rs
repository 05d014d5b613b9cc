//! The tools clients have declared for a thread, and who holds their handlers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use ropewalk_protocol::{Annotations, ApprovalWish, ClientRef, Event, ToolsCause, ToolsChanged};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Change, DomainError, Fact, ToolSet};

/// A declared tool that has passed every check, with what follows from it. Equal when nothing of it changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientTool {
    /// What a model calls it, and its name in rules and approvals.
    pub flat_name: String,
    /// What rules and approvals bind to.
    pub digest: String,
    /// As declared.
    pub name: String,
    /// As declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// What its namespace is for, said by any declaration of the set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_description: Option<String>,
    /// As declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// As declared.
    pub description: String,
    /// As declared; none of the hints where there were no annotations.
    #[serde(default)]
    pub annotations: Annotations,
    /// As declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// As declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalWish>,
    /// JSON Schema of its arguments.
    pub input_schema: Arc<Value>,
    /// JSON Schema of its structured results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<Value>>,
}

/// A client that declares tools, or comes back to those it has declared.
#[derive(Clone, Debug)]
pub struct Declaring {
    /// Which process.
    pub client: ClientRef,
    /// Whether the process named itself, so that it can come back.
    pub lasting: bool,
    /// The new set; `None` keeps the old one.
    pub tools: Option<Vec<Arc<ClientTool>>>,
    /// Whether names held by others are taken over.
    pub takeover: bool,
    /// Owners that are not here: nobody holds their names, so that a new process of a program gets those of the one
    /// before it without asking.
    pub absent: BTreeSet<ClientRef>,
}

impl Change<'_> {
    /// Replaces a client's tools. Says nothing when nothing changes.
    ///
    /// # Errors
    /// [`DomainError::ToolBound`] when another instance that is here holds a name and no takeover is asked for.
    pub fn declare_tools(&mut self, declaring: &Declaring) -> Result<(), DomainError> {
        let Some(tools) = &declaring.tools else { return Ok(()) };
        let foreign = self.foreign_owners(&declaring.client);
        let held =
            |tool: &Arc<ClientTool>| foreign.get(&tool.flat_name).filter(|owner| !declaring.absent.contains(owner));
        let clash = tools.iter().find_map(|tool| held(tool).map(|owner| (&tool.flat_name, owner)));
        if let Some((flat_name, owner)) = clash
            && !declaring.takeover
        {
            return Err(DomainError::ToolBound { flat_name: flat_name.clone(), owner: owner.clone() });
        }
        let taken = clash.is_some();
        self.take_from_others(&declaring.client, tools);
        let before = self.state.tool_sets.get(&declaring.client).map(|set| set.tools.clone()).unwrap_or_default();
        let (added, removed, mut changed) = differences(&before, tools);
        // A name that another process had is not new to the thread.
        let (passed_on, added) = added.into_iter().partition(|name| foreign.contains_key(name));
        changed.extend::<Vec<String>>(passed_on);
        if !taken && added.is_empty() && removed.is_empty() && changed.is_empty() {
            return Ok(());
        }
        let cause = match (taken, tools.is_empty()) {
            (true, _) => ToolsCause::Takeover,
            (false, true) => ToolsCause::Withdrawn,
            (false, false) => ToolsCause::Declared,
        };
        let client_name = Some(declaring.client.client_name.clone());
        self.tools_changed(ToolsChanged { revision: 0, added, removed, changed, cause, client_name });
        self.fact(Fact::Tools {
            client_name: declaring.client.client_name.clone(),
            instance_id: declaring.client.instance_id.clone(),
            lasting: declaring.lasting,
            tools: tools.clone(),
        });
        Ok(())
    }

    /// Tells readers that tools are other than they were; the revision is filled in.
    pub fn tools_changed(&mut self, mut changed: ToolsChanged) {
        changed.revision = self.state.tools_revision + 1;
        self.event(Event::ToolsChanged(changed));
    }

    fn foreign_owners(&self, client: &ClientRef) -> BTreeMap<String, ClientRef> {
        let others = self.state.tool_sets.iter().filter(|(owner, _)| *owner != client);
        others.flat_map(|(owner, set)| set.tools.iter().map(|tool| (tool.flat_name.clone(), owner.clone()))).collect()
    }

    fn take_from_others(&mut self, client: &ClientRef, tools: &[Arc<ClientTool>]) {
        let losers: Vec<(ClientRef, ToolSet)> = self
            .state
            .tool_sets
            .iter()
            .filter(|(owner, _)| *owner != client)
            .map(|(o, s)| (o.clone(), s.clone()))
            .collect();
        for (owner, set) in losers {
            let kept: Vec<Arc<ClientTool>> = set
                .tools
                .iter()
                .filter(|held| tools.iter().all(|tool| tool.flat_name != held.flat_name))
                .cloned()
                .collect();
            if kept.len() < set.tools.len() {
                self.fact(Fact::Tools {
                    client_name: owner.client_name,
                    instance_id: owner.instance_id,
                    lasting: set.lasting,
                    tools: kept,
                });
            }
        }
    }
}

/// Flat names that are new, gone and other.
fn differences(before: &[Arc<ClientTool>], after: &[Arc<ClientTool>]) -> (Vec<String>, Vec<String>, Vec<String>) {
    let name_of = |tool: &Arc<ClientTool>| tool.flat_name.clone();
    let was = |tool: &&Arc<ClientTool>| before.iter().find(|old| old.flat_name == tool.flat_name);
    let added = after.iter().filter(|tool| was(tool).is_none()).map(name_of).collect();
    let removed =
        before.iter().filter(|old| after.iter().all(|tool| tool.flat_name != old.flat_name)).map(name_of).collect();
    let changed = after.iter().filter(|tool| was(tool).is_some_and(|old| old != *tool)).map(name_of).collect();
    (added, removed, changed)
}
