//! Says what went wrong with a provider in our words: a kind, a sentence, whether and when to try again.

use std::sync::Arc;

use rig_core::{
    ProviderResponseError,
    error::ProviderError,
    http_client::{self, HeaderMap},
};
use ropewalk_protocol::RunErrorKind as Kind;
use serde_json::Value;

use super::{
    Connection,
    transport::{Ending, OpenError, Watch},
};
use crate::{
    clock::Clock,
    models::{ModelError, retryable},
};

/// How much of a provider's own words goes into a message.
const EXCERPT_CHARACTERS: usize = 300;

/// The longest wait a provider can ask for: a day.
const RETRY_AFTER_CEILING_MS: u64 = 86_400_000;

/// Makes the errors of one request.
pub(super) struct Failures {
    watch: Arc<Watch>,
    clock: Arc<dyn Clock>,
    key: Option<String>,
    host: String,
    idle_seconds: u64,
}

impl Failures {
    pub(super) fn new(connection: &Connection, watch: Arc<Watch>) -> Self {
        let url = reqwest::Url::parse(&connection.base_url).ok();
        let host = url.as_ref().and_then(reqwest::Url::host_str).unwrap_or("the provider").to_owned();
        let host = match url.and_then(|url| url.port()) {
            Some(port) => format!("{host}:{port}"),
            None => host,
        };
        let key = connection.key.clone().filter(|key| !key.is_empty());
        Self { watch, clock: Arc::clone(&connection.clock), key, host, idle_seconds: connection.idle_timeout.as_secs() }
    }

    /// What an error of rig's means.
    pub(super) fn of(&self, error: &ProviderError) -> ModelError {
        match error {
            ProviderError::Truncated => self.truncated(),
            ProviderError::Http(error) => self.transport(error),
            ProviderError::ProviderResponse(response) => self.refusal(response),
            ProviderError::InvalidAuthentication(response) => {
                self.error(Kind::Auth, format!("{} refuses the key: {}", self.host, said(&response.body)))
            }
            ProviderError::Request(_) | ProviderError::Url(_) | ProviderError::UnsupportedOption(_) => {
                self.request(&error.to_string())
            }
            other => self.error(Kind::BadResponse, format!("{} answered what cannot be read: {other}", self.host)),
        }
    }

    /// The request cannot be made.
    pub(super) fn request(&self, reason: &str) -> ModelError {
        self.error(Kind::BadRequest, format!("The request to {} cannot be made: {reason}", self.host))
    }

    /// The stream ended well, but nothing in it said that the answer did.
    pub(super) fn unfinished(&self) -> ModelError {
        self.error(Kind::BadResponse, format!("The answer of {} has no end and no reason for it.", self.host))
    }

    /// The model was cut off by its output limit. The same request would be cut off again.
    pub(super) fn output_limit(&self) -> ModelError {
        let message = "The model reached its output limit before the answer was complete; no call of it was made.";
        ModelError { retryable: false, ..self.error(Kind::CutOff, message.to_owned()) }
    }

    /// The provider ended the answer for a reason that is not good.
    pub(super) fn bad_ending(&self, reason: &str, is_filtered: bool) -> ModelError {
        let message = format!("{} gave up on the answer: {reason}", self.host);
        ModelError { retryable: !is_filtered, ..self.error(Kind::BadResponse, message) }
    }

    /// A piece of a call came that belongs to no call with a name: whatever was put together has a hole.
    pub(super) fn check_arguments(&self) -> Result<(), ModelError> {
        if !self.watch.saw_lost_arguments() {
            return Ok(());
        }
        let message =
            format!("{} sent a piece of a call without saying which call it belongs to, or its name.", self.host);
        Err(self.error(Kind::BadResponse, message))
    }

    fn truncated(&self) -> ModelError {
        let host = &self.host;
        match self.watch.ending() {
            Some(Ending::Stalled) => self.stalled(),
            Some(Ending::TooLarge) => {
                let message = format!("{host} sent more than an answer may have.");
                ModelError { retryable: false, ..self.error(Kind::BadResponse, message) }
            }
            Some(Ending::Broken(how)) => {
                self.error(Kind::CutOff, format!("The connection to {host} broke within the answer: {how}"))
            }
            None if self.watch.saw_data() => {
                self.error(Kind::CutOff, format!("{host} ended its answer before it was complete."))
            }
            None => self.error(Kind::BadResponse, format!("{host} answered nothing.")),
        }
    }

    fn stalled(&self) -> ModelError {
        self.error(Kind::Stalled, format!("{} has been silent for {} seconds.", self.host, self.idle_seconds))
    }

    fn transport(&self, error: &http_client::Error) -> ModelError {
        let open = match error {
            http_client::Error::Instance(source) => source.downcast_ref::<OpenError>(),
            _ => None,
        };
        match open {
            Some(OpenError::Unreachable(how)) => {
                self.error(Kind::Unreachable, format!("{} cannot be reached: {how}", self.host))
            }
            Some(OpenError::Stalled) => self.stalled(),
            Some(OpenError::NoStream { body, .. }) if error_of(body).is_some() => {
                self.refusal(&ProviderResponseError::without_status(body.clone()))
            }
            Some(OpenError::NoStream { content_type, body }) => {
                let message = format!("{} answered {content_type} instead of an event stream: ", self.host);
                let message = message + &excerpt(body);
                ModelError { retryable: false, ..self.error(Kind::BadResponse, message) }
            }
            None => self.error(Kind::BadResponse, format!("{} answered what cannot be read: {error}", self.host)),
        }
    }

