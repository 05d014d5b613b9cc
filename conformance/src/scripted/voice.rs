//! From a request to the bytes of its answer, whatever its shape.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use futures::{StreamExt, stream};
use ropewalk_script::{Action, FailKind, respond};
use serde_json::Value;

use super::{
    fault, json_response,
    memory::Memory,
    plan::{Happening, Making, Plan},
    refusal::{self, Refusal},
    shape::{Header, Shape},
    tokens,
};

/// How an answer is said in one shape.
pub(super) trait Voice: Send {
    /// The answer that is said.
    fn plan(&self) -> &Plan;
    /// What comes before the first block.
    fn opening(&mut self) -> Vec<Bytes>;
    /// A block begins.
    fn open(&mut self, place: usize) -> Vec<Bytes>;
    /// More of it.
    fn delta(&mut self, place: usize, text: &str) -> Vec<Bytes>;
    /// It is complete.
    fn close(&mut self, place: usize) -> Vec<Bytes>;
    /// The end of a stream that fails and can say so.
    fn failure(&mut self, kind: FailKind) -> Bytes;
    /// The end of a good stream.
    fn closing(&mut self) -> Vec<Bytes>;
    /// The answer in one piece.
    fn whole(&self) -> Value;
    /// The reasoning that must come back with the calls of this answer.
    fn reasoning(&self) -> Vec<Value>;
}

/// What a streamed answer does next.
enum Step {
    Send(Bytes),
    Sleep(Duration),
    Cut,
    Stall,
}

/// What the server knows beside the request.
pub(super) struct Asked<'a> {
    pub(super) shape: Shape,
    pub(super) number: u64,
    pub(super) memory: &'a Memory,
    /// The id that all calls have, if they have one.
    pub(super) only_call_id: Option<&'a str>,
}

/// The answer to a request that was not refused.
pub(super) async fn answer(request: Value, asked: Asked<'_>) -> Response {
    let Asked { shape, number, .. } = asked;
    let mut actions = respond(&shape.conversation(&request));
    let first = actions.iter().position(|action| !matches!(action, Action::Sleep { .. })).unwrap_or(actions.len());
    for action in actions.drain(..first) {
        if let Action::Sleep { ms } = action {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
    }
    // A failure before the first word is an answer of another status, as with any provider.
    if let Some(Action::Fail { kind }) = actions.first()
        && let Some(response) = refused(shape, *kind)
    {
        return response;
    }
    let own_id = |call: usize| match asked.only_call_id {
        Some(id) => id.to_owned(),
        None => format!("{}{number}_{call}", shape.call_prefix()),
    };
    let names = shape.tool_names(&request);
    let making = Making { names: &names, call_id: &own_id, limit: shape.output_limit(&request) };
    let plan = Plan::new(actions, &making);
    let streamed_answer = request["stream"] == true;
    let model = request["model"].as_str().unwrap_or_default().to_owned();
    let header = Header { number, input_tokens: tokens::of_request(shape, &request), request };
    let voice = shape.voice(plan, header);
    asked.memory.remember(&model, voice.plan(), voice.reasoning());
    if streamed_answer { streamed(voice) } else { whole(shape, &*voice) }
}

/// A failure that is told instead of an answer; `None` for those that only a stream can show.
fn refused(shape: Shape, kind: FailKind) -> Option<Response> {
    if kind == FailKind::BadResponse {
        return Some(refusal::page());
    }
    Refusal::of_script(shape, kind).map(|refusal| refusal.response(shape))
}

/// The answer in one piece; waits are left out, for there is nothing to see of them.
fn whole(shape: Shape, voice: &dyn Voice) -> Response {
    let failure = voice.plan().happenings.iter().find_map(|happening| match happening {
        Happening::Fail(kind) => Some(*kind),
        _ => None,
    });
    match failure {
        None => json_response(StatusCode::OK, &voice.whole()),
        Some(kind) => refused(shape, kind).unwrap_or_else(|| {
            let mut broken = refusal::page();
            *broken.status_mut() = StatusCode::BAD_GATEWAY;
            broken
        }),
    }
}

fn streamed(mut voice: Box<dyn Voice>) -> Response {
    let mut steps: Vec<Step> = voice.opening().into_iter().map(Step::Send).collect();
    let mut fails = false;
    for happening in voice.plan().happenings.clone() {
        let said = match happening {
            Happening::Open(place) => voice.open(place),
            Happening::Delta(place, text) => voice.delta(place, &text),
            Happening::Close(place) => voice.close(place),
            Happening::Sleep { ms } => {
                steps.push(Step::Sleep(Duration::from_millis(ms)));
                continue;
            }
            Happening::Fail(kind) => {
                fails = true;
                steps.push(failure(&mut *voice, kind));
                continue;
            }
        };
        steps.extend(said.into_iter().map(Step::Send));
    }
    if !fails {
        steps.extend(voice.closing().into_iter().map(Step::Send));
    }
    let body = stream::iter(steps).filter_map(|step| async {
        match step {
            Step::Send(bytes) => Some(Ok(bytes)),
            Step::Sleep(time) => {
                tokio::time::sleep(time).await;
                None
            }
            Step::Cut => Some(fault::cut().await),
            Step::Stall => std::future::pending().await,
        }
    });
    let mut response = Response::new(Body::from_stream(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

fn failure(voice: &mut dyn Voice, kind: FailKind) -> Step {
    match kind {
        FailKind::CutOff => Step::Cut,
        FailKind::Stalled => Step::Stall,
        FailKind::BadResponse => Step::Send(Bytes::from_static(b"data: {\"choices\":[{\"delta\":\n\n")),
        kind => Step::Send(voice.failure(kind)),
    }
}

/// An event without a name.
pub(super) fn event(data: &Value) -> Bytes {
    Bytes::from(format!("data: {data}\n\n"))
}

/// An event named after its type.
pub(super) fn named_event(data: &Value) -> Bytes {
    Bytes::from(format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default()))
}

/// The texts of a content that is a text or a list of parts.
pub(super) fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
