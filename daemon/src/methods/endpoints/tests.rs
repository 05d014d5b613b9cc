//! Testing an endpoint: an answer, a failure, and none at all.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt, pending, ready};
use ropewalk_protocol::Provider;

use super::*;
use crate::{clock::SystemClock, models::Model};

/// Answers a test in one way; `None` is never.
struct Answers(Option<Result<(), ModelError>>);

impl ModelFactory for Answers {
    fn model(&self, _: &Endpoint, _: Option<String>) -> Result<Arc<dyn Model>, ModelError> {
        Err(silent())
    }

    fn test(&self, _: &Endpoint, _: Option<String>) -> BoxFuture<'static, Result<(), ModelError>> {
        match self.0.clone() {
            Some(answer) => ready(answer).boxed(),
            None => pending().boxed(),
        }
    }
}

fn endpoint() -> Endpoint {
    Endpoint {
        endpoint_id: "ep-1".into(),
        name: "work".to_owned(),
        provider: Provider::Ollama,
        base_url: None,
        model: "m".to_owned(),
        context_tokens: None,
        max_output_tokens: None,
        headers: std::collections::BTreeMap::new(),
        proxy_url: None,
        is_default: false,
        for_subtasks: false,
        enabled: true,
        capability: None,
        good_for: None,
        prices: None,
        has_credential: false,
        builtin: false,
        revision: 1,
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_answers_is_ok() {
    let tested = probe(&Answers(Some(Ok(()))), &SystemClock, &endpoint(), None).await;
    assert_eq!(tested, EndpointTested { ok: true, latency_ms: 0, error: None });
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_fails_is_a_result_with_the_error_and_its_name() {
    let refused = ModelError {
        kind: RunErrorKind::Auth,
        message: "The key is refused.".to_owned(),
        retryable: false,
        retry_after_ms: None,
    };
    let error = probe(&Answers(Some(Err(refused))), &SystemClock, &endpoint(), None).await.error.unwrap();
    assert_eq!((error.kind, error.retryable, error.provider.as_deref()), (RunErrorKind::Auth, false, Some("work")));
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_is_silent_is_given_up_after_thirty_seconds() {
    let tested = probe(&Answers(None), &SystemClock, &endpoint(), None).await;
    let error = tested.error.unwrap();
    assert_eq!((tested.ok, tested.latency_ms), (false, TEST_MS));
    assert_eq!((error.kind, error.retryable), (RunErrorKind::Stalled, true));
}
