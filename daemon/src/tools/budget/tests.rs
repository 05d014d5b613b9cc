//! What is kept of a result that is too long, and how it says so.

use ropewalk_protocol::{BlobRef, Part};

use super::*;
use crate::context::tokens::{IMAGE_TOKENS, content_tokens};

fn texts(content: &[Part]) -> Vec<&str> {
    content.iter().filter_map(Part::as_text).collect()
}

#[test]
fn content_within_the_limit_is_left_alone_and_over_it_is_cut_with_a_marker() {
    let exact = vec![Part::text("é".repeat(262_000)), Part::text("x".repeat(144))];
    assert_eq!(cut_content(exact.clone(), None, None), exact);

    let image = Part::Image { media_type: "image/png".into(), data: "AA==".into() };
    let over = vec![Part::text("é".repeat(262_000)), image.clone(), Part::text("x".repeat(145)), Part::text("gone")];
    let blob = BlobRef { blob_id: "bl-1".into(), total_bytes: 1 };
    let cut = cut_content(over.clone(), None, Some(&blob));
    assert!(text_characters(&cut) <= 262_144);
    assert!(cut.contains(&image));
    let marker = texts(&cut).into_iter().find(|text| text.contains("[cut:")).unwrap();
    let kept = text_characters(&cut) - marker.chars().count() as u64;
    assert_eq!(marker, format!("\n[cut: {kept} of 262149 characters; the whole is kept as blob bl-1]\n"));
    assert!(kept > 262_000, "{kept}");
    assert_eq!(cut.last(), Some(&Part::text("gone")), "the end is kept");
    assert!(texts(&cut_content(over, None, None)).iter().any(|text| text.contains("ask for less")));
}

#[test]
fn m20_of_a_long_text_the_model_gets_a_bounded_head_and_tail_and_the_whole_size() {
    let text = format!("BEGIN {} END", "some words and 12,345 numbers; ".repeat(20_000));
    let total = text.chars().count();
    for tokens in [500, 2_000, 32_000] {
        let cut = cut_content(vec![Part::text(text.clone())], Some(tokens), None);
        assert!(content_tokens(&cut) <= tokens, "{tokens}: {}", content_tokens(&cut));
        assert!(content_tokens(&cut) > tokens / 2, "{tokens}: what fits is used: {}", content_tokens(&cut));
        let parts = texts(&cut);
        assert!(parts[0].starts_with("BEGIN ") && parts[2].ends_with(" END"), "{parts:?}");
        assert!(parts[1].contains(&format!(" of {total} characters; the rest was not kept")), "{}", parts[1]);
    }
}

#[test]
fn k31_dense_text_is_cut_by_its_tokens_and_not_by_its_characters() {
    for text in ["界".repeat(100_000), "🦀".repeat(50_000), "q7Zx".repeat(40_000)] {
        let cut = cut_content(vec![Part::text(text)], Some(1_000), None);
        assert!(content_tokens(&cut) <= 1_000);
    }
}

#[test]
fn images_beyond_the_budget_are_named_and_not_kept() {
    let image = Part::Image { media_type: "image/png".into(), data: "AA==".into() };
    let cut = cut_content(vec![image.clone(), Part::text("two"), image.clone()], Some(IMAGE_TOKENS + 100), None);
    assert_eq!(cut[..2], [image, Part::text("two")]);
    assert!(cut[2].as_text().unwrap().contains("image/png"), "{cut:?}");
}

#[test]
fn the_smallest_window_leaves_a_marker_that_can_be_read() {
    let cut = cut_content(vec![Part::text("x ".repeat(10_000))], Some(1), None);
    assert!(texts(&cut).iter().any(|text| text.contains(" of 20000 characters")), "{cut:?}");
}
