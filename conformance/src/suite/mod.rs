//! What every Ropewalk daemon does, as a program on its wire sees it: a list of named scenarios.
//!
//! A [`Subject`] is a daemon to try: it opens connections and, where it can, lets time pass. A [`Scenario`] is one
//! claim about it, a sentence that begins with the number of its requirement where it has one; it panics when the claim
//! does not hold. [`SCENARIOS`] has all of them, and [`suite_tests`](crate::suite_tests) makes a test of each.

#![allow(clippy::unwrap_used, reason = "a panic is how a scenario fails")]

mod raw;
mod received;
mod session;
mod subject;

pub use first_run::{ORDER, play};
pub use raw::Raw;
pub use received::{endpoint, same_as_shown};
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
            a_refused_answer_is_asked_again_and_the_fourth_time_counts_as_not_i
            a16_a_tool_that_changed_while_its_approval_was_open_is_asked_about_again;
        clock:;
    }
    budgets {
        wire:
            a_run_over_its_budget_of_calls_is_parked_before_the_next_and_resumed_under_its_id
            a_run_over_its_budget_of_tokens_is_parked_before_it_asks_its_model_again
            a_paused_run_is_stopped_like_any_other
            ruling_15_a_run_whose_endpoint_is_switched_off_is_parked_and_goes_on_with_it
            k12_a_run_that_repeats_itself_is_told_and_then_ends_as_stuck
            k12_a_poll_whose_results_differ_is_no_repetition;
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
    conflicting {
        wire:
            an_unknown_id_of_each_noun_is_not_found
            an_outdated_revision_is_a_conflict_with_the_document_as_it_is
            a_wait_that_is_cancelled_ends_as_cancelled_and_other_requests_ignore_it
            a_daemon_that_is_stopping_takes_no_new_work_and_answers_who_waits
            what_was_settled_is_already_settled_whoever_asks_and_however_late;
        clock:;
    }
    compacting {
        wire:
            l24_a_long_thread_goes_on_answering_and_shows_what_was_summarised
            context_preview_shows_every_layer_as_it_is_sent;
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
            a_name_that_another_process_holds_is_a_conflict_without_takeover
            x15_a_new_process_gets_the_names_of_one_that_is_gone;
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
    endpoints {
        wire:
            transcript_i_a_key_is_set_and_lost_with_the_address
            a_key_reaches_the_provider_and_no_reply_event_or_error
            an_endpoint_keeps_its_limits_headers_and_proxy_until_null_clears_them
            an_endpoint_of_the_thread_comes_before_one_of_the_project_before_the_default
            without_a_usable_endpoint_a_run_fails_with_no_endpoint
            failures_of_a_provider_are_told_by_kind;
        clock:;
    }
    first_run {
        wire:
            transcript_a_one_tool_call_with_an_approval;
        clock:;
    }
    histories {
        wire:
            every_endpoint_receives_what_thread_messages_shows
            l01_after_a_stop_of_a_call_and_of_a_stream_the_history_is_accepted
            l08_ids_that_a_provider_repeats_are_none_of_the_history
            l19_arguments_that_are_no_json_are_not_sent_back_as_they_were
            l21_silent_tools_and_inputs_without_text_leave_a_history_that_is_accepted
            l22_thinking_goes_back_as_it_came
            l30_l31_made_up_tools_are_told_apart_and_real_ones_beside_them_run
            a_tool_of_any_schema_is_accepted_by_every_provider;
        clock:
            l01_after_a_cut_stream_the_history_is_accepted
            l21_an_answer_of_reasoning_alone_does_no_harm;
    }
    images {
        wire:
            l21_an_image_alone_reaches_the_endpoint_as_an_image_and_stays_in_the_thread
            an_image_in_a_result_reaches_the_endpoint_and_a_broken_one_never_does
            an_image_that_no_provider_would_read_is_refused_with_its_place
            an_input_that_fills_a_line_is_queued_shown_and_paged_within_lines;
        clock:;
    }
    limits {
        wire:
            a_line_that_is_too_long_is_skipped_and_answered_with_its_id
            a_result_that_is_too_long_ends_its_call
            nesting_beyond_max_depth_is_too_large_even_in_a_field_nobody_knows
            a_schema_has_a_limit_of_bytes_and_of_levels
            an_image_has_a_limit_of_bytes_and_an_input_of_parts
            more_requests_than_max_in_flight_are_overloaded_and_control_is_answered
            more_waits_than_max_waiting_are_overloaded_and_other_requests_are_not
            a_full_queue_is_overloaded
            more_subscriptions_than_there_may_be_are_overloaded
            one_connection_too_many_is_told_and_closed
            a_result_over_the_budget_is_cut_for_the_model_with_a_marker;
        clock:;
    }
    listing {
        wire:
            pages_of_each_list_make_the_whole_of_it
            a_cursor_of_another_list_or_of_nobody_is_refused
            a_page_ends_at_its_characters_and_always_has_its_first_item;
        clock:
            what_is_made_between_two_pages_neither_repeats_nor_hides_anything
            threads_are_listed_by_activity_or_by_creation_and_archived_ones_apart;
    }
    messages {
        wire:
            what_the_endpoint_receives_is_what_thread_messages_shows
            after_a_stop_the_history_is_whole_and_goes_on
            odd_arguments_and_unknown_tools_leave_a_history_that_is_accepted
            a_denied_tool_is_not_in_the_next_request
            instructions_of_project_and_thread_reach_the_endpoint;
        clock:
            after_a_failure_the_history_is_accepted_and_goes_on;
    }
    outputs {
        wire:
            an_answer_that_fits_its_schema_is_in_the_outcome_as_data
            an_answer_that_does_not_fit_is_mended_and_the_repairs_are_in_the_chain
            an_answer_that_fits_after_no_repair_fails_its_run_and_stays_in_the_chain
            k02_a_schema_is_told_to_the_endpoint_word_for_word_and_repairs_are_input_to_it
            a_schema_that_cannot_be_used_is_refused_with_its_path;
        clock:;
    }
    providers {
        wire:
            each_provider_is_asked_in_its_own_shape_with_its_key
            failures_that_last_are_told_by_kind_in_every_shape
            usage_is_what_the_provider_counted
            an_answer_cut_by_its_limit_makes_no_calls;
        clock:;
    }
    questions {
        wire:
            transcript_d_a_refused_answer_is_asked_again_and_the_next_one_counts
            transcript_d_each_kind_of_invalid_answer_has_a_reason_and_a_path
            transcript_d_three_refusals_are_asked_again_and_then_it_counts_as_not_i
            dyn_27_a_position_out_of_range_is_dropped_and_what_is_left_open_is_the_models
            dyn_27_dismissed_is_an_answer_and_declined_ends_the_asking
            dyn_27_questions_that_break_a_rule_reach_nobody
            dyn_28_only_who_claimed_the_input_capability_is_asked;
        clock:;
    }
    queueing {
        wire:
            an_emptied_queue_holds_nothing
            a_run_is_read_the_same_while_it_goes_and_after_its_end
            a_header_changes_as_named_and_tells_everybody_once
            progress_of_who_was_not_offered_the_call_or_after_its_end_is_ignored;
        clock:
            what_waits_begins_in_order_after_a_good_end
            a_bad_end_holds_what_waits_until_somebody_skips;
    }
    queue_edits {
        wire:
            what_waits_is_reworded_reordered_and_taken_back_before_it_begins
            an_order_of_other_inputs_is_a_conflict_with_the_one_there_is
            an_input_that_has_begun_is_edited_no_more
            ruling_1_a_held_queue_that_is_cleared_is_released
            edits_at_once_end_in_one_queue_and_every_event_agrees;
        clock:;
    }
    refusing {
        wire:
            lines_that_are_no_json_get_a_parse_error_and_the_connection_goes_on
            json_that_is_no_request_is_an_invalid_request
            ids_are_echoed_as_they_came_and_unknown_answers_are_ignored
            a_batch_is_answered_as_a_whole_and_waits_in_it_are_refused
            methods_nobody_knows_are_method_not_found
            before_the_handshake_nothing_is_answered_and_after_it_no_second_one
            parameters_that_do_not_fit_are_named_with_path_and_reason_and_never_repeated
            what_cannot_be_represented_is_refused_with_its_path_and_id
            ten_thousand_lines_of_garbage_end_neither_connection_nor_daemon;
        clock:;
    }
    remarks {
        wire:
            transcript_h_a_steer_and_an_aside_join_at_the_next_step_boundary
            transcript_h_on_an_idle_branch_an_aside_is_recorded_and_a_steer_refused
            ruling_13_a_steer_of_another_run_is_a_conflict_with_the_one_under_way
            a_remark_to_a_run_that_waits_for_a_person_joins_when_it_goes_on
            a_run_that_ends_first_leaves_its_remarks_recorded_and_starts_nothing_for_them
            a_submit_of_an_aside_that_waits_is_answered_when_the_run_it_joins_has_ended;
        clock:;
    }
    repeating {
        wire:
            each_mutating_method_is_done_once_for_one_operation_id
            an_operation_id_belongs_to_one_method
            equal_submits_at_once_make_one_message
            a_refused_request_does_not_use_its_operation_id_up;
        clock:;
    }
    resuming {
        wire:
            transcript_b_a_call_is_offered_again_to_the_same_instance_under_its_id
            transcript_b_an_older_connection_of_the_instance_loses_the_tools_without_takeover
            transcript_g_an_open_approval_is_offered_again_with_its_old_deadline
            transcript_f_after_gives_every_later_event_once_and_as_it_was_sent
            transcript_f_a_cursor_beyond_the_end_is_refused_and_never_clamped
            dyn_18_the_same_declarations_again_change_nothing
            dyn_19_a_new_connection_gets_no_event_until_it_resumes
            unsubscribed_means_no_more_events_and_no_more_questions;
        clock:
            transcript_f_who_joins_an_open_item_gets_its_text_so_far_as_the_first_delta;
    }
    retrying {
        wire:
            l17_a_stop_ends_the_wait_for_an_endpoint
            a_provider_that_asks_for_an_hour_fails_the_run_at_once
            l25_an_empty_answer_is_asked_about_and_no_request_is_repeated
            l27_calls_of_an_answer_cut_by_its_output_limit_are_not_made;
        clock:
            l17_what_a_provider_asks_for_is_waited_out_in_seconds_and_as_a_date
            l25_a_run_gives_up_after_five_attempts_and_lists_them
            l12_the_text_of_a_cut_answer_is_kept_and_the_next_one_begins_anew
            l13_a_silent_provider_is_noticed_and_asked_again;
    }
    ruling {
        wire:
            the_nearest_rule_wins_and_a_deny_wins_anywhere
            a_rule_on_the_tool_comes_before_one_on_its_source
            a_denied_tool_is_not_called_and_nobody_is_asked
            transcript_j_a_deny_rule_settles_the_approval_that_is_open
            an_allow_rule_releases_the_approval_that_is_open
            choices_leave_out_what_would_not_hold_for_the_next_equal_call
            a_decision_that_is_no_choice_counts_as_accept
            an_allow_on_a_tool_asks_again_when_the_tool_has_changed
            an_allow_set_before_the_tool_was_seen_holds_for_the_digest_it_first_has
            always_allowed_in_one_thread_stays_denied_and_asked_about_in_others
            max_calls_per_run_refuses_the_next_call
            ask_user_is_exempt_from_asking_and_not_from_a_deny
            each_rule_of_a_rule_is_checked_with_its_path
            a_rule_elsewhere_writes_no_event_and_one_of_the_thread_does;
        clock:
            a_rule_ends_when_it_expires
            a_timeout_of_a_rule_comes_before_that_of_the_declaration;
    }
    sharing {
        wire:
            transcript_c_of_two_clients_one_approves_and_both_are_told
            transcript_c_a_snapshot_shows_what_is_open
            answers_at_once_have_one_winner_and_the_other_is_told_precisely
            not_i_leaves_the_question_to_the_others_until_nobody_is_left
            a_tool_call_is_settled_by_the_instance_it_was_offered_to_only
            an_invalid_answer_by_settle_is_refused_with_its_path_and_the_question_stays_open
            stops_and_renames_at_once_are_each_told_precisely
            each_of_two_clients_is_called_for_its_own_tools
            events_are_the_same_for_everybody_and_in_the_same_order;
        clock:;
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
    watching {
        wire:
            rule_1_history_and_live_events_are_one_sequence
            rule_2_the_answer_to_a_submit_comes_before_every_event_of_its_run
            rule_2_a_submit_that_waits_is_answered_when_its_run_has_ended
            rule_3_settled_comes_before_completed_comes_before_the_end
            rule_4_a_reader_that_sleeps_through_5000_deltas_loses_no_durable_event
            an_answer_is_not_stuck_behind_events_that_are_not_read
            ephemeral_events_are_left_out_for_who_opted_out
            thread_events_can_be_waited_for;
        clock:
            data_changed_comes_at_most_once_in_250_ms_and_names_all_that_changed;
    }
    windows {
        wire:
            l24_a_thread_of_60000_tokens_goes_on_in_a_window_of_8000_in_every_shape
            l24_a_window_that_nobody_told_is_learned_and_no_request_is_made_twice;
        clock:;
    }
}
