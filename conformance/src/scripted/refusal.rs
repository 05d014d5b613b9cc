//! Why a request gets no answer, in the words of each shape.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use ropewalk_script::FailKind;
use serde_json::{Value, json};

use super::{json_response, shape::Shape};

/// A status with its reason.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) message: String,
    param: Option<String>,
    code: Option<&'static str>,
    /// What Anthropic calls it, where the status does not say.
    kind: Option<&'static str>,
}

/// The number that stands for the 529 of a provider with too much to do.
const OVERLOADED: u16 = 529;

impl Refusal {
    pub(super) fn bad_request(message: impl Into<String>, param: Option<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into(), param, code: None, kind: None }
    }

    pub(super) fn wrong_key() -> Self {
        let message = "Incorrect API key provided.".to_owned();
        let code = Some("invalid_api_key");
        Self { status: StatusCode::UNAUTHORIZED, message, param: None, code, kind: None }
    }

    /// A request with more tokens than the window has.
    pub(super) fn too_long(shape: Shape, tokens: u64, window: u64) -> Self {
        let message = match shape {
            Shape::Chat => format!(
                "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} \
                 tokens. Please reduce the length of the messages."
            ),
            Shape::Responses => {
                "Your input exceeds the context window of this model. Please adjust your input and try again."
                    .to_owned()
            }
            Shape::Messages => format!("prompt is too long: {tokens} tokens > {window} maximum"),
        };
        let param = Some(shape.longest_field().to_owned());
        let code = Some("context_length_exceeded");
        Self { status: StatusCode::BAD_REQUEST, message, param, code, kind: None }
    }

    /// A failure of the script that a status tells; `None` for those that only a body or a stream can show.
    pub(super) fn of_script(shape: Shape, kind: FailKind) -> Option<Self> {
        let status = match kind {
            FailKind::CutOff | FailKind::Stalled | FailKind::BadResponse => return None,
            FailKind::RateLimited => 429,
            FailKind::Quota if shape == Shape::Messages => 400,
            FailKind::Quota => 429,
            FailKind::Overloaded if shape == Shape::Messages => OVERLOADED,
            FailKind::Overloaded => 503,
            FailKind::Auth => 401,
            FailKind::BadRequest | FailKind::ContextWindow => 400,
            FailKind::ModelNotFound => 404,
            _ => 500,
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let code = Some(code(kind));
        let kind_of_error = (kind == FailKind::Quota).then_some("invalid_request_error");
        Some(Self { status, message: words(shape, kind), param: None, code, kind: kind_of_error })
    }

    /// The body that goes with the status.
    pub(super) fn body(&self, shape: Shape) -> Value {
        let Self { message, param, code, .. } = self;
        if shape == Shape::Messages {
            let kind = self.kind.unwrap_or_else(|| kind_of_status(self.status.as_u16()));
            return json!({
                "type": "error", "error": {"type": kind, "message": message}, "request_id": "req_script",
            });
        }
        let kind = match self.status.as_u16() {
            400 | 401 | 404 => "invalid_request_error",
            429 => code.unwrap_or("requests"),
            _ => "server_error",
        };
        json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
    }

    pub(super) fn response(&self, shape: Shape) -> Response {
        let mut response = json_response(self.status, &self.body(shape));
        if self.status == StatusCode::TOO_MANY_REQUESTS && self.code != Some(code(FailKind::Quota)) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// A page of something that stands before the provider and is no answer of it.
pub(super) fn page() -> Response {
    let mut page = Response::new(Body::from("<html><body>Bad gateway</body></html>"));
    page.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
    page
}

/// What OpenAI calls a failure of the script.
const fn code(kind: FailKind) -> &'static str {
    match kind {
        FailKind::RateLimited => "rate_limit_exceeded",
        FailKind::Quota => "insufficient_quota",
        FailKind::Auth => "invalid_api_key",
        FailKind::BadRequest => "invalid_value",
        FailKind::ModelNotFound => "model_not_found",
        FailKind::ContextWindow => "context_length_exceeded",
        _ => "server_error",
    }
}

/// What OpenAI calls a failure of the script inside a stream, where no status says that it is the request's fault.
pub(super) const fn code_in_stream(kind: FailKind) -> &'static str {
    match kind {
        FailKind::BadRequest => "invalid_request_error",
        kind => code(kind),
    }
}

/// What Anthropic calls a failure of the script inside a stream.
pub(super) const fn kind_in_stream(kind: FailKind) -> &'static str {
    match kind {
        FailKind::RateLimited => "rate_limit_error",
        FailKind::Quota => "billing_error",
        FailKind::Overloaded => "overloaded_error",
        FailKind::Auth => "authentication_error",
        FailKind::BadRequest | FailKind::ContextWindow => "invalid_request_error",
        FailKind::ModelNotFound => "not_found_error",
        _ => "api_error",
    }
}

/// The message of a failure of the script. Where a provider tells one by its words alone, these are its words.
pub(super) fn words(shape: Shape, kind: FailKind) -> String {
    match (shape, kind) {
        (Shape::Messages, FailKind::ContextWindow) => "prompt is too long: 200001 tokens > 200000 maximum".to_owned(),
        (Shape::Messages, FailKind::Quota) => "Your credit balance is too low to access the Anthropic API. Please go \
                                               to Plans & Billing to upgrade or purchase credits."
            .to_owned(),
        _ => format!("The script told the scripted model to fail: {}.", kind.word()),
    }
}

const fn kind_of_status(status: u16) -> &'static str {
    match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        OVERLOADED => "overloaded_error",
        _ => "api_error",
    }
}
