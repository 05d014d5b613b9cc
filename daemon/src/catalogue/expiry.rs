//! The end of operations that were kept for as long as was promised, and of rules that held for as long as was said.

use std::sync::Arc;

use ropewalk_protocol::{Timestamp, limits::OPERATION_RETENTION_MS};

use super::{
    Caller, Catalogue, Refusal,
    document::{DocumentChange, Noun},
    facts::OtherFact,
    policies::has_expired,
    writer::Decision,
};
use crate::store::next_to_expire;

/// Operations that one record lets expire, about; the next one goes on with the rest.
const OPERATIONS_AT_ONCE: usize = 1_000;

/// Rules that one record forgets.
const RULES_AT_ONCE: usize = 1_000;

impl Catalogue {
    /// Lets about a thousand of the oldest operations expire that are older than what is promised. A record says so, so
    /// that an index that is built anew does not bring them back. Whether there may be more of them.
    ///
    /// # Errors
    /// When the index cannot be read, or the record cannot be stored.
    pub async fn expire_operations(self: &Arc<Self>) -> Result<bool, Refusal> {
        let kept = i64::try_from(OPERATION_RETENTION_MS).unwrap_or(i64::MAX);
        let limit = Timestamp::from_millis(self.clock.now().as_millis().saturating_sub(kept));
        let Some(before) = next_to_expire(&*self.store, limit, OPERATIONS_AT_ONCE)? else { return Ok(false) };
        self.change(Caller::default(), move |_, _| {
            Ok(Decision::nothing(before < limit).with(vec![OtherFact::OperationsExpired { before }], Vec::new()))
        })
        .await
    }

    /// Forgets rules that have expired, a bounded number at once. They have held no longer since then; how many there were.
    ///
    /// # Errors
    /// When the record cannot be stored.
    pub async fn forget_expired_rules(self: &Arc<Self>) -> Result<usize, Refusal> {
        let now = self.clock.now();
        if !self.snapshot().policies.values().any(|policy| has_expired(policy, now)) {
            return Ok(0);
        }
        self.change(Caller::default(), |snapshot, moment| {
            let expired =
                snapshot.policies.values().filter(|policy| has_expired(policy, moment.now)).take(RULES_AT_ONCE);
            let changes: Vec<_> =
                expired.map(|policy| DocumentChange::Remove(Noun::Policy, policy.policy_id.to_string())).collect();
            let count = changes.len();
            Ok(Decision::new(changes, move |_| count))
        })
        .await
    }
}
