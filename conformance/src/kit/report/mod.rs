//! What became of each vector, as text for people and as JSON for programs.

mod json;
mod text;

use std::time::Duration;

pub use json::FORMAT;

/// What became of all the vectors that were asked for.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was tried: a command, a socket.
    pub subject: String,
    /// Each vector, in the order of the files.
    pub results: Vec<VectorResult>,
    /// How long all of it took.
    pub took: Duration,
    /// Whether it was ended before every vector had its turn; these are among the results as not run.
    pub is_interrupted: bool,
}

/// What became of one vector.
#[derive(Clone, Debug)]
pub struct VectorResult {
    /// Its name.
    pub name: String,
    /// The file it is in, without its ending.
    pub topic: String,
    /// Why it exists.
    pub why: String,
    /// What became of it.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
}

/// What became of a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Passed,
    /// It does not hold.
    Failed {
        /// Where and why.
        failure: Failure,
    },
    /// It does not hold, and is listed as known to fail.
    Known {
        /// Why it is listed.
        reason: String,
        /// Where and why it failed this time.
        failure: Failure,
    },
    /// It holds and is listed as known to fail, which is an error of the list.
    PassedThoughKnown {
        /// Why it is listed.
        reason: String,
    },
    /// It had no turn.
    NotRun {
        /// Why.
        reason: String,
    },
}

/// Where a vector does not hold, and what happened until then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The number of the step, from 1, with those of repeated steps behind it: `3` or `3.2`. Empty when it failed
    /// outside of its steps.
    pub step: String,
    /// The step in words.
    pub doing: String,
    /// What should have been.
    pub expected: String,
    /// What was instead.
    pub came: String,
    /// The rule that was broken, where it is one of those that hold throughout: `seq`, `schema`, …
    pub rule: Option<String>,
    /// What was said on each connection.
    pub transcripts: Vec<Transcript>,
}

/// What was said on one connection, the newest lines of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The connection's name in the vector.
    pub connection: String,
    /// Lines that begin with `→` (sent to who is tried), `←` (from it) or `#` (what was done to the connection).
    pub lines: Vec<String>,
}

/// How many vectors came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that hold.
    pub passed: usize,
    /// Those that do not.
    pub failed: usize,
    /// Those that do not and are listed.
    pub known: usize,
    /// Those that hold although they are listed.
    pub passed_though_known: usize,
    /// Those that had no turn.
    pub not_run: usize,
}

impl Report {
    /// How many vectors came to what.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for result in &self.results {
            let count = match result.outcome {
                Outcome::Passed => &mut counts.passed,
                Outcome::Failed { .. } => &mut counts.failed,
                Outcome::Known { .. } => &mut counts.known,
                Outcome::PassedThoughKnown { .. } => &mut counts.passed_though_known,
                Outcome::NotRun { .. } => &mut counts.not_run,
            };
            *count += 1;
        }
        counts
    }

    /// Whether all came to what was expected of it: nothing failed that is not listed, and nothing passed that is.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        let counts = self.counts();
        counts.failed == 0 && counts.passed_though_known == 0 && !self.is_interrupted
    }
}

impl Outcome {
    /// Its word in the report.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed { .. } => "failed",
            Self::Known { .. } => "known",
            Self::PassedThoughKnown { .. } => "passedThoughKnown",
            Self::NotRun { .. } => "notRun",
        }
    }
}
