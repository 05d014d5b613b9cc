//! What the scripted server says and refuses, without a client of ours.

mod chat;
mod messages;
mod responses;
mod window;

use axum::body::to_bytes;
use serde_json::{Value, json};

use super::{Asked, Shape, memory::Memory, voice};

/// The number of the answers, which their ids have in them.
const NUMBER: u64 = 3;

fn refused_by(shape: Shape, body: &Value, memory: &Memory) -> Option<String> {
    shape.strict_refusal(body, memory).map(|refusal| refusal.message)
}

async fn body_of(shape: Shape, request: Value, memory: &Memory) -> String {
    let asked = Asked { shape, number: NUMBER, memory, only_call_id: None };
    let body = voice::answer(request, asked).await.into_body();
    String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap()
}

/// The answer in one piece.
async fn answer_of(shape: Shape, request: Value, memory: &Memory) -> Value {
    serde_json::from_str(&body_of(shape, request, memory).await).unwrap()
}

/// What the events of the answer carry; a marker that is no JSON as a text.
async fn events_of(shape: Shape, mut request: Value, memory: &Memory) -> Vec<Value> {
    request["stream"] = json!(true);
    let body = body_of(shape, request, memory).await;
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| json!(data))).collect()
}
