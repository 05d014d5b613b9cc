//! Refusals as servers word them.

use super::*;

#[test]
fn what_servers_say_of_a_window_that_is_too_small_is_understood() {
    for said in [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
        "Please reduce the length of the messages or completion.",
        "Input is too long for requested model.",
        "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "The number of tokens to keep from the initial prompt is greater than the context length",
        "Invalid request: Your request exceeded model token limit: 131072",
    ] {
        assert_eq!(kind_of(Some(400), said), Kind::ContextWindow, "{said}");
        assert_eq!(kind_of(Some(500), said), Kind::ContextWindow, "{said}");
        assert_eq!(kind_of(None, said), Kind::ContextWindow, "{said}");
    }
}

#[test]
fn one_status_is_several_kinds_by_its_words() {
    for (status, said, kind) in [
        (Some(400), "API key not valid. Please pass a valid API key.", Kind::Auth),
        (Some(400), "Your credit balance is too low to access the Anthropic API.", Kind::Quota),
        (Some(400), "The response was filtered due to the prompt triggering content_filter", Kind::BadResponse),
        (
            Some(400),
            "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens",
            Kind::BadRequest,
        ),
        (Some(403), "You have insufficient credits", Kind::Quota),
        (Some(404), "model 'nope' not found, try pulling it first", Kind::ModelNotFound),
        (Some(404), "404 page not found", Kind::BadRequest),
        (Some(429), "RESOURCE_EXHAUSTED You exceeded your current quota, GenerateRequestsPerMinute", Kind::RateLimited),
        (Some(429), "RESOURCE_EXHAUSTED You exceeded your current quota, GenerateRequestsPerDay", Kind::Quota),
        (Some(429), "Request too large for gpt-4o on tokens per min", Kind::ContextWindow),
        (Some(529), "overloaded_error", Kind::Overloaded),
        (None, "overloaded_error Overloaded", Kind::Overloaded),
        (None, "api_error Internal server error", Kind::Overloaded),
        (None, "invalid_request_error messages: bad", Kind::BadRequest),
        (None, "what", Kind::BadResponse),
    ] {
        assert_eq!(kind_of(status, said), kind, "{status:?} {said}");
    }
    assert!(is_filtered("content_filter") && !is_filtered("tool_use_failed"));
}
