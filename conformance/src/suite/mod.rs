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
    approving {
        wire:
            dyn_21_each_call_that_asks_is_asked_about_once
            dyn_22_accept_holds_for_one_call
            dyn_22_accept_for_session_is_a_rule_of_the_thread
            dyn_22_accept_always_is_a_rule_of_the_project_or_of_all
            dyn_22_decline_refuses_the_call_tells_the_model_the_note_and_the_run_goes_on
            dyn_22_cancel_refuses_the_call_and_stops_the_run_with_every_later_call
            dyn_23_a_run_that_stops_tells_the_one_who_was_asked
            dyn_24_only_who_claimed_the_capability_is_asked
            a_refused_answer_is_asked_again_and_the_fourth_time_counts_as_not_i;
        clock:;
    }
    calling {
        wire:
            dyn_10_success_needs_at_least_one_content_item
            dyn_11_structured_content_reaches_clients_and_never_the_model
            dyn_12_a_failure_needs_a_code_and_a_message
            dyn_12_an_odd_result_settles_the_call_as_invalid
            dyn_13_an_answer_of_method_not_found_is_an_unsupported_tool
            dyn_14_any_other_error_as_answer_is_a_failed_call_and_the_client_goes_on
            dyn_16_a_call_carries_thread_run_call_namespace_tool_and_arguments
            dyn_17_bad_arguments_never_reach_the_handler
            dyn_17_arguments_are_repaired_before_the_check_and_both_are_recorded
            calls_of_one_message_run_in_order_and_each_has_its_own_id;
        clock:;
    }
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
    endings {
        wire:
            dyn_31_without_anybody_who_could_answer_an_approval_is_undeliverable_at_once
            with_unattended_wait_an_approval_waits_for_whoever_attaches;
        clock:
            dyn_31_the_endings_of_an_approval_differ_in_event_record_and_text
            dyn_31_the_endings_of_a_question_differ_in_event_record_and_text
            a_client_that_just_left_counts_for_the_grace_and_no_longer;
    }
    stopping {
        wire:
            dyn_39_a_stop_while_the_model_is_thinking_leaves_nothing_open
            dyn_39_a_stop_while_text_streams_keeps_what_was_said
            dyn_39_a_stop_while_an_approval_is_open_settles_it
            dyn_39_a_stop_while_a_question_is_open_settles_it
            dyn_33_a_stop_tells_the_client_to_stop_working_on_a_call
            dyn_39_stops_at_any_moment_leave_every_item_and_interaction_closed
            transcript_e_a_stop_in_a_batch_of_three_holds_what_waits
            a_stop_with_nothing_to_stop_changes_nothing_and_is_answered
            a_stop_of_a_queued_run_by_its_id_removes_it;
        clock:;
    }
    timing {
        wire:;
        clock:
            dyn_34_progress_resets_the_silence_and_a_silent_call_ends
            dyn_34_the_ceiling_ends_a_call_however_lively_it_is
            dyn_33_a_timeout_tells_the_client_to_stop_and_its_late_result_is_ignored
            waiting_on_names_the_sooner_of_silence_and_ceiling
            an_approval_carries_its_deadline_and_another_setting_changes_it
            a_call_whose_owner_stays_away_ends_as_outcome_unknown_after_the_grace
            run_wait_times_out_without_an_error;
    }
}
