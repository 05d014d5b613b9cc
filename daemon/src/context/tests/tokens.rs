//! Estimates against what o200k counted, and cuts that follow from them.

use crate::context::{
    cut::{first_characters, grouped, within},
    tokens::{prefix_within, text_tokens},
};

/// Beginnings of texts of many kinds and the tokens o200k has for each.
fn measured() -> Vec<(String, u64, String)> {
    serde_json::from_str(include_str!("measured.json")).unwrap()
}

#[test]
fn an_estimate_is_no_less_than_what_was_counted_and_rarely_twice_as_much() {
    let mut wrong = Vec::new();
    for (name, counted, text) in measured() {
        let estimated = text_tokens(&text);
        // What comes seldom may be thought too long: it costs a summary that could have waited, and no failure.
        let is_seldom = ["hi", "th", "ko", "ru", "caps"].contains(&&*name);
        let most = if is_seldom { counted * 3 } else { counted * 2 };
        if estimated < counted || estimated > most {
            wrong.push(format!("{name}: {estimated} estimated, {counted} counted"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_text_is_free_and_nothing_is_nothing() {
    assert_eq!(text_tokens(""), 0);
    for text in ["a", " ", "\n", "{", "0", "é", "界", "\u{0}", "🦀"] {
        assert!((1..=3).contains(&text_tokens(text)), "{text:?}: {}", text_tokens(text));
    }
    assert_eq!(text_tokens("hello world"), 2);
}

#[test]
fn a_longer_text_has_more_tokens_and_a_prefix_fits_exactly() {
    for (name, _, text) in measured() {
        let mut last = 0;
        for (at, _) in text.char_indices() {
            let now = text_tokens(&text[..at]);
            // The next letter may make a word of what was none.
            assert!(now + 2 >= last, "{name} at {at}: {last}, then {now}");
            last = now;
        }
        for tokens in [0, 1, 10, 50, 100_000] {
            let kept = prefix_within(&text, tokens);
            assert!(text_tokens(&text[..kept]) <= tokens, "{name}: {tokens}");
        }
    }
}

#[test]
fn a_text_that_is_cut_says_how_much_is_left_and_fits_with_its_note() {
    let text = "some words of a long text ".repeat(350);
    let (cut, was_cut) = within(&text, 200, "the rest is in the file");
    assert!(was_cut && text_tokens(&cut) <= 200, "{}", text_tokens(&cut));
    let note = cut.rsplit_once("\n[cut: ").unwrap().1;
    assert!(note.ends_with(" of 9,100 characters; the rest is in the file]"), "{note}");
    assert_eq!(within("short", 200, ""), ("short".to_owned(), false));
    let (nothing, was_cut) = within(&text, 0, "");
    assert!(was_cut && nothing.starts_with("[cut: 0 of 9,100"), "{nothing}");
}

#[test]
fn numbers_are_grouped_and_first_characters_say_when_there_are_more() {
    assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    assert_eq!((first_characters("héé", 3), first_characters("héé", 2)), ("héé".to_owned(), "hé…".to_owned()));
}
