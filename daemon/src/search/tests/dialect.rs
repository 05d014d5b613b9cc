//! How a pattern is read.

use std::time::{Duration, Instant};

use crate::search::{Dialect, Matcher, Query};

const REGEX: Dialect = Dialect { is_regex: true, ignore_case: false };

fn literal(pattern: &str) -> Matcher {
    Matcher::new(pattern, Dialect::default()).unwrap()
}

#[test]
fn app_62_a_pattern_is_literal_unless_a_regular_expression_is_asked_for() {
    assert!(literal("a.b").is_in("xa.bx") && !literal("a.b").is_in("axb"));
    assert_eq!(literal("a.c").find("abc a.c"), Some(4..7));
    Matcher::new("", Dialect::default()).unwrap_err();
}

#[test]
fn app_64_a_regular_expression_is_matched_when_it_is_asked_for() {
    let matcher = Matcher::new(r"a.b|\d{3}", REGEX).unwrap();
    assert_eq!((matcher.find("axb"), matcher.count("123 a-b 12")), (Some(0..3), 2));
}

#[test]
fn app_65_a_hostile_pattern_is_done_with_at_once() {
    let matcher = Matcher::new("(a+)+$", REGEX).unwrap();
    let text = format!("{}b", "a".repeat(100_000));
    let since = Instant::now();
    assert!(!matcher.is_in(&text));
    assert!(since.elapsed() < Duration::from_secs(60), "a backtracking engine would never come back");
}

#[test]
fn app_66_what_cannot_be_matched_in_linear_time_is_refused_in_words() {
    for pattern in [r"(?=a)b", r"(?=a)", r"(a)\1"] {
        let why = Matcher::new(pattern, REGEX).unwrap_err();
        assert!(why.contains("linear time"), "{why}");
    }
    let why = Matcher::new("(", REGEX).unwrap_err();
    assert!(why.contains("unclosed group"), "{why}");
    let why = Matcher::new(r"(\w{100}){100}", REGEX).unwrap_err();
    assert!(why.contains("too large"), "{why}");
}

#[test]
fn what_a_text_has_is_also_found_in_it_as_json() {
    let texts = ["say \"hi\"", "a\\b\n\tc", "ÄÖÜ ß 漢字 🦀", "\u{1}\u{7f}\u{2028}", "/slash/", "K"];
    for text in texts {
        let json = serde_json::to_string(&serde_json::json!({ "text": format!("before {text} behind") })).unwrap();
        for ignore_case in [false, true] {
            let query = Query::new(text, Dialect { is_regex: false, ignore_case }, None).unwrap();
            assert!(query.raw().unwrap().is_match(json.as_bytes()), "{text:?} in {json}");
        }
        let lower = Query::new(&text.to_lowercase(), Dialect { is_regex: false, ignore_case: true }, None).unwrap();
        assert_eq!(lower.raw().unwrap().is_match(json.as_bytes()), lower.matches(text), "{text:?}");
    }
    assert!(Query::new("a.b", REGEX, None).unwrap().raw().is_none(), "only reading the text can tell");
}
