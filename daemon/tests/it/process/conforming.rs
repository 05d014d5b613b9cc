//! The conformance kit against the real binary: every vector passes, and a daemon that breaks a rule is caught by the
//! vectors that are about it.

use std::time::Duration;

use futures::{StreamExt, stream};
use ropewalk_conformance::kit::{
    daemon::{Fault, Playing, StartCommand, Subject, play},
    known::KnownFailing,
    report::{Failure, Outcome, Report},
    selection::Selection,
    vector::daemon_vectors,
};

use super::{Place, program};

/// How long a vector waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it waits for what a broken daemon never sends.
const PATIENCE_WITH_THE_BROKEN: Duration = Duration::from_secs(30);
/// Broken daemons at the same time: most of the time is spent waiting for what a few of them never send.
const BROKEN_AT_ONCE: usize = 8;

/// Each fault, a vector that has to catch it, and how: by the name of a rule that holds throughout, or by a word of the
/// step that fails.
const CAUGHT: &[(Fault, &str, &str)] = &[
    (Fault::LosesAnEvent, "a_plain_run_says_what_it_is_told_and_its_events_have_no_gap", "seq"),
    (Fault::SendsEventsBeforeTheAnswer, "a_plain_run_says_what_it_is_told_and_its_events_have_no_gap", "submitFirst"),
    (Fault::NeverSaysSettled, "the_settlement_is_the_acknowledgement_of_a_result", "\"told\":\"interaction/settled\""),
    (Fault::CompletesBeforeItSettles, "rule_3_settled_comes_before_completed_comes_before_the_end", "closing"),
    (Fault::TakesFractionalIds, "an_id_with_a_fraction_is_refused", "\"expect\""),
    (Fault::RepeatsAnEventAfterResume, "rule_1_after_n_gives_every_later_event_once_and_then_live_ones", "seq"),
    (Fault::AnswersTwice, "unknown_fields_of_a_request_are_ignored", "answer"),
    (Fault::MixesUpCodes, "an_unknown_id_of_each_noun_is_not_found", "answer"),
    (Fault::AnswersResumeWithASnapshot, "rule_1_after_n_gives_every_later_event_once_and_then_live_ones", "\"call\""),
    (Fault::ClampsAfter, "a_cursor_beyond_the_end_is_refused_and_never_clamped", "\"call\""),
    (Fault::ForgetsOperations, "each_mutating_request_is_done_once_for_one_operation_id", "\"call\""),
    (Fault::IgnoresRevisions, "an_outdated_revision_is_a_conflict_with_the_document_as_it_is", "\"call\""),
    (Fault::EndsOnGarbage, "a_line_that_is_no_json_gets_a_parse_error_and_the_connection_goes_on", "\"expect\""),
    (Fault::IgnoresGarbage, "a_line_that_is_no_json_gets_a_parse_error_and_the_connection_goes_on", "\"expect\""),
    (Fault::ForgetsToOfferAgain, "transcript_b_a_cut_after_a_call_and_the_same_instance_comes_back", "\"asked\""),
    (
        Fault::LetsBothWin,
        "transcript_c_of_two_clients_one_approves_and_both_are_told",
        "\"call\":\"interaction/settle\"",
    ),
    (Fault::RepeatsADelta, "deltas_of_an_item_make_up_its_text", "delta"),
    (Fault::LosesIdsOfErrors, "a_method_nobody_knows_is_method_not_found", "answer"),
    (Fault::LeavesOutTheVersion, "unknown_fields_of_a_request_are_ignored", "line"),
    (Fault::AnswersBatchesOneByOne, "a_batch_is_answered_as_a_whole", "\"expect\""),
    (Fault::NeverSaysReplayed, "each_mutating_request_is_done_once_for_one_operation_id", "\"call\""),
    (Fault::LeavesOutAField, "a_plain_run_says_what_it_is_told_and_its_events_have_no_gap", "schema"),
];

fn ours(fault: Option<Fault>) -> Subject {
    Subject::Command(StartCommand { program: program().into(), arguments: vec!["daemon".into()], fault })
}

async fn played(subject: Subject, only: &[&str], patience: Duration) -> Report {
    let only = Selection::new(only.iter().map(|glob| (*glob).to_owned()).collect());
    let playing = Playing { subject, only, known: KnownFailing::default(), jobs: 4, patience };
    let vectors = daemon_vectors().unwrap().vectors;
    play(&vectors, &playing, std::future::pending()).await.unwrap()
}

fn failure<'a>(report: &'a Report, name: &str) -> Option<&'a Failure> {
    let result = report.results.iter().find(|result| result.name == name).unwrap();
    match &result.outcome {
        Outcome::Failed { failure } => Some(failure),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_vector_of_the_kit_passes() {
    let report = played(ours(None), &[], PATIENCE).await;
    let counts = report.counts();
    assert!(report.is_as_expected(), "{report}");
    assert_eq!((counts.passed, counts.known, counts.not_run), (report.results.len(), 0, 0), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_breaks_a_rule_is_caught_by_the_vectors_that_are_about_it() {
    let tried = CAUGHT.iter().map(|(fault, vector, sign)| async move {
        let report = played(ours(Some(*fault)), &[vector], PATIENCE_WITH_THE_BROKEN).await;
        assert!(!report.is_as_expected(), "nobody noticed {fault:?}");
        let failure = failure(&report, vector).unwrap_or_else(|| panic!("{vector} did not notice {fault:?}"));
        let is_rule = failure.rule.as_deref() == Some(sign);
        assert!(is_rule || failure.doing.contains(sign), "{fault:?} was caught in another way\n{failure}");
    });
    assert_eq!(stream::iter(tried).buffer_unordered(BROKEN_AT_ONCE).count().await, CAUGHT.len());
}

#[test]
fn every_fault_there_is_has_to_be_caught() {
    use clap::ValueEnum;
    let tried: Vec<_> = CAUGHT.iter().map(|(fault, ..)| *fault).collect();
    assert_eq!(tried, Fault::value_variants());
}

/// What a fault does not touch still passes, so that a report says what is wrong and not only that something is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_breaks_one_rule_passes_the_vectors_about_others() {
    let report = played(ours(Some(Fault::IgnoresGarbage)), &["ids", "writes"], PATIENCE).await;
    assert!(report.is_as_expected(), "{report}");
    assert!(report.counts().passed > 10, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_a_socket_vectors_that_need_a_daemon_of_their_own_are_not_run_and_say_so() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let subject = Subject::Socket(daemon.ready().socket.clone());
    let report = played(subject, &["handshake", "daemon"], PATIENCE).await;
    assert!(report.is_as_expected(), "{report}");
    for result in &report.results {
        let needs_own = matches!(&result.outcome, Outcome::NotRun { reason } if reason.contains("--socket"));
        assert!(needs_own || result.outcome == Outcome::Passed, "{}: {:?}", result.name, result.outcome);
    }
    let counts = report.counts();
    assert!(counts.passed > 5 && counts.not_run > 2, "{report}");
}
