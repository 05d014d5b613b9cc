//! Noticing that a run goes in a circle: what its calls came to, and how many steps in a row brought nothing new.

use std::collections::VecDeque;

use ropewalk_protocol::RunId;
use serde::{Deserialize, Serialize};

use super::{Change, Fact};

/// Results that are remembered of a run. A circle of more calls than that is not noticed; a row of the index has room for
/// no more.
const RESULTS: usize = 192;

/// What a run's calls have come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Repeats {
    /// How many steps in a row have repeated calls and results of earlier steps, and nothing else.
    pub row: u64,
    /// Digests of calls with their results, the oldest first.
    seen: VecDeque<String>,
    /// Whether a call of the step under way has a result.
    has_results: bool,
    /// Whether one of them is new.
    has_news: bool,
}

impl Repeats {
    /// What [`Fact::Result`] does.
    pub(super) fn result(&mut self, digest: &str) {
        self.has_results = true;
        if self.seen.iter().any(|known| known == digest) {
            return;
        }
        self.has_news = true;
        self.seen.push_back(digest.to_owned());
        if self.seen.len() > RESULTS {
            self.seen.pop_front();
        }
    }

    /// Every call of a step has its result.
    pub(super) fn step_is_over(&mut self) {
        let repeats = self.has_results && !self.has_news;
        self.row = if repeats { self.row + 1 } else { 0 };
        self.has_results = false;
        self.has_news = false;
    }
}

impl Change<'_> {
    /// Remembers what a call came to, before it is completed. `digest` stands for its name, its arguments and its result.
    pub fn call_came_to(&mut self, run_id: &RunId, digest: String) {
        self.fact(Fact::Result { run_id: run_id.clone(), digest });
    }

    /// How many steps in a row have repeated earlier ones. Right after a step's last result it counts that step.
    #[must_use]
    pub fn repeated_steps(&self, run_id: &RunId) -> u64 {
        self.state.runs.get(run_id).filter(|state| state.batch.is_none()).map_or(0, |state| state.repeats.row)
    }
}
