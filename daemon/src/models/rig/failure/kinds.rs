//! Which kind of failure a refusal is. Statuses and words of many servers; the words were seen in the field.

use ropewalk_protocol::RunErrorKind as Kind;

/// The kind of a refusal, of its status and of what its error says. The status decides, except where one status stands
/// for several kinds.
pub(super) fn kind_of(status: Option<u16>, error: &str) -> Kind {
    let words = error.to_ascii_lowercase();
    let any = |needles: &[&str]| needles.iter().any(|needle| words.contains(needle));
    let by_words = || {
        let table: [(Kind, &[&str]); 8] = [
            (Kind::ContextWindow, CONTEXT_WORDS),
            (Kind::BadResponse, &["tool_use_failed"]),
            (Kind::BadResponse, FILTER_WORDS),
            (Kind::Quota, QUOTA_WORDS),
            (Kind::RateLimited, &["rate_limit", "rate limit", "too many requests", "resource_exhausted"]),
            (Kind::Auth, AUTH_WORDS),
            (Kind::ModelNotFound, &["model_not_found", "model not found", "not_found_error"]),
            (Kind::Overloaded, OVERLOADED_WORDS),
        ];
        table.into_iter().find_map(|(kind, needles)| any(needles).then_some(kind))
    };
    match status {
        Some(..=399) => Kind::BadResponse,
        Some(402) => Kind::Quota,
        Some(403) if any(QUOTA_WORDS) => Kind::Quota,
        Some(401 | 403) => Kind::Auth,
        Some(404) if any(&["model"]) => Kind::ModelNotFound,
        Some(413) => Kind::ContextWindow,
        Some(429) if any(&["request too large", "request_too_large"]) => Kind::ContextWindow,
        // Gemini tells of a minute's limit in the words of an account's, and says which it is in a member.
        Some(429) if any(&["resource_exhausted"]) => {
            if any(&["perday"]) {
                Kind::Quota
            } else {
                Kind::RateLimited
            }
        }
        Some(429) if any(QUOTA_WORDS) => Kind::Quota,
        Some(429) => Kind::RateLimited,
        Some(500..) if any(CONTEXT_WORDS) => Kind::ContextWindow,
        Some(408 | 500..) => Kind::Overloaded,
        Some(_) => by_words().filter(|kind| *kind != Kind::Overloaded).unwrap_or(Kind::BadRequest),
        None if any(&["invalid_request", "invalid_prompt"]) => by_words().unwrap_or(Kind::BadRequest),
        None => by_words().unwrap_or(Kind::BadResponse),
    }
}

/// Whether a provider says that it filtered what it was asked or what it answered. Asked again, it would again.
pub(super) fn is_filtered(error: &str) -> bool {
    let words = error.to_ascii_lowercase();
    FILTER_WORDS.iter().any(|word| words.contains(word))
}

const FILTER_WORDS: &[&str] =
    &["content_filter", "content_policy", "responsibleai", "blocked the prompt", "data_inspection"];

const AUTH_WORDS: &[&str] = &[
    "invalid_api_key",
    "invalid api key",
    "incorrect api key",
    "api key not valid",
    "api_key_invalid",
    "authentication_error",
    "permission_error",
    "unauthorized",
];

const QUOTA_WORDS: &[&str] = &[
    "insufficient_quota",
    "exceeded your current quota",
    "billing",
    "insufficient credit",
    "insufficient balance",
    "credit balance is too low",
    "out of credits",
];

const OVERLOADED_WORDS: &[&str] = &[
    "overloaded",
    "server_error",
    "server error",
    "api_error",
    "unavailable",
    "internal error",
    "capacity",
    "timeout_error",
];

const CONTEXT_WORDS: &[&str] = &[
    "context_length_exceeded",
    "context length",
    "context window",
    "context_window",
    "context size",
    "context_size",
    "context limit",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "exceeds the maximum number of tokens",
    "maximum model length",
    "maximum prompt length",
    "prompt tokens limit",
    "reduce the length of the messages",
    "exceeded model token limit",
    "too large for model",
    "max_new_tokens` must be",
];

#[cfg(test)]
mod tests;
