//! Where a chain is cut, what its summary carries, and how messages are told to whoever summarises them.

use std::sync::Arc;

use ropewalk_protocol::Role;

use super::said;
use crate::{
    context::{
        chain::{at_a_turn, carried, surplus},
        transcript::{digest, transcribed},
    },
    domain::{Carried, ChainMessage, carried_request, summary_says, summary_text},
};

/// Two turns: a plain one, and one with two batches of calls.
fn conversation() -> Vec<Arc<ChainMessage>> {
    vec![
        said("u1", Role::User, "hello", &[]),
        said("a1", Role::Assistant, "hi", &[]),
        said("u2", Role::User, "call look", &[]),
        said("a2", Role::Assistant, "", &["c1", "c2"]),
        said("t1", Role::Tool, "one", &["c1"]),
        said("t2", Role::Tool, "two", &["c2"]),
        said("a3", Role::Assistant, "", &["c3"]),
        said("t3", Role::Tool, "three", &["c3"]),
    ]
}

#[test]
fn k26_a_chain_is_never_cut_between_a_call_and_its_results() {
    let messages = conversation();
    for tokens in [vec![1; 8], vec![1, 9, 1, 3, 5, 5, 1, 2]] {
        for room in 0..=tokens.iter().sum::<u64>() {
            let cut = surplus(&messages, &tokens, room);
            let left: u64 = tokens[cut..].iter().sum();
            assert!(left <= room, "{room}: {left}");
            assert!(messages.get(cut).is_none_or(|first| first.message.role != Role::Tool), "{room}: {cut}");
        }
    }
    assert_eq!(surplus(&messages, &[1; 8], 8), 0);
    assert_eq!(surplus(&messages, &[1; 8], 3), 6);
    assert_eq!(surplus(&messages, &[1; 8], 1), 8, "the newest batch does not fit, so that all of it goes");
}

#[test]
fn l04_a_broken_history_is_cut_and_told_like_any_other() {
    let messages = vec![
        said("t0", Role::Tool, "a result without a call", &["c0"]),
        said("u1", Role::User, "hello", &[]),
        said("a1", Role::Assistant, "", &["c9"]),
        said("u2", Role::User, "and now?", &[]),
    ];
    assert_eq!(surplus(&messages, &[10, 1, 1, 1], 5), 1);
    let told = messages.iter().map(|chained| transcribed(&chained.message, 100)).collect::<String>();
    assert!(told.contains("Result of a call:\n| a result without a call\n"), "{told}");
    assert!(told.contains("| (calls look with {})\n"), "{told}");
}

#[test]
fn a_cut_moves_to_the_beginning_of_a_turn_as_long_as_the_request_stays() {
    let messages = conversation();
    assert_eq!(at_a_turn(&messages, 1, 2), 2);
    assert_eq!(at_a_turn(&messages, 0, 2), 0);
    assert_eq!(at_a_turn(&messages, 6, 2), 6);
}

#[test]
fn a_summary_carries_the_request_whose_message_goes_and_counts_its_answers_over_and_over() {
    let messages = conversation();
    assert_eq!(carried(&messages, 2, &"u2".into()), None, "it stays");
    let first = carried(&messages, 6, &"u2".into()).unwrap();
    assert_eq!(first, Carried { text: "call look".to_owned(), answers: 1 });
    let text = summary_text(6, "They said hello.", Some(&first));
    let again = vec![said("summary", Role::User, &text, &[]), messages[6].clone(), messages[7].clone()];
    assert_eq!(carried(&again, 3, &"u2".into()), Some(Carried { answers: 2, ..first }));
}

#[test]
fn what_a_summary_carries_is_read_back_as_it_was_whatever_it_quotes() {
    let quoting = summary_text(9, "Inner.", Some(&Carried { text: "x".to_owned(), answers: 7 }));
    for text in ["", "one line", "call a {}\nthen call b\n\n> quoted", quoting.as_str()] {
        let carried = Carried { text: text.to_owned(), answers: 3 };
        let summary = summary_text(12, "What was said.\n\nIn two parts.", Some(&carried));
        assert_eq!(carried_request(&summary), Some(carried), "{summary}");
        assert_eq!(summary_says(&summary), "What was said.\n\nIn two parts.");
        let is_quoted = |line: &str| !line.is_empty() && text.lines().any(|own| own == line);
        assert!(!summary.lines().any(is_quoted), "no line of a request stands alone: {summary}");
    }
    let plain = summary_text(1, "All.", None);
    assert_eq!((carried_request(&plain), summary_says(&plain)), (None, "All."));
}

#[test]
fn every_line_of_a_message_is_quoted_and_a_long_one_is_cut_visibly() {
    let message = said("u1", Role::User, "call look\nthen say it\n[Now write]", &[]);
    let told = transcribed(&message.message, 1_000);
    assert_eq!(told, "User:\n| call look\n| then say it\n| [Now write]\n");
    let long = said("t1", Role::Tool, &"x".repeat(5_000), &["c1"]);
    let told = transcribed(&long.message, 1_000);
    assert!(told.ends_with("…\n[cut: 1,000 of 5,000 characters]\n"), "{told}");
}

#[test]
fn a_digest_stays_within_its_size_and_says_that_it_is_one() {
    let messages: Vec<_> =
        (0..500).map(|n| said(&format!("m{n}"), Role::User, &format!("message {n} ").repeat(40), &[])).collect();
    for characters in [0, 100, 2_000, 20_000] {
        let digest = digest(messages.iter().map(|chained| &chained.message), characters);
        assert!(digest.chars().count() <= characters + 200, "{characters}: {}", digest.chars().count());
        assert!(digest.starts_with("[Nobody summarised these messages."));
    }
    let short = digest(messages[..2].iter().map(|chained| &chained.message), 2_000);
    assert!(short.contains("- User: message 0 ") && short.contains("- User: message 1 "), "{short}");
}
