//! The report as text: a line for each vector that is not simply fine, the failures whole, and the counts.

use std::fmt;

use super::{Failure, Outcome, Report, VectorResult};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for result in &self.results {
            write!(f, "{result}")?;
        }
        let counts = self.counts();
        write!(f, "{}: {} passed, {} failed", self.subject, counts.passed, counts.failed)?;
        for (count, what) in [
            (counts.known, "known to fail"),
            (counts.passed_though_known, "passed though listed as known to fail"),
            (counts.not_run, "not run"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        let ending = if self.is_interrupted { "; interrupted" } else { "" };
        writeln!(f, " ({:.1} s{ending})", self.took.as_secs_f64())
    }
}

impl fmt::Display for VectorResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, topic, why, outcome, .. } = self;
        match outcome {
            Outcome::Passed => Ok(()),
            Outcome::Failed { failure } => writeln!(f, "FAILED  {topic}/{name}\n  why it matters: {why}\n{failure}"),
            Outcome::Known { reason, failure } => {
                writeln!(f, "known   {topic}/{name}: {reason} (step {}: {})", failure.step, failure.came)
            }
            Outcome::PassedThoughKnown { reason } => {
                writeln!(f, "PASSED  {topic}/{name}, which is listed as known to fail: {reason}. Take it off the list.")
            }
            Outcome::NotRun { reason } => writeln!(f, "not run {topic}/{name}: {reason}"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.step.is_empty() {
            writeln!(f, "  step {}: {}", self.step, self.doing)?;
        }
        if let Some(rule) = &self.rule {
            writeln!(f, "  rule that holds throughout: {rule}")?;
        }
        writeln!(f, "  expected: {}\n  came: {}", self.expected, self.came)?;
        for said in &self.transcripts {
            writeln!(f, "  on connection {}:", said.connection)?;
            said.lines.iter().try_for_each(|line| writeln!(f, "    {line}"))?;
        }
        Ok(())
    }
}
