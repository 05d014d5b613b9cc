//! Chains, requests and endpoints for the tests of this room.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use ropewalk_protocol::{Endpoint, Provider, Timestamp};
use serde_json::{Value, json};

pub(super) use super::holds::{FixedClock, Heard, chained, connection, listen, request, text, user};
use super::{
    ChainMessage, Model, ModelAnswer, ModelError,
    holds::HTTP,
    rig::{Connection, ProviderModel, Sender},
};
use crate::clock::Clock;

/// A clock whose waits all end when it is told so, and which counts them.
#[derive(Default)]
pub(super) struct ToldClock {
    pub(super) over: tokio::sync::watch::Sender<bool>,
    pub(super) waits: AtomicUsize,
}

impl Clock for ToldClock {
    fn now(&self) -> Timestamp {
        FixedClock.now()
    }

    fn sleep(&self, _duration: Duration) -> BoxFuture<'static, ()> {
        self.waits.fetch_add(1, Ordering::Relaxed);
        let mut over = self.over.subscribe();
        async move { over.wait_for(|over| *over).await.map(drop).unwrap() }.boxed()
    }
}

pub(super) fn assistant(said: &str, calls: &Value) -> Arc<ChainMessage> {
    chained("assistant", &json!({"content": text(said), "toolCalls": calls}))
}

pub(super) fn result(call_id: &str, said: &str) -> Arc<ChainMessage> {
    chained("tool", &json!({"callId": call_id, "content": text(said)}))
}

pub(super) fn endpoint(provider: &str, base_url: Option<&str>) -> Endpoint {
    let mut endpoint = json!({
        "endpointId": "e", "name": "e", "provider": provider, "model": "m-1", "isDefault": true, "forSubtasks": true,
        "enabled": true, "capability": null, "hasCredential": false, "builtin": false, "revision": 1,
    });
    if let Some(base_url) = base_url {
        endpoint["baseUrl"] = json!(base_url);
    }
    serde_json::from_value(endpoint).unwrap()
}

/// A chat model at this address, which counts as stalled after `idle_timeout`.
pub(super) fn chat_model(base_url: &str, idle_timeout: Duration) -> Arc<dyn Model> {
    chat_model_by(Arc::new(FixedClock), base_url, idle_timeout)
}

/// A model of any provider but the scripted one, at this address, whose silence is never too long for a test.
pub(super) fn model_of(provider: Provider, base_url: &str) -> Arc<dyn Model> {
    model_by(Arc::new(FixedClock), provider, base_url, Duration::from_secs(30))
}

pub(super) fn model_by(
    clock: Arc<dyn Clock>,
    provider: Provider,
    base_url: &str,
    idle_timeout: Duration,
) -> Arc<dyn Model> {
    Arc::new(ProviderModel::new(Connection {
        http: Sender::Network(HTTP.clone()),
        idle_timeout,
        ..connection(clock, provider, base_url)
    }))
}

pub(super) fn chat_model_by(clock: Arc<dyn Clock>, base_url: &str, idle_timeout: Duration) -> Arc<dyn Model> {
    model_by(clock, Provider::OpenaiCompatible, base_url, idle_timeout)
}

impl Heard {
    pub(super) fn answer(self) -> ModelAnswer {
        let answer = self.end.unwrap();
        assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), (self.text.as_str(), self.reasoning.as_str()));
        answer
    }

    pub(super) fn error(self) -> ModelError {
        self.end.unwrap_err()
    }
}
