//! The scripted model in the shape of OpenAI's chat completions.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use futures::{StreamExt, stream};
use ropewalk_script::{Action, FailKind, Turn, resolve_name, respond};
use serde_json::{Value, json};

use super::{fault, json_response};

/// The answer to a request that was not refused; `number` makes its ids unlike those of other answers.
pub(super) async fn answer(request: &Value, number: u64) -> Response {
    let mut actions = VecDeque::from(respond(&conversation(request)));
    while let Some(Action::Sleep { ms }) = actions.front() {
        tokio::time::sleep(Duration::from_millis(*ms)).await;
        actions.pop_front();
    }
    // A failure before the first word is an answer of another status, as with any provider.
    if let Some(Action::Fail { kind }) = actions.front()
        && let Some(refusal) = refused(*kind)
    {
        return refusal;
    }
    let answer = Answer::new(request, number);
    if request["stream"] == true { streamed(answer, actions) } else { answer.whole(actions) }
}

/// The conversation as the script engine reads it.
fn conversation(request: &Value) -> Vec<Turn> {
    let mut names = HashMap::new();
    let messages = request["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let turns = messages.iter().filter_map(|message| {
        let texts = texts(&message["content"]);
        match message["role"].as_str()? {
            "user" => Some(Turn::User(texts)),
            "assistant" => {
                let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
                let called = calls.iter().map(|call| {
                    let name = call["function"]["name"].as_str().unwrap_or_default();
                    names.insert(call["id"].as_str().unwrap_or_default(), name);
                    name
                });
                Some(Turn::assistant(called))
            }
            "tool" => {
                let name = names.get(message["tool_call_id"].as_str()?).copied().unwrap_or("tool");
                Some(Turn::result(name, texts))
            }
            _ => None,
        }
    });
    turns.collect()
}

fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// A failure that is told by a status; `None` for those that only a stream can show.
fn refused(kind: FailKind) -> Option<Response> {
    let (status, code) = match kind {
        FailKind::CutOff | FailKind::Stalled => return None,
        FailKind::BadResponse => {
            let mut page = Response::new(Body::from("<html><body>Bad gateway</body></html>"));
            page.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
            return Some(page);
        }
        FailKind::RateLimited => (429, "rate_limit_exceeded"),
        FailKind::Quota => (429, "insufficient_quota"),
        FailKind::Overloaded => (503, "overloaded"),
        FailKind::Auth => (401, "invalid_api_key"),
        FailKind::BadRequest => (400, "invalid_value"),
        FailKind::ModelNotFound => (404, "model_not_found"),
        FailKind::ContextWindow => (400, "context_length_exceeded"),
        other => (500, other.word()),
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json_response(status, &error(kind, code));
    if kind == FailKind::RateLimited {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    Some(response)
}

fn error(kind: FailKind, code: &str) -> Value {
    let message = format!("The script told the scripted model to fail: {}.", kind.word());
    json!({"error": {"message": message, "type": code, "param": null, "code": code}})
}

/// An answer under way.
struct Answer {
    number: u64,
    model: Value,
    names: Vec<String>,
    include_usage: bool,
    input_characters: usize,
    output_characters: usize,
    calls: u64,
}

/// What a streamed answer does next.
enum Step {
    Send(Bytes),
    Sleep(Duration),
    Cut,
    Stall,
}

impl Answer {
    fn new(request: &Value, number: u64) -> Self {
        let tools = request["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let names = tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).map(str::to_owned);
        Self {
            number,
            model: request["model"].clone(),
            names: names.collect(),
            include_usage: request["stream_options"]["include_usage"] == true,
            input_characters: request["messages"].to_string().len() + request["tools"].to_string().len(),
            output_characters: 0,
            calls: 0,
        }
    }

    fn steps(&mut self, action: Action) -> Vec<Step> {
        match action {
            Action::Say(text) => {
                let text = self.wrote(text);
                vec![self.delta(&json!({"content": text}))]
            }
            Action::Think(text) => {
                let text = self.wrote(text);
                vec![self.delta(&json!({"reasoning_content": text}))]
            }
            Action::Call { tool, arguments } => self.call_steps(&tool, &arguments),
            Action::Sleep { ms } => vec![Step::Sleep(Duration::from_millis(ms))],
            Action::Fail { kind: FailKind::CutOff } => vec![Step::Cut],
            Action::Fail { kind: FailKind::Stalled } => vec![Step::Stall],
            Action::Fail { kind: FailKind::BadResponse } => {
                vec![Step::Send(Bytes::from_static(b"data: {\"choices\":[{\"delta\":\n\n"))]
            }
            Action::Fail { kind } => {
                let code = match kind {
                    FailKind::RateLimited => "rate_limit_exceeded",
                    FailKind::Quota => "insufficient_quota",
                    FailKind::Auth => "invalid_api_key",
                    FailKind::BadRequest => "invalid_request_error",
                    FailKind::ModelNotFound => "model_not_found",
                    FailKind::ContextWindow => "context_length_exceeded",
                    _ => "server_error",
                };
                vec![event(&error(kind, code))]
            }
        }
    }

    fn wrote(&mut self, text: String) -> String {
        self.output_characters += text.len();
        text
    }

    /// A call in three deltas: its name, then its arguments in two halves.
    fn call_steps(&mut self, tool: &str, arguments: &str) -> Vec<Step> {
        let call = self.call(tool, arguments);
        let index = self.calls - 1;
        let half = arguments.len() / 2;
        let half = (half..).find(|at| arguments.is_char_boundary(*at)).unwrap_or(arguments.len());
        let (head, tail) = arguments.split_at(half);
        let mut opening = call;
        opening["index"] = json!(index);
        opening["function"]["arguments"] = json!("");
        let mut steps = vec![self.delta(&json!({"tool_calls": [opening]}))];
        for part in [head, tail].iter().filter(|part| !part.is_empty()) {
            let fragment = json!({"index": index, "function": {"arguments": part}});
            steps.push(self.delta(&json!({"tool_calls": [fragment]})));
        }
        steps
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Value {
        let name = resolve_name(tool, self.names.iter().map(String::as_str)).to_owned();
        let id = format!("call_{}_{}", self.number, self.calls);
        self.calls += 1;
        self.output_characters += name.len() + arguments.len();
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    }

    fn delta(&self, delta: &Value) -> Step {
        event(&self.envelope("chat.completion.chunk", json!({"index": 0, "delta": delta, "finish_reason": null})))
    }

    /// The end of a good stream: its reason, its usage where asked for, and the marker.
    fn closing(&self) -> Vec<Step> {
        let choice = json!({"index": 0, "delta": {}, "finish_reason": self.finish_reason()});
        let mut steps = vec![event(&self.envelope("chat.completion.chunk", choice))];
        if self.include_usage {
            let mut chunk = self.envelope("chat.completion.chunk", Value::Null);
            chunk["choices"] = json!([]);
            chunk["usage"] = self.usage();
            steps.push(event(&chunk));
        }
        steps.push(Step::Send(Bytes::from_static(b"data: [DONE]\n\n")));
        steps
    }

    fn envelope(&self, object: &str, choice: Value) -> Value {
        let id = format!("chatcmpl-script-{}", self.number);
        json!({"id": id, "object": object, "created": 0, "model": self.model, "choices": [choice]})
    }

    const fn finish_reason(&self) -> &'static str {
        if self.calls > 0 { "tool_calls" } else { "stop" }
    }

    /// A token is taken for four characters.
    fn usage(&self) -> Value {
        let (input, output) = (self.input_characters.div_ceil(4), self.output_characters.div_ceil(4));
        json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
    }

    /// The answer in one piece; waits are left out, for there is nothing to see of them.
    fn whole(mut self, actions: VecDeque<Action>) -> Response {
        let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
        for action in actions {
            match action {
                Action::Say(words) => text += &self.wrote(words),
                Action::Think(words) => reasoning += &self.wrote(words),
                Action::Call { tool, arguments } => calls.push(self.call(&tool, &arguments)),
                Action::Sleep { .. } => {}
                Action::Fail { kind } => {
                    return refused(kind)
                        .unwrap_or_else(|| json_response(StatusCode::BAD_GATEWAY, &error(kind, "cut")));
                }
            }
        }
        let mut message = json!({"role": "assistant", "content": text});
        if !reasoning.is_empty() {
            message["reasoning_content"] = json!(reasoning);
        }
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": self.finish_reason()});
        let mut body = self.envelope("chat.completion", choice);
        body["usage"] = self.usage();
        json_response(StatusCode::OK, &body)
    }
}

fn event(data: &Value) -> Step {
    Step::Send(Bytes::from(format!("data: {data}\n\n")))
}

fn streamed(mut answer: Answer, actions: VecDeque<Action>) -> Response {
    let mut steps = vec![answer.delta(&json!({"role": "assistant", "content": ""}))];
    let fails = matches!(actions.back(), Some(Action::Fail { .. }));
    for action in actions {
        steps.extend(answer.steps(action));
    }
    if !fails {
        steps.extend(answer.closing());
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
