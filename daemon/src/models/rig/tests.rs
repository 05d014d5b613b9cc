//! The whole HTTP path against servers that play what real and broken providers send.

mod adversarial;
mod bodies;
mod endings;
mod framing;
mod reaching;
mod requests;
mod returning;
mod scripted;
mod unproven;

use std::time::Duration;

use ropewalk_conformance::{RawReply, RawServer};

use crate::models::testing::{Heard, chat_model, listen, request, user};

/// Longer than any answer of these tests takes; what waits for it fails.
const LONG: Duration = Duration::from_secs(30);

/// What the model makes of this reply.
async fn hear(reply: RawReply) -> Heard {
    let server = RawServer::start([reply]).await.unwrap();
    listen(&*chat_model(&server.base_url(), LONG), request(vec![user("hi")], &["weather"])).await
}

/// A body of these events, whole or not.
fn events(data: &[&str]) -> String {
    data.iter().map(|data| format!("data: {data}\n\n")).collect()
}

const HELLO: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hello"}}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const CALLS: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
const DONE: &str = "[DONE]";

/// A chunk with this tool call fragment.
fn fragment(call: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{call}]}}}}]}}"#)
}