    /// A refusal the provider put into words, by status or within a stream.
    fn refusal(&self, response: &ProviderResponseError) -> ModelError {
        let status = response.status.map(|status| status.as_u16()).filter(|status| *status != 200);
        let status = status.or_else(|| in_band_status(&response.body));
        let kind = kind_of(status, &response.body);
        let told = status.map_or_else(String::new, |status| format!(" (status {status})"));
        let message = format!("{}{told}: {}", self.host, said(&response.body));
        let retry_after_ms = response.headers.as_ref().and_then(|headers| self.retry_after(headers));
        ModelError { retry_after_ms, ..self.error(kind, message) }
    }

    fn retry_after(&self, headers: &HeaderMap) -> Option<u64> {
        let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
        let whole_ms = |ms: f64| (ms.is_finite() && ms >= 0.0).then(|| ms.ceil() as u64);
        let in_ms = header("retry-after-ms").and_then(|text| text.parse().ok()).and_then(whole_ms);
        let wait = in_ms.or_else(|| {
            let text = header("retry-after")?;
            if let Ok(seconds) = text.parse::<f64>() {
                return whole_ms(seconds * 1_000.0);
            }
            let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_millisecond();
            u64::try_from((at - self.clock.now().as_millis()).max(0)).ok()
        });
        wait.map(|ms| ms.min(RETRY_AFTER_CEILING_MS))
    }

    fn error(&self, kind: Kind, message: String) -> ModelError {
        let message = match &self.key {
            Some(key) => message.replace(key.as_str(), "[key]"),
            None => message,
        };
        ModelError { kind, message, retryable: retryable(kind), retry_after_ms: None }
    }
}

/// The kind of a refusal. The status decides, except where one status stands for several kinds.
fn kind_of(status: Option<u16>, body: &str) -> Kind {
    let words = body.to_ascii_lowercase();
    let any = |needles: &[&str]| needles.iter().any(|needle| words.contains(needle));
    let by_words = || {
        let table: [(Kind, &[&str]); 8] = [
            (Kind::ContextWindow, CONTEXT_WORDS),
            (Kind::BadResponse, &["tool_use_failed"]),
            (Kind::BadRequest, &["blocked the prompt"]),
            (Kind::Quota, QUOTA_WORDS),
            (Kind::RateLimited, &["rate_limit", "rate limit", "too many requests"]),
            (Kind::Auth, &["invalid_api_key", "invalid api key", "api key not valid", "authentication_error"]),
            (Kind::ModelNotFound, &["model_not_found"]),
            (Kind::Overloaded, &["overloaded", "server_error", "unavailable", "internal error", "capacity"]),
        ];
        table.into_iter().find_map(|(kind, needles)| any(needles).then_some(kind))
    };
    match status {
        Some(401 | 403) => Kind::Auth,
        Some(402) => Kind::Quota,
        Some(404) => Kind::ModelNotFound,
        Some(413) => Kind::ContextWindow,
        Some(429) if any(QUOTA_WORDS) => Kind::Quota,
        Some(429) => Kind::RateLimited,
        Some(408 | 500..) => Kind::Overloaded,
        Some(_) => by_words().filter(|kind| *kind != Kind::Overloaded).unwrap_or(Kind::BadRequest),
        None if any(&["invalid_request"]) => by_words().unwrap_or(Kind::BadRequest),
        None => by_words().unwrap_or(Kind::BadResponse),
    }
}

const QUOTA_WORDS: &[&str] = &["insufficient_quota", "exceeded your current quota", "billing", "insufficient credit"];

const CONTEXT_WORDS: &[&str] = &[
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "too many tokens",
];

/// The status an error within a stream carries in its body, as gateways do.
fn in_band_status(body: &str) -> Option<u16> {
    let error = error_of(body)?;
    let status = ["status_code", "code", "status"].iter().find_map(|member| error.get(member)?.as_u64());
    status.and_then(|status| u16::try_from(status).ok()).filter(|status| (400..600).contains(status))
}

/// The error a body tells of, whichever way providers spell it.
fn error_of(body: &str) -> Option<Value> {
    let body: Value = serde_json::from_str(body).ok()?;
    let error = body.get("error").filter(|error| !error.is_null());
    error.or_else(|| body.get("detail").or_else(|| body.get("message")).map(|_| &body)).cloned()
}

/// The provider's own words for a person.
fn said(body: &str) -> String {
    let error = error_of(body);
    let message = error.as_ref().and_then(|error| {
        let member = ["message", "detail"].iter().find_map(|member| error.get(member)?.as_str());
        member.or_else(|| error.as_str())
    });
    excerpt(message.unwrap_or(body))
}

fn excerpt(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(EXCERPT_CHARACTERS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None if text.is_empty() => "(no words)".to_owned(),
        None => text,
    }
}
