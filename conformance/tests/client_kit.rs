//! The vectors for clients hold for the Rust SDK, and each fault that a driver can have is caught.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::{future::pending, path::Path, process::Command, time::Duration};

use clap::ValueEnum;
use futures::{StreamExt, stream};
use ropewalk_conformance::kit::{
    client::{
        Fault,
        library::Library,
        trial::{Trial, try_driver},
    },
    known::KnownFailing,
    report::{Outcome, Report},
    selection::Selection,
};

const CONFORMANCE: &str = env!("CARGO_BIN_EXE_conformance");

/// Vectors that are played at once: most of the time each waits for a process.
const JOBS: usize = 4;

fn driver(arguments: &[&str]) -> Vec<String> {
    [CONFORMANCE, "driver-rust"].iter().chain(arguments).map(|word| (*word).to_owned()).collect()
}

async fn tried(driver: Vec<String>, only: &[&str], known: KnownFailing, patience: Duration) -> Report {
    let library = Library::built_in().unwrap();
    let only = Selection::new(only.iter().map(|glob| (*glob).to_owned()).collect());
    try_driver(&library, &Trial { driver, only, known, jobs: JOBS, patience }, pending()).await
}

fn listed(file: &str) -> KnownFailing {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("known").join(file);
    let library = Library::built_in().unwrap();
    let names = library.vectors.iter().map(|vector| vector.name.as_str());
    KnownFailing::read(&std::fs::read_to_string(path).unwrap(), names).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_vector_holds_for_the_rust_sdk_or_is_listed() {
    let report = tried(driver(&[]), &[], listed("client-rust.txt"), Duration::from_secs(60)).await;
    assert!(report.is_as_expected(), "{report}");
    assert!(report.results.len() >= 150, "{} vectors", report.results.len());
}

/// Each fault, and a vector that it is caught by.
const CAUGHT: &[(Fault, &str)] = &[
    (Fault::ClaimsApprovals, "dyn_24_without_handlers_nothing_is_claimed"),
    (Fault::ClaimsInput, "dyn_24_an_approval_handler_claims_approvals_and_nothing_else"),
    (Fault::InventsApprovals, "dyn_25_an_approval_handler_that_gives_no_answer_decides_nothing"),
    (Fault::RunsTwice, "ruling_4_a_result_is_kept_until_it_is_acknowledged"),
    (Fault::ForgetsUnknownTools, "dyn_13_a_tool_without_handler_is_unsupported"),
    (Fault::ForgetsThreads, "dyn_20_a_cut_between_the_submit_and_its_first_event"),
    (Fault::StartsOver, "dyn_20_a_cut_between_the_submit_and_its_first_event"),
    (Fault::ChangesInstance, "dyn_20_the_client_is_the_same_instance_on_every_connection"),
    (Fault::ChangesOperation, "dyn_20_a_cut_before_the_submit_is_answered"),
    (Fault::ClosesOnUnknownEvent, "an_event_of_an_unknown_type_is_passed_over"),
    (Fault::AnswersStrangers, "a_request_no_client_knows_is_refused_as_such"),
    (Fault::MissesSettlements, "dyn_33_a_stop_reaches_the_handler"),
    (Fault::SwallowsProgress, "dyn_34_a_handler_shows_life"),
    (Fault::RepeatsAnswers, "an_answer_is_sent_once"),
    (Fault::FailsSilently, "dyn_12_a_failure_has_a_code_and_a_message"),
    (Fault::SucceedsEmpty, "dyn_10_a_text_is_told_as_content"),
    (Fault::AddsToDeclarations, "dyn_2_a_declaration_has_what_was_declared_and_nothing_else"),
    (Fault::ReadsPieces, "a_line_may_come_byte_by_byte"),
    (Fault::ReadsOneLineAPiece, "several_lines_may_come_at_once"),
    (Fault::WritesSeveralLines, "a_client_says_who_it_is"),
    (Fault::OmitsTheVersion, "a_client_says_who_it_is"),
    (Fault::BlursErrors, "every_kind_of_refusal_keeps_its_kind_code_and_data"),
    (Fault::IgnoresStops, "dyn_33_stopping_a_run_is_told_and_its_calls_are_cancelled"),
    (Fault::HidesItsName, "a_client_says_who_it_is"),
    (Fault::Lingers, "k45_a_closed_client_lets_the_program_end"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_of_a_driver_is_caught() {
    let missing: Vec<_> =
        Fault::value_variants().iter().filter(|fault| CAUGHT.iter().all(|(caught, _)| caught != *fault)).collect();
    assert!(missing.is_empty(), "no vector is named for {missing:?}");
    let trials = stream::iter(CAUGHT).map(async |(fault, vector)| {
        let name = fault.to_possible_value().unwrap();
        let driver = driver(&["--fault", name.get_name()]);
        // What such a driver never does is waited for to the end, so this is short; too short can only fail more.
        let report = tried(driver, &[vector], KnownFailing::default(), Duration::from_secs(3)).await;
        let is_caught = matches!(&report.results[..], [only] if matches!(only.outcome, Outcome::Failed { .. }));
        (!is_caught).then(|| format!("{fault:?} passes {vector}"))
    });
    let uncaught: Vec<String> = trials.buffer_unordered(JOBS).filter_map(async |uncaught| uncaught).collect().await;
    assert!(uncaught.is_empty(), "{uncaught:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driver_that_ends_at_once_fails_and_says_so() {
    let report =
        tried(vec!["true".to_owned()], &["a_client_says_who_it_is"], KnownFailing::default(), Duration::from_secs(60))
            .await;
    let Outcome::Failed { failure } = &report.results[0].outcome else { panic!("{report}") };
    assert!(failure.came.contains("the driver has ended") || failure.expected.contains("stdin"), "{failure}");
}

/// Runs `conformance client` and gives its status and what it printed.
fn command(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(CONFORMANCE).arg("client").args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap(), text)
}

#[test]
fn the_command_lists_vectors_and_says_what_it_cannot_use() {
    let (status, text) = command(&["--list", "--only", "handshake"]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("handshake/a_client_says_who_it_is (2.3)") && !text.contains("running/"), "{text}");

    let (status, text) = command(&["--", "/nowhere/driver"]);
    assert_eq!(status, 3, "{text}");
    assert!(text.contains("/nowhere/driver cannot be started"), "{text}");

    let (status, text) = command(&["--known-failing", "/nowhere/list", "--", "true"]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("/nowhere/list"), "{text}");
}

#[test]
fn the_command_reports_as_json_and_its_list_is_strict_both_ways() {
    let place = tempfile::tempdir().unwrap();
    let list = place.path().join("known");
    let vector = "an_answer_is_sent_once";
    std::fs::write(&list, format!("{vector} it is said to fail\n")).unwrap();
    let known = ["--known-failing", list.to_str().unwrap(), "--only", vector, "--report", "json", "--"];
    let (status, text) = command(&[&known[..], &[CONFORMANCE, "driver-rust"]].concat());
    assert_eq!(status, 1, "{text}");
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["vectors"][0]["outcome"], "passedThoughKnown");

    let (status, text) = command(&[&known[..], &[CONFORMANCE, "driver-rust", "--fault", "repeats-answers"]].concat());
    assert_eq!(status, 0, "{text}");
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["vectors"][0]["outcome"], "known");
    assert_eq!(report["counts"]["known"], 1);
}
