//! The window, the count of tokens that it and the usage go by, and the limit of an answer.

use serde_json::{Value, json};

use super::{answer_of, events_of};
use crate::scripted::{Shape, memory::Memory, refusal::Refusal, tokens};

fn request(shape: Shape, text: &str) -> Value {
    let message = json!({"role": "user", "content": text});
    match shape {
        Shape::Chat => json!({"model": "m", "messages": [message]}),
        Shape::Responses => json!({"model": "m", "input": [message]}),
        Shape::Messages => json!({"model": "m", "max_tokens": 1_000, "messages": [message]}),
    }
}

/// How many input tokens an answer reports.
fn reported(shape: Shape, answer: &Value) -> u64 {
    let field = if shape == Shape::Chat { "prompt_tokens" } else { "input_tokens" };
    answer["usage"][field].as_u64().unwrap()
}

#[tokio::test]
async fn the_usage_reports_what_the_window_counts() {
    for shape in Shape::ALL {
        let small = request(*shape, "hi");
        let large = request(*shape, &"x".repeat(4_000));
        let grown = tokens::of_request(*shape, &large) - tokens::of_request(*shape, &small);
        assert_eq!(grown, 1_000 - 1, "four bytes are a token: {shape:?}");
        let answer = answer_of(*shape, large.clone(), &Memory::default()).await;
        assert_eq!(reported(*shape, &answer), tokens::of_request(*shape, &large), "{shape:?}");
    }
}

#[test]
fn tools_count_and_the_bytes_of_a_picture_do_not() {
    let mut with_tools = request(Shape::Chat, "hi");
    with_tools["tools"] = json!([{"type": "function", "function": {"name": "a".repeat(400)}}]);
    let plain = tokens::of_request(Shape::Chat, &request(Shape::Chat, "hi"));
    assert!(tokens::of_request(Shape::Chat, &with_tools) >= plain + 100);
    let picture = |bytes: usize| {
        let url = format!("data:image/png;base64,{}", "A".repeat(bytes));
        let part = json!({"type": "image_url", "image_url": {"url": url}});
        tokens::of_request(Shape::Chat, &json!({"messages": [{"role": "user", "content": [part]}]}))
    };
    assert_eq!(picture(400), picture(4_000_000));
}

#[test]
fn a_request_over_the_window_is_refused_in_each_shapes_own_words() {
    let of = |shape: Shape| Refusal::too_long(shape, 9_000, 8_000).body(shape)["error"].clone();
    assert_eq!(of(Shape::Chat)["code"], "context_length_exceeded");
    assert!(of(Shape::Chat)["message"].as_str().unwrap().contains("maximum context length is 8000 tokens"));
    assert_eq!(of(Shape::Responses)["code"], "context_length_exceeded");
    let expected =
        json!({"type": "invalid_request_error", "message": "prompt is too long: 9000 tokens > 8000 maximum"});
    assert_eq!(of(Shape::Messages), expected);
}

#[tokio::test]
async fn the_limit_of_an_answer_cuts_it_and_says_so() {
    for (shape, field, reason) in [
        (Shape::Chat, "max_tokens", "/choices/0/finish_reason"),
        (Shape::Responses, "max_output_tokens", "/incomplete_details/reason"),
        (Shape::Messages, "max_tokens", "/stop_reason"),
    ] {
        let mut limited = request(shape, &format!("say {}", "word ".repeat(100)));
        limited[field] = json!(16);
        let answer = answer_of(shape, limited.clone(), &Memory::default()).await;
        let reason = answer.pointer(reason).and_then(Value::as_str).unwrap();
        assert!(matches!(reason, "length" | "max_output_tokens" | "max_tokens"), "{shape:?}: {reason}");
        assert!(answer.to_string().contains(&"word ".repeat(12)), "{shape:?}: {answer}");
        assert!(!answer.to_string().contains(&"word ".repeat(13)), "{shape:?}: {answer}");
        let events = events_of(shape, limited, &Memory::default()).await;
        assert!(json!(events).to_string().contains(reason), "{shape:?}");
    }
}
