//! What people have refused in a run, so that the same call does not ask them over and over (K12).

use std::collections::VecDeque;

use ropewalk_protocol::{CallDecision, DecidedVia};
use serde::{Deserialize, Serialize};

/// Refusals that are remembered of a run; one that is older may be asked about again.
const REFUSALS: usize = 16;
/// How often a call is asked about that was refused with a note: the note may have said what is to be done first.
const WITH_A_NOTE: u64 = 2;

/// What people have refused in a run, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusals(VecDeque<Refusal>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refusal {
    /// Stands for the tool and the arguments that were shown.
    digest: String,
    decision: CallDecision,
    times: u64,
}

impl Refusals {
    /// Whether nothing was refused.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A decision about a call that was shown with this digest; only a person's refusal is remembered.
    pub(super) fn note(&mut self, digest: &str, decision: &CallDecision) {
        if decision.via != DecidedVia::Person || decision.decision != "decline" {
            return;
        }
        let known = self.0.iter().position(|refusal| refusal.digest == digest);
        let times = known.and_then(|at| self.0.remove(at)).map_or(0, |refusal| refusal.times);
        self.0.push_back(Refusal { digest: digest.to_owned(), decision: decision.clone(), times: times + 1 });
        if self.0.len() > REFUSALS {
            self.0.pop_front();
        }
    }

    /// The refusal that settles a call without asking anybody again.
    #[must_use]
    pub fn final_of(&self, digest: &str) -> Option<&CallDecision> {
        let refusal = self.0.iter().find(|refusal| refusal.digest == digest)?;
        let is_final = refusal.decision.note.is_none() || refusal.times >= WITH_A_NOTE;
        is_final.then_some(&refusal.decision)
    }
}
