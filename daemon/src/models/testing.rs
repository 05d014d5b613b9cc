//! Chains, requests and endpoints for the tests of this room.

use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt, StreamExt, future::BoxFuture};
use ropewalk_protocol::{Endpoint, Message, Provider, Timestamp};
use serde_json::{Value, json};

use super::{
    ChainMessage, Model, ModelAnswer, ModelError, ModelEvent, ModelRequest, ToolDefinition,
    rig::{Connection, ProviderModel, Sender, Shape},
};
use crate::clock::Clock;

/// A clock that stands at one moment and whose waits are real ones.
pub(super) struct FixedClock;

impl FixedClock {
    pub(super) const NOW: &str = "2026-11-30T10:00:00Z";
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Self::NOW.parse().unwrap()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }
}

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

/// A message of this role; `fields` go over the defaults.
pub(super) fn chained(role: &str, fields: &Value) -> Arc<ChainMessage> {
    let mut message = json!({
        "messageId": "m", "threadId": "th", "branchId": "th", "role": role, "delivery": "turn",
        "content": [], "at": FixedClock::NOW,
    });
    for (name, value) in fields.as_object().unwrap() {
        message[name] = value.clone();
    }
    let message: Message = serde_json::from_value(message).unwrap();
    Arc::new(ChainMessage { message, provider_parts: None })
}

pub(super) fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

pub(super) fn user(said: &str) -> Arc<ChainMessage> {
    chained("user", &json!({"content": text(said)}))
}

pub(super) fn assistant(said: &str, calls: &Value) -> Arc<ChainMessage> {
    chained("assistant", &json!({"content": text(said), "toolCalls": calls}))
}

pub(super) fn result(call_id: &str, said: &str) -> Arc<ChainMessage> {
    chained("tool", &json!({"callId": call_id, "content": text(said)}))
}

pub(super) fn request(messages: Vec<Arc<ChainMessage>>, tools: &[&str]) -> ModelRequest {
    let tools = tools.iter().map(|name| ToolDefinition {
        name: (*name).to_owned(),
        description: "A tool.".to_owned(),
        input_schema: Arc::new(json!({"type": "object"})),
    });
    ModelRequest {
        model: "m-1".to_owned(),
        instructions: "Be brief.".to_owned(),
        messages,
        tools: tools.collect(),
        max_output_tokens: None,
    }
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

/// Making one is slow, because it reads the machine's certificates.
static HTTP: LazyLock<reqwest::Client> = LazyLock::new(|| reqwest::Client::builder().no_proxy().build().unwrap());

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

/// A model of any provider but the scripted one that hears this answer, whatever it asks.
pub(super) fn model_that_hears(content_type: &'static str, pieces: Arc<[Bytes]>, provider: Provider) -> Arc<dyn Model> {
    let http = Sender::Canned { content_type, pieces };
    Arc::new(ProviderModel::new(Connection {
        http,
        ..connection(Arc::new(FixedClock), provider, "http://127.0.0.1/v1")
    }))
}

pub(super) fn connection(clock: Arc<dyn Clock>, provider: Provider, base_url: &str) -> Connection {
    Connection {
        shape: Shape::of(provider).unwrap(),
        base_url: base_url.to_owned(),
        context_tokens: None,
        headers: reqwest::header::HeaderMap::new(),
        proxy_url: None,
        key: Some("sk-secret-1".to_owned()),
        http: Sender::Network(HTTP.clone()),
        clock,
        idle_timeout: Duration::from_secs(30),
    }
}

pub(super) fn chat_model_by(clock: Arc<dyn Clock>, base_url: &str, idle_timeout: Duration) -> Arc<dyn Model> {
    model_by(clock, Provider::OpenaiCompatible, base_url, idle_timeout)
}

/// What a model said until it failed, and how it ended.
pub(super) struct Heard {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) end: Result<ModelAnswer, ModelError>,
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

/// Listens to a model to the end, which must be exactly one.
pub(super) async fn listen(model: &dyn Model, request: ModelRequest) -> Heard {
    let (mut text, mut reasoning) = (String::new(), String::new());
    let mut stream = model.stream(request);
    let end = loop {
        match stream.next().await.expect("a stream ends with an answer or an error") {
            Ok(ModelEvent::Text(delta)) => text += &delta,
            Ok(ModelEvent::Reasoning(delta)) => reasoning += &delta,
            Ok(ModelEvent::Finished(answer)) => break Ok(answer),
            Err(error) => break Err(error),
        }
    };
    assert!(stream.next().await.is_none(), "nothing comes after the end");
    Heard { text, reasoning, end }
}
