//! What every Ropewalk daemon does, as a program on its wire sees it: a list of named scenarios.
//!
//! A [`Subject`] is a daemon to try: it opens connections and, where it can, lets time pass. A [`Scenario`] is one
//! claim about it, a sentence that begins with the number of its requirement where it has one; it panics when the claim
//! does not hold. Each topic is a file that lists its own; [`SCENARIOS`] has all of them, and
//! [`suite_tests`](crate::suite_tests) makes a test of each.

#![allow(clippy::unwrap_used, reason = "a panic is how a scenario fails")]

#[macro_use]
mod scenario;
mod raw;
mod received;
mod session;
mod subject;
mod things;

pub use first_run::{ORDER, play};
pub use raw::Raw;
pub use received::{endpoint, same_as_shown};
pub use scenario::{Fresh, Scenario};
pub(crate) use session::all_closed;
pub use session::{assert_all_closed, client_tools, get_issue, success, text, told_text, tool, tool_with};
pub use subject::{Duplex, Stream, Subject};

/// The scenario with this name, in this topic.
#[must_use]
pub fn find(topic: &str, name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.topic == topic && scenario.name == name)
}

topics! { $
    app_runs
    app_security
    app_threads
    app_tools
    approving
    attending
    branching
    budgets
    calling
    conflicting
    contending
    compacting
    deleting
    declaring
    endings
    endpoints
    first_run
    histories
    images
    leaving
    limits
    keeping
    listing
    messages
    outputs
    owning
    promises
    providers
    questions
    queueing
    queue_edits
    refusing
    remarks
    remembering
    past
    recovering
    repeating
    replacing
    resuming
    retrying
    ruling
    searching
    sharing
    signals
    stopping
    timing
    watching
    windows
}
