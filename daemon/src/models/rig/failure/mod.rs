//! Says what went wrong with a provider in our words: a kind, a sentence, whether and when to try again.

mod body;
mod kinds;

use std::sync::Arc;

use rig_core::{
    ProviderResponseError,
    error::ProviderError,
    http_client::{self, HeaderMap},
};
use ropewalk_protocol::RunErrorKind as Kind;

use self::body::{error_of, excerpt, said};
use super::{
    Connection, Shape,
    transport::{Ending, OpenError, Watch},
};
use crate::{
    clock::Clock,
    models::{ModelError, host_of},
};

/// The longest wait a provider can ask for: a day.
const RETRY_AFTER_CEILING_MS: u64 = 86_400_000;

/// Makes the errors of one request.
pub(super) struct Failures {
    watch: Arc<Watch>,
    clock: Arc<dyn Clock>,
    shape: Shape,
    secrets: Vec<String>,
    host: String,
    idle_seconds: u64,
}

impl Failures {
    pub(super) fn new(connection: &Connection, watch: Arc<Watch>) -> Self {
        let host = host_of(&connection.base_url).unwrap_or_else(|| "the provider".to_owned());
        let proxy = connection.proxy_url.as_deref().and_then(|url| reqwest::Url::parse(url).ok());
        let password = proxy.and_then(|proxy| proxy.password().map(str::to_owned));
        let secrets = connection.key.clone().into_iter().chain(password).filter(|secret| !secret.is_empty()).collect();
        let (clock, shape) = (Arc::clone(&connection.clock), connection.shape);
        Self { watch, clock, shape, secrets, host, idle_seconds: connection.idle_timeout.as_secs() }
    }

    /// What an error of rig's means.
    pub(super) fn of(&self, error: &ProviderError) -> ModelError {
        match error {
            ProviderError::Truncated => self.truncated(),
            // The decoder reads what is left of a record that the end of the body cut.
            ProviderError::Json(_) if self.watch.saw_torn_record() => self.truncated(),
            ProviderError::Http(error) => self.transport(error),
            ProviderError::ProviderResponse(response) => self.refusal(response),
            ProviderError::InvalidAuthentication(response) => {
                self.error(Kind::Auth, format!("{} refuses the key: {}", self.host, self.told(&response.body)))
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

    /// Whether the output limit was named as a reason for the end, if not as the last one.
    pub(super) fn saw_output_limit(&self) -> bool {
        self.watch.saw_output_limit()
    }

    /// The provider ended the answer to have calls made, and there is none that can be made.
    pub(super) fn missing_calls(&self) -> ModelError {
        self.error(Kind::BadResponse, format!("{} says that the model calls tools, but no call came.", self.host))
    }

    /// There is no end of the calls. Asked again, there would be none either.
    pub(super) fn too_much(&self) -> ModelError {
        let message = format!("{} sent more than an answer may have.", self.host);
        ModelError { retryable: false, ..self.error(Kind::BadResponse, message) }
    }

    fn truncated(&self) -> ModelError {
        let host = &self.host;
        match self.watch.ending() {
            Some(Ending::Stalled) => self.stalled(),
            Some(Ending::TooLarge) => self.too_much(),
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
            http_client::Error::Protocol(_) | http_client::Error::InvalidHeaderValue(_) => {
                return self.request(&error.to_string());
            }
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
                let message = format!("{} answered {content_type} instead of a stream: ", self.host);
                let message = message + &excerpt(&self.masked(body.clone()));
                let message = hinted(message, "Check the endpoint's baseUrl and provider.");
                ModelError { retryable: false, ..self.error(Kind::BadResponse, message) }
            }
            None => self.error(Kind::BadResponse, format!("{} answered what cannot be read: {error}", self.host)),
        }
    }

    /// A refusal the provider put into words, by status or within a stream.
    fn refusal(&self, response: &ProviderResponseError) -> ModelError {
        let body = &response.body;
        let status = response.status.map(|status| status.as_u16()).filter(|status| *status != 200);
        let status = status.or_else(|| body::in_band_status(body));
        let words = body::words(body);
        let is_filtered = response.refusal || kinds::is_filtered(&words);
        let kind = if response.refusal { Kind::BadResponse } else { kinds::kind_of(status, &words) };
        let told = status.map_or_else(String::new, |status| format!(" (status {status})"));
        let message = format!("{}{told}: {}", self.host, self.told(body));
        let message = match status {
            Some(404) if kind == Kind::BadRequest => {
                let provider = self.shape.provider();
                hinted(message, &format!("Nothing answers where {provider} is asked; check the endpoint's baseUrl."))
            }
            Some(300..=399) => {
                hinted(message, "It sends elsewhere, which is not followed; check the endpoint's baseUrl.")
            }
            _ => message,
        };
        let told_wait = response.headers.as_ref().and_then(|headers| self.retry_after(headers));
        let retry_after_ms = told_wait.or_else(|| body::retry_after_ms(body).and_then(whole_ms));
        let error = ModelError { retry_after_ms, ..self.error(kind, message) };
        // A status below 400 is no refusal and no answer: whatever listens there is not what was asked.
        let is_other = status.is_some_and(|status| status < 400);
        ModelError { retryable: error.retryable && !is_filtered && !is_other, ..error }
    }

    fn retry_after(&self, headers: &HeaderMap) -> Option<u64> {
        let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
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
        ModelError::new(kind, self.masked(message))
    }

    /// The provider's own words. What is secret in them goes before they are cut, so that no half of it is left.
    fn told(&self, body: &str) -> String {
        excerpt(&self.masked(said(body)))
    }

    fn masked(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| text.replace(secret.as_str(), "[key]"))
    }
}

/// A provider's words, which may or may not end a sentence, and ours after them.
fn hinted(mut message: String, hint: &str) -> String {
    if !message.ends_with(['.', '!', '?', '…']) {
        message.push('.');
    }
    message + " " + hint
}

fn whole_ms(ms: f64) -> Option<u64> {
    (ms.is_finite() && ms >= 0.0).then(|| (ms.ceil() as u64).min(RETRY_AFTER_CEILING_MS))
}
