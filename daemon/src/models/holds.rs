//! What holds of every answer of a provider, whatever its body is. The tests try it with bodies that are broken from fixed
//! seeds, and the fuzzers of `conformance/fuzz` with whatever takes a new path. No socket is needed for it.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt, StreamExt, future::BoxFuture};
use ropewalk_protocol::{Message, Provider, Timestamp};
use serde_json::{Value, json};

use super::{
    ChainMessage, Model, ModelAnswer, ModelError, ModelEvent, ModelRequest, ToolDefinition,
    rig::{Connection, ProviderModel, Sender, Shape},
};
use crate::clock::Clock;

/// That an answer ends once, whatever its body is and however it is cut, and ends well only with proof of its end.
///
/// # Panics
/// When it does not hold.
pub async fn of_an_answer(shape: Provider, body: &[u8], offsets: &[usize]) -> Heard {
    let heard = hear(shape, body, offsets).await;
    let proof = heard.end.is_err() || proves_its_end(shape, body);
    assert!(proof, "a good end without proof of it: {}", String::from_utf8_lossy(body));
    heard
}

/// Whether something in the body says that its answer ended, read without the decoder.
fn proves_its_end(shape: Provider, body: &[u8]) -> bool {
    let is_text = |value: Option<&Value>| value.is_some_and(Value::is_string);
    records(shape, body).any(|record| match shape {
        Provider::OpenaiCompatible => is_text(record.pointer("/choices/0/finish_reason")),
        Provider::Anthropic => is_text(record.pointer("/delta/stop_reason")),
        Provider::Gemini => record.pointer("/candidates/0/finishReason").is_some_and(|reason| !reason.is_null()),
        Provider::Ollama => record["done"] == true,
        _ => record["type"] == "response.completed" || record["type"] == "response.incomplete",
    })
}

/// The JSON records of a body, as far as it has any.
fn records(shape: Provider, body: &[u8]) -> impl Iterator<Item = Value> {
    let text = String::from_utf8_lossy(body).trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let separator = if shape == Provider::Ollama { "\n" } else { "\n\n" };
    let data = |event: &str| {
        let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let records = text.split(separator).map(|event| match shape {
        Provider::Ollama => event.to_owned(),
        _ => data(event),
    });
    let records = records.filter_map(|record| serde_json::from_str(&record).ok());
    records.collect::<Vec<_>>().into_iter()
}

/// What a model of this shape makes of a body that comes in pieces cut before these offsets.
pub(in crate::models) async fn hear(shape: Provider, body: &[u8], offsets: &[usize]) -> Heard {
    let model = model_that_hears(content_type(shape), pieces(body, offsets), shape);
    listen(&*model, request(vec![user("hi")], &["weather"])).await
}

/// The media type in which a provider of this shape answers.
pub(in crate::models) const fn content_type(shape: Provider) -> &'static str {
    match shape {
        Provider::Ollama => "application/x-ndjson",
        _ => "text/event-stream",
    }
}

/// A body cut before these offsets, which ascend and lie within it.
pub(in crate::models) fn pieces(body: &[u8], offsets: &[usize]) -> Arc<[Bytes]> {
    let body = Bytes::copy_from_slice(body);
    let starts = std::iter::once(0).chain(offsets.iter().copied());
    let ends = offsets.iter().copied().chain([body.len()]);
    starts.zip(ends).map(|(start, end)| body.slice(start..end)).collect()
}

/// What a model said until it failed, and how it ended.
pub struct Heard {
    pub(in crate::models) text: String,
    pub(in crate::models) reasoning: String,
    pub(in crate::models) end: Result<ModelAnswer, ModelError>,
}

/// Listens to a model to the end, which must be exactly one.
pub(in crate::models) async fn listen(model: &dyn Model, request: ModelRequest) -> Heard {
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

/// A model of any provider but the scripted one that hears this answer, whatever it asks.
pub(in crate::models) fn model_that_hears(
    content_type: &'static str,
    pieces: Arc<[Bytes]>,
    provider: Provider,
) -> Arc<dyn Model> {
    let http = Sender::Canned { content_type, pieces };
    Arc::new(ProviderModel::new(Connection {
        http,
        ..connection(Arc::new(FixedClock), provider, "http://127.0.0.1/v1")
    }))
}

pub(in crate::models) fn connection(clock: Arc<dyn Clock>, provider: Provider, base_url: &str) -> Connection {
    Connection {
        shape: Shape::of(provider).expect("it is no scripted one"),
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

/// Making one is slow, because it reads the machine's certificates.
pub(in crate::models) static HTTP: LazyLock<reqwest::Client> = LazyLock::new(|| {
    reqwest::Client::builder().no_proxy().build().expect("the certificates of the machine can be read")
});

/// A clock that stands at one moment and whose waits are real ones.
pub(in crate::models) struct FixedClock;

impl FixedClock {
    pub(in crate::models) const NOW: &str = "2026-11-30T10:00:00Z";
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Self::NOW.parse().expect("it is a time")
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }
}

pub(in crate::models) fn request(messages: Vec<Arc<ChainMessage>>, tools: &[&str]) -> ModelRequest {
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

/// A message of this role; `fields` go over the defaults.
pub(in crate::models) fn chained(role: &str, fields: &Value) -> Arc<ChainMessage> {
    let mut message = json!({
        "messageId": "m", "threadId": "th", "branchId": "th", "role": role, "delivery": "turn",
        "content": [], "at": FixedClock::NOW,
    });
    for (name, value) in fields.as_object().expect("it is an object") {
        message[name] = value.clone();
    }
    let message: Message = serde_json::from_value(message).expect("it is a message");
    Arc::new(ChainMessage { message, provider_parts: None })
}

pub(in crate::models) fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

pub(in crate::models) fn user(said: &str) -> Arc<ChainMessage> {
    chained("user", &json!({"content": text(said)}))
}
