//! What a scenario is, and how the list of them becomes modules, tests and a table.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::Subject;

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
    pub(super) run: fn(Fresh) -> BoxFuture<'static, ()>,
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

/// Lists the scenarios of one topic, in its file: those that need only a wire, and those that need a clock to move. `$` is
/// passed in because a macro that makes a macro cannot write it. The tests of a topic are made by a macro of its name.
macro_rules! scenarios {
    ($d:tt $topic:ident wire: $($wire:ident)* ; clock: $($clock:ident)* ;) => {
        /// The scenarios of this topic.
        pub(super) const SCENARIOS: &[super::Scenario] = &[
            $(super::Scenario {
                name: stringify!($wire),
                topic: stringify!($topic),
                needs_clock: false,
                run: |subject| Box::pin($wire(subject)),
            },)*
            $(super::Scenario {
                name: stringify!($clock),
                topic: stringify!($topic),
                needs_clock: true,
                run: |subject| Box::pin($clock(subject)),
            },)*
        ];

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $topic {
            (all, $d run:path) => {
                mod $topic {
                    $(#[tokio::test] async fn $wire() { $d run(stringify!($topic), stringify!($wire)).await; })*
                    $(#[tokio::test] async fn $clock() { $d run(stringify!($topic), stringify!($clock)).await; })*
                }
            };
            (wire, $d run:path) => {
                mod $topic {
                    $(#[tokio::test] async fn $wire() { $d run(stringify!($topic), stringify!($wire)).await; })*
                }
            };
        }
    };
}

/// Lists the topics, each of which is a file.
macro_rules! topics {
    ($d:tt $($topic:ident)*) => {
        $(mod $topic;)*

        /// Every scenario, topic by topic.
        pub static SCENARIOS: std::sync::LazyLock<Vec<Scenario>> =
            std::sync::LazyLock::new(|| [$($topic::SCENARIOS),*].concat());

        /// Makes a test of each scenario, in a module a topic: `suite_tests!(all, run)` of all of them,
        /// `suite_tests!(wire, run)` of those that need no clock. Each calls `run(topic, name)`, an async function.
        #[macro_export]
        macro_rules! suite_tests {
            ($d which:ident, $d run:path) => {
                $($crate::$topic!($d which, $d run);)*
            };
        }
    };
}
