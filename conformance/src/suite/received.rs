//! What an endpoint received, as a list of turns that is the same for every shape, beside what `thread/messages` shows.
//!
//! A turn is `["user", text]`, `["assistant", text, [[id, name, arguments], …]]` or `["tool", id, text]`. Messages of the
//! user that follow each other may be sent as one; a failure is told in the result's text where a shape has no mark for
//! it, so here it is always; images are told by their type.

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Fresh, Raw};
use crate::{RecordedRequest, ScriptedServer, ServerOptions, Shape};

/// A thread that is answered by a strict server in one shape.
pub(super) struct Talk {
    pub(super) server: ScriptedServer,
    pub(super) bot: Raw,
    pub(super) thread: Value,
}

impl Talk {
    /// A thread with these tools on a server of its own, whose endpoint is the default from now on.
    pub(super) async fn new(subject: &Fresh, shape: Shape, tools: &[Value]) -> Self {
        Self::with(subject, shape, tools, ServerOptions::default()).await
    }

    /// The same with a server of this kind.
    pub(super) async fn with(subject: &Fresh, shape: Shape, tools: &[Value], options: ServerOptions) -> Self {
        let server = ScriptedServer::start(ServerOptions { strict: true, ..options }).await.unwrap();
        let mut bot = subject.bot().await;
        bot.call("endpoint/set", endpoint(&server, shape)).await;
        let thread = bot.start(tools).await;
        Self { server, bot, thread }
    }

    /// Submits a script, answers its calls with these results in turn, and waits for its end.
    pub(super) async fn play(&mut self, script: &str, results: &[Value]) -> Value {
        let run = self.bot.submit(&self.thread, script).await;
        for result in results {
            let call = self.bot.asked("tool/call").await;
            self.bot.reply(&call, result.clone()).await;
        }
        let ended = self.bot.ended(&run).await;
        assert_eq!(ended["outcome"]["status"], "completed", "{script}: {ended}");
        ended
    }

    /// No request was refused, and the last one is the chain as it is shown.
    pub(super) async fn same_as_shown(&mut self) {
        same_as_shown(&self.server, &mut self.bot, &self.thread).await;
    }
}

/// What `endpoint/set` takes for an endpoint at the server in this shape, which becomes the default.
#[must_use]
pub fn endpoint(server: &ScriptedServer, shape: Shape) -> Value {
    let (provider, base_url) = match shape {
        Shape::Chat => ("openaiCompatible", server.base_url()),
        Shape::Responses => ("openaiResponses", server.base_url()),
        Shape::Messages => ("anthropic", server.root_url()),
    };
    json!({"name": provider, "provider": provider, "baseUrl": base_url, "model": "m", "isDefault": true})
}

/// Compares the last request with the chain before its answer, and looks that no request was refused.
///
/// # Panics
/// When they differ, or a request was refused.
pub async fn same_as_shown<S: AsyncRead + AsyncWrite + Unpin>(
    server: &ScriptedServer,
    bot: &mut Raw<S>,
    thread: &Value,
) {
    let requests = server.requests();
    for request in &requests {
        assert_eq!(request.refused, None, "{:?}: {}", request.shape, request.body);
    }
    let mut chain = bot.chain(thread).await;
    for (message, parent) in chain.iter().skip(1).zip(&chain) {
        assert_eq!(message["parentMessageId"], parent["messageId"], "one chain");
    }
    if chain.last().is_some_and(|message| message["role"] == "assistant") {
        chain.pop();
    }
    let shown = one_user_turn(chain.iter().map(of_message).collect());
    let request = requests.last().unwrap();
    let sent = one_user_turn(turns(request));
    for (sent, shown) in sent.iter().zip(&shown) {
        assert_eq!(sent, shown, "{:?}", request.shape);
    }
    assert_eq!(sent.len(), shown.len(), "sent {} shown {}", json!(sent), json!(shown));
}

/// The turns of a request, without what stands before the chain.
fn turns(request: &RecordedRequest) -> Vec<Value> {
    match request.shape {
        Shape::Chat => {
            let messages = list(&request.body["messages"]).iter().filter(|message| message["role"] != "system");
            messages.map(of_chat).collect()
        }
        Shape::Messages => list(&request.body["messages"]).iter().flat_map(of_messages).collect(),
        Shape::Responses => of_responses(list(&request.body["input"])),
    }
}

