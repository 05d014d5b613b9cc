//! What part of a window is for what. The numbers are told in docs/context.md.

use ropewalk_protocol::ContextLayerName;

/// The window of a model nobody knows anything about, in tokens.
pub const DEFAULT_WINDOW: u64 = 128_000;
/// The smallest window that is believed, whatever a provider seems to say.
pub const SMALLEST_WINDOW: u64 = 1_024;

/// Of the window, kept free for the answer where its length is not limited.
const RESERVE_DIVISOR: u64 = 8;
/// The most that is kept free for an answer whose length is not limited.
const RESERVE_CEILING: u64 = 16_384;
/// Percent of what the reserve leaves from which on the chain is compacted.
const THRESHOLD_PERCENT: u64 = 80;
/// Percent of the window for definitions of tools.
const TOOLS_PERCENT: u64 = 25;
/// Percent of the window for one result.
const RESULT_PERCENT: u64 = 25;
/// Percent of what the reserve leaves that a summary may take.
const SUMMARY_PERCENT: u64 = 10;
/// The most a summary may take.
const SUMMARY_CEILING: u64 = 4_000;
/// The most an index of memory may take, however large the window is.
const MEMORY_CEILING: u64 = 2_048;
/// The line with the ids has the same length in every window.
const RUN_LINE_TOKENS: u64 = 256;

/// What a window has room for, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// The window.
    pub window: u64,
    /// What a request may have: the window without what is kept free for the answer.
    pub request: u64,
    /// What a request may have before its chain is compacted.
    pub threshold: u64,
    /// The definitions of all tools.
    pub tools: u64,
    /// What one result may bring into the chain.
    pub result: u64,
    /// A summary.
    pub summary: u64,
}

impl Budgets {
    /// The budgets of a window, for answers of at most `max_output_tokens`.
    #[must_use]
    pub fn of(window: u64, max_output_tokens: Option<u64>) -> Self {
        let by_itself = (window / RESERVE_DIVISOR).min(RESERVE_CEILING);
        // An output limit of the size of the window must leave something to ask with.
        let reserve = max_output_tokens.unwrap_or(by_itself).min(window / 2);
        let request = window - reserve;
        Self {
            window,
            request,
            threshold: percent(request, THRESHOLD_PERCENT),
            tools: percent(window, TOOLS_PERCENT),
            result: percent(window, RESULT_PERCENT),
            summary: percent(request, SUMMARY_PERCENT).min(SUMMARY_CEILING),
        }
    }

    /// What a layer may have.
    #[must_use]
    pub fn layer(&self, name: ContextLayerName) -> u64 {
        match name {
            ContextLayerName::Base | ContextLayerName::ProjectInstructions | ContextLayerName::WorkspaceFiles => {
                percent(self.window, 8).min(16_000)
            }
            ContextLayerName::MemoryIndex => percent(self.window, 4).min(MEMORY_CEILING),
            ContextLayerName::RunLine => RUN_LINE_TOKENS,
        }
    }
}

const fn percent(of: u64, percent: u64) -> u64 {
    // The division comes first where the product would be too large: nothing a person could have configured.
    match of.checked_mul(percent) {
        Some(product) => product / 100,
        None => of / 100 * percent,
    }
}
