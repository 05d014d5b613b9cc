//! Rules that allowed a tool before anybody had seen it get the digest it has when it is seen.

use std::sync::Arc;

use ropewalk_protocol::{Policy, PolicyChanged, PolicyDecision, PolicyId};

use super::{
    Caller, Catalogue, Refusal, Snapshot,
    policies::{existing_policy, put},
    writer::Decision,
};

/// A tool as rules name it, and the digest it has.
#[derive(Clone, Debug)]
pub struct SeenTool {
    /// Its source.
    pub source: String,
    /// Its name in rules.
    pub name: String,
    /// Its digest.
    pub digest: String,
}

impl Catalogue {
    /// An `allow` on a tool that was never seen holds for the digest it has when it is (ruling 25). Gives all of those that
    /// are about tools which are seen now theirs.
    pub async fn pin_rules(self: &Arc<Self>, seen: Vec<SeenTool>) {
        for (id, digest) in to_pin(&self.snapshot(), seen) {
            if let Err(refusal) = self.pin_digest(&id, digest).await {
                tracing::warn!(%refusal, policy = %id, "a rule could not be bound to the tool it allows");
            }
        }
    }

    /// Gives an `allow` on a tool that was never seen the digest the tool has now that it is. A rule that has a
    /// digest, or was changed meanwhile, is left alone and answered as it is.
    ///
    /// # Errors
    /// When there is no such rule, or the store fails.
    pub async fn pin_digest(self: &Arc<Self>, id: &PolicyId, digest: String) -> Result<Policy, Refusal> {
        let (id, tools) = (id.clone(), self.tool_lookup());
        let pinned = self.change(Caller::default(), move |snapshot, moment| {
            let policy = existing_policy(snapshot, &id)?;
            let mut policy = (**policy).clone();
            match &mut policy.tool {
                Some(tool) if policy.decision == PolicyDecision::Allow && tool.digest.is_none() => {
                    tool.digest = Some(digest);
                }
                _ => return Ok(Decision::nothing(PolicyChanged { policy, replayed: false })),
            }
            policy.revision += 1;
            Ok(put(snapshot, moment, policy, tools))
        });
        Ok(pinned.await?.policy)
    }
}

fn to_pin(snapshot: &Snapshot, seen: Vec<SeenTool>) -> Vec<(PolicyId, String)> {
    let is_unpinned = |policy: &&Arc<Policy>| {
        policy.decision == PolicyDecision::Allow && policy.tool.as_ref().is_some_and(|named| named.digest.is_none())
    };
    let unpinned: Vec<_> = snapshot.policies.values().filter(is_unpinned).collect();
    let mut found = Vec::new();
    for tool in seen.into_iter().filter(|_| !unpinned.is_empty()) {
        let names = |policy: &&&Arc<Policy>| {
            policy.tool.as_ref().is_some_and(|named| named.source == tool.source && named.name == tool.name)
        };
        found.extend(unpinned.iter().filter(names).map(|policy| (policy.policy_id.clone(), tool.digest.clone())));
    }
    found
}