/// Messages of the user that follow each other may be sent as one.
fn one_user_turn(messages: Vec<Value>) -> Vec<Value> {
    let mut turns: Vec<Value> = Vec::new();
    for message in messages {
        match turns.last_mut() {
            Some(last) if last[0] == "user" && message[0] == "user" => {
                last[1] = json!(format!("{}\n{}", last[1].as_str().unwrap(), message[1].as_str().unwrap()));
            }
            _ => turns.push(message),
        }
    }
    turns
}

fn of_message(message: &Value) -> Value {
    let text = content(&message["content"]);
    match message["role"].as_str().unwrap() {
        "tool" => json!(["tool", message["callId"], result(message["isError"] == true, &text)]),
        "assistant" => {
            let calls = list(&message["toolCalls"]).iter();
            let calls: Vec<_> =
                calls.map(|call| json!([call["callId"], call["flatName"], call["arguments"]])).collect();
            json!(["assistant", text, calls])
        }
        role => json!([role, text]),
    }
}

fn of_chat(message: &Value) -> Value {
    let text = content(&message["content"]);
    match message["role"].as_str().unwrap() {
        "tool" => json!(["tool", message["tool_call_id"], text]),
        "assistant" => {
            let calls = list(&message["tool_calls"]).iter();
            let calls: Vec<_> = calls
                .map(|call| json!([call["id"], call["function"]["name"], parsed(&call["function"]["arguments"])]))
                .collect();
            json!(["assistant", text, calls])
        }
        role => json!([role, text]),
    }
}

/// A message of the user has the results first, and then what the user says.
fn of_messages(message: &Value) -> Vec<Value> {
    let of_type = |kind: &'static str| list(&message["content"]).iter().filter(move |block| block["type"] == kind);
    if message["role"] == "assistant" {
        let calls: Vec<_> = of_type("tool_use").map(|call| json!([call["id"], call["name"], call["input"]])).collect();
        let text: String = of_type("text").filter_map(|block| block["text"].as_str()).collect();
        return vec![json!(["assistant", text, calls])];
    }
    let results = of_type("tool_result").map(|block| {
        json!(["tool", block["tool_use_id"], result(block["is_error"] == true, &content(&block["content"]))])
    });
    let mut turns: Vec<_> = results.collect();
    let said = content(&message["content"]);
    if !said.is_empty() {
        turns.push(json!(["user", said]));
    }
    turns
}

/// What the model said at one time is several items.
fn of_responses(items: &[Value]) -> Vec<Value> {
    let mut turns: Vec<Value> = Vec::new();
    for item in items {
        let kind = item["type"].as_str().unwrap_or("message");
        match (kind, item["role"].as_str()) {
            ("function_call_output", _) => turns.push(json!(["tool", item["call_id"], content(&item["output"])])),
            ("message", Some("user")) => turns.push(json!(["user", content(&item["content"])])),
            ("message", Some("assistant")) | ("function_call", _) => {
                if turns.last().is_none_or(|last| last[0] != "assistant") {
                    turns.push(json!(["assistant", "", []]));
                }
                let answer = turns.last_mut().unwrap();
                if kind == "message" {
                    answer[1] = json!(format!("{}{}", answer[1].as_str().unwrap(), content(&item["content"])));
                } else {
                    let call = json!([item["call_id"], item["name"], parsed(&item["arguments"])]);
                    answer[2].as_array_mut().unwrap().push(call);
                }
            }
            _ => {}
        }
    }
    turns
}

/// The texts of a content, a line each, with its images by type.
fn content(content: &Value) -> String {
    let of_part = |part: &Value| match part["type"].as_str() {
        Some("image") => {
            let media_type = part["mediaType"].as_str().or(part["source"]["media_type"].as_str());
            Some(format!("({})", media_type.unwrap_or_default()))
        }
        Some("image_url" | "input_image") => {
            let url = part["image_url"]["url"].as_str().or(part["image_url"].as_str()).unwrap_or_default();
            let media_type = url.strip_prefix("data:").and_then(|rest| rest.split_once(';'));
            Some(format!("({})", media_type.map_or("", |(media_type, _)| media_type)))
        }
        Some("tool_result") => None,
        _ => part["text"].as_str().map(str::to_owned),
    };
    match content {
        Value::String(text) => text.clone(),
        parts => list(parts).iter().filter_map(of_part).collect::<Vec<_>>().join("\n"),
    }
}

fn result(is_error: bool, text: &str) -> String {
    if is_error { format!("Error: {text}") } else { text.to_owned() }
}

fn parsed(arguments: &Value) -> Value {
    serde_json::from_str(arguments.as_str().unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
