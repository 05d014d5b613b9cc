//! What every Ropewalk daemon does, as a program on its wire sees it: a list of named scenarios.
//!
//! A [`Subject`] is a daemon to try: it opens connections and, where it can, lets time pass. A [`Scenario`] is one
//! claim about it, a sentence that begins with the number of its requirement where it has one; it panics when the claim
//! does not hold. [`SCENARIOS`] has all of them, and [`suite_tests`](crate::suite_tests) makes a test of each.

#![allow(clippy::unwrap_used, reason = "a panic is how a scenario fails")]

mod raw;
mod session;
mod subject;

pub use raw::Raw;
pub use session::{assert_all_closed, get_issue, success, text, told_text, tool, tool_with};
pub use subject::{Duplex, Stream, Subject};

use futures::future::BoxFuture;
use std::sync::Arc;

/// A fresh daemon under test, for one scenario.
pub type Fresh = Arc<dyn Subject>;

/// One claim about a daemon.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// The sentence, with underscores.
    pub name: &'static str,
    /// What it is about.
    pub topic: &'static str,
    /// Whether it lets time pass, so that only a daemon with a manual clock can be tried.
    pub needs_clock: bool,
    run: fn(Fresh) -> BoxFuture<'static, ()>,
}

impl Scenario {
    /// Tries a daemon that nothing was done to yet.
    ///
    /// # Panics
    /// When the claim does not hold.
    pub async fn run(&self, subject: Fresh) {
        (self.run)(subject).await;
    }
}

/// The scenario with this name, in this topic.
#[must_use]
pub fn find(topic: &str, name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.topic == topic && scenario.name == name)
}

/// Lists the scenarios of each topic: those that need only a wire, and those that need a clock to move. `$` is passed in
/// because a macro that makes a macro cannot write it.
macro_rules! scenarios {
    ($d:tt $($topic:ident { wire: $($wire:ident)* ; clock: $($clock:ident)* ; })*) => {
        $(mod $topic;)*

        /// Every scenario.
        pub const SCENARIOS: &[Scenario] = &[$(
            $(Scenario {
                name: stringify!($wire),
                topic: stringify!($topic),
                needs_clock: false,
                run: |subject| Box::pin($topic::$wire(subject)),
            },)*
            $(Scenario {
                name: stringify!($clock),
                topic: stringify!($topic),
                needs_clock: true,
                run: |subject| Box::pin($topic::$clock(subject)),
            },)*
        )*];

        /// Makes a test of each scenario, in a module a topic: `suite_tests!(all, run)` of all of them,
        /// `suite_tests!(wire, run)` of those that need no clock. Each calls `run(topic, name)`, an async function.
        #[macro_export]
        macro_rules! suite_tests {
            (all, $d run:path) => {
                $(mod $topic {
                    $(#[tokio::test] async fn $wire() { $d run(stringify!($topic), stringify!($wire)).await; })*
                    $(#[tokio::test] async fn $clock() { $d run(stringify!($topic), stringify!($clock)).await; })*
                })*
            };
            (wire, $d run:path) => {
                $(mod $topic {
                    $(#[tokio::test] async fn $wire() { $d run(stringify!($topic), stringify!($wire)).await; })*
                })*
            };
        }
    };
}

scenarios! { $
    declaring {
        wire:
            dyn_1_tools_are_declared_when_a_thread_is_started_or_resumed
            dyn_2_a_handler_is_gone_with_its_client
            dyn_3_a_declaration_that_misses_a_field_is_refused_with_its_path
            dyn_4_the_model_is_shown_the_description_of_a_namespace
            dyn_35_annotations_and_schemas_are_shown_and_an_approval_wish_asks
            dyn_35_an_output_schema_refuses_what_does_not_fit_it
            a_declaration_is_closed_and_names_what_it_does_not_know
            a_name_that_another_process_holds_is_a_conflict_without_takeover;
        clock:
            dyn_35_a_timeout_of_the_declaration_ends_a_silent_call;
    }
}
