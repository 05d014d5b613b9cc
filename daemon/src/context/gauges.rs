//! What was learned of models while this daemon lives: how far estimates are off, and how small windows really are.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use ropewalk_protocol::{BranchId, Endpoint, EndpointId, MessageId, Revision};

use super::budgets::SMALLEST_WINDOW;

/// Models something is remembered of, and chains, and definitions: more than anybody has at once.
const REMEMBERED: usize = 4_096;
/// Requests smaller than this say more about what is around them than about how their text is counted.
const TELLING_TOKENS: u64 = 200;
/// Percent an estimate is multiplied with, at least and at most.
const RATIO: (u64, u64) = (60, 300);

/// A model of an endpoint as it is configured: what was learned of it ends with a change of either.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelKey {
    endpoint_id: EndpointId,
    model: String,
    revision: Revision,
}

impl ModelKey {
    /// The model of an endpoint.
    #[must_use]
    pub fn of(endpoint: &Endpoint) -> Self {
        Self { endpoint_id: endpoint.endpoint_id.clone(), model: endpoint.model.clone(), revision: endpoint.revision }
    }
}

/// What a request was measured with: the chain it belongs to, and what was estimated of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// The model that is asked.
    pub key: ModelKey,
    /// The branch whose chain is sent, and what the chain begins with; `None` for a request beside every chain.
    pub chain: Option<(BranchId, Option<MessageId>)>,
    /// The tokens estimated.
    pub estimated: u64,
}

/// What was learned of all models.
#[derive(Debug, Default)]
pub struct Gauges {
    models: Mutex<BTreeMap<ModelKey, Gauge>>,
    chains: Mutex<HashMap<BranchId, Counted>>,
    definitions: Mutex<HashMap<(String, usize), u64>>,
}

#[derive(Clone, Copy, Debug)]
struct Gauge {
    ratio_percent: u64,
    window: Option<u64>,
    /// The provider has refused as too long what by its own counts was short: its counts are not to be believed.
    miscounts: bool,
}

/// The last request of a chain whose tokens its provider has counted.
#[derive(Clone, Debug)]
struct Counted {
    measure: Measure,
    reported: u64,
}

impl Gauges {
    /// How many tokens a request is expected to have: what the provider counted for the last one of this chain and what
    /// was added since, else the estimate as this model's ratio corrects it.
    #[must_use]
    pub fn expected(&self, measure: &Measure) -> u64 {
        let corrected = |tokens| self.corrected(&measure.key, tokens);
        let chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        let last = measure.chain.as_ref().and_then(|(branch, _)| chains.get(branch));
        let last = last.filter(|last| last.measure.key == measure.key && last.measure.chain == measure.chain);
        match last {
            Some(last) if last.measure.estimated <= measure.estimated => {
                last.reported + corrected(measure.estimated - last.measure.estimated)
            }
            _ => corrected(measure.estimated),
        }
    }

    /// An estimate as this model's ratio corrects it.
    #[must_use]
    pub fn corrected(&self, key: &ModelKey, tokens: u64) -> u64 {
        (tokens * self.ratio_percent(key)).div_ceil(100)
    }

    /// By how many percent of themselves estimates for a model are to be taken.
    #[must_use]
    pub fn ratio_percent(&self, key: &ModelKey) -> u64 {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        models.get(key).map_or(100, |gauge| gauge.ratio_percent)
    }

    /// A provider has counted the tokens of a request. A ratio grows at once and shrinks slowly: a request that is too long
    /// costs more than one that is too short.
    pub fn counted(&self, measure: &Measure, reported: u64) {
        if reported == 0 || self.miscounts(&measure.key) {
            return;
        }
        if measure.estimated >= TELLING_TOKENS {
            let seen = (reported.saturating_mul(100) / measure.estimated).clamp(RATIO.0, RATIO.1);
            self.change(&measure.key, |gauge| {
                let known = gauge.ratio_percent;
                gauge.ratio_percent = if seen >= known { seen } else { (known * 3 + seen) / 4 };
            });
        }
        let Some((branch, _)) = &measure.chain else { return };
        let mut chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        if chains.len() >= REMEMBERED {
            chains.clear();
        }
        chains.insert(branch.clone(), Counted { measure: measure.clone(), reported });
    }

    /// The window a model has shown to have, where it is smaller than what was believed.
    #[must_use]
    pub fn window(&self, key: &ModelKey) -> Option<u64> {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        models.get(key).and_then(|gauge| gauge.window)
    }

    /// A provider has refused a request because it is longer than the window: from now on the window counts as what the
    /// refusal says, else as half of what did not fit. A request that would fit into any window teaches nothing.
    pub fn refused(&self, measure: &Measure, believed: u64, says: &str) {
        if self.expected(measure).saturating_mul(100) < measure.estimated.saturating_mul(RATIO.0) {
            self.change(&measure.key, |gauge| (gauge.ratio_percent, gauge.miscounts) = (100, true));
            let mut chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
            chains.retain(|_, counted| counted.measure.key != measure.key);
        }
        let size = self.expected(measure).min(believed);
        if size <= SMALLEST_WINDOW {
            return;
        }
        let told = window_told(says).filter(|told| (SMALLEST_WINDOW..believed).contains(told));
        let window = told.unwrap_or(size / 2).max(SMALLEST_WINDOW);
        self.change(&measure.key, |gauge| gauge.window = Some(gauge.window.map_or(window, |known| known.min(window))));
    }

    /// The tokens of a definition, worked out once for a digest and the length of what is said about it.
    pub fn definition(&self, digest: &str, length: usize, count: impl FnOnce() -> u64) -> u64 {
        let mut known = self.definitions.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        *known.entry((digest.to_owned(), length)).or_insert_with(count)
    }

    fn miscounts(&self, key: &ModelKey) -> bool {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        models.get(key).is_some_and(|gauge| gauge.miscounts)
    }

    fn change(&self, key: &ModelKey, change: impl FnOnce(&mut Gauge)) {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if models.len() >= REMEMBERED && !models.contains_key(key) {
            models.clear();
        }
        change(models.entry(key.clone()).or_insert(Gauge { ratio_percent: 100, window: None, miscounts: false }));
    }
}

/// The window a refusal names: the number behind or before a word such as maximum or limit.
fn window_told(says: &str) -> Option<u64> {
    let text = says.to_lowercase().replace(',', "");
    let mut after = 0;
    for (at, _) in text.match_indices(|c: char| c.is_ascii_digit()) {
        if at < after {
            continue;
        }
        let digits: &str = text[at..].split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        after = at + digits.len();
        let before = text[..at].rsplit(|c: char| c.is_ascii_digit() || c == '.').next().unwrap_or_default();
        let behind = text[after..].split(|c: char| c.is_ascii_digit() || c == '.').next().unwrap_or_default();
        let names =
            ["maximum", "max ", "limit", "window", "context length", "context size", "n_ctx", "allowed", "at most"];
        let is_named = names.iter().any(|name| before.contains(name)) || behind.trim_start().starts_with("maximum");
        if let (true, Ok(window)) = (is_named, digits.parse()) {
            return Some(window);
        }
    }
    None
}
