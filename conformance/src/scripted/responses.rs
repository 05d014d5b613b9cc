//! The scripted model in the shape of OpenAI's responses.

use std::collections::HashMap;

use bytes::Bytes;
use ropewalk_script::{FailKind, Turn};
use serde_json::{Value, json};

use super::{
    plan::{Ending, Kind, Plan},
    refusal::{code_in_stream, words},
    shape::{Header, Shape},
    tokens,
    voice::{Voice, named_event, texts},
};

/// What a request asks for when it wants reasoning that can be sent back.
pub(super) const INCLUDE_ENCRYPTED: &str = "reasoning.encrypted_content";

/// The conversation as the script engine reads it. What the model said at one time is one turn, of however many items.
pub(super) fn conversation(request: &Value) -> Vec<Turn> {
    if let Some(text) = request["input"].as_str() {
        return vec![Turn::user([text])];
    }
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut turns: Vec<Turn> = Vec::new();
    for item in request["input"].as_array().map_or(&[][..], Vec::as_slice) {
        let kind = item["type"].as_str().unwrap_or("message");
        match (kind, item["role"].as_str()) {
            ("message", Some("user")) => turns.push(Turn::User(texts(&item["content"]))),
            ("message", Some("assistant")) | ("reasoning", _) => drop(answer_under_way(&mut turns)),
            ("function_call", _) => {
                let name = item["name"].as_str().unwrap_or_default();
                names.insert(item["call_id"].as_str().unwrap_or_default(), name);
                answer_under_way(&mut turns).push(name.to_owned());
            }
            ("function_call_output", _) => {
                let name = names.get(item["call_id"].as_str().unwrap_or_default()).copied().unwrap_or("tool");
                turns.push(Turn::result(name, texts(&item["output"])));
            }
            _ => {}
        }
    }
    turns
}

/// The calls of the answer whose items are being read.
fn answer_under_way(turns: &mut Vec<Turn>) -> &mut Vec<String> {
    if !matches!(turns.last(), Some(Turn::Assistant(_))) {
        turns.push(Turn::Assistant(Vec::new()));
    }
    match turns.last_mut() {
        Some(Turn::Assistant(calls)) => calls,
        _ => unreachable!("it was put there"),
    }
}

/// An answer under way.
pub(super) struct Responses {
    plan: Plan,
    header: Header,
    sequence_number: u64,
}

impl Responses {
    pub(super) const fn new(plan: Plan, header: Header) -> Self {
        Self { plan, header, sequence_number: 0 }
    }

    fn event(&mut self, kind: &str, mut fields: Value) -> Bytes {
        fields["type"] = json!(kind);
        fields["sequence_number"] = json!(self.sequence_number);
        self.sequence_number += 1;
        named_event(&fields)
    }

    fn item_id(&self, place: usize) -> String {
        let prefix = match self.plan.blocks[place].kind {
            Kind::Text => "msg",
            Kind::Thinking | Kind::Redacted => "rs",
            Kind::Call { .. } => "fc",
        };
        format!("{prefix}_{}_{place}", self.header.number)
    }

    fn asks_for_encrypted(&self) -> bool {
        let include = self.header.request["include"].as_array().map_or(&[][..], Vec::as_slice);
        include.iter().any(|wanted| wanted == INCLUDE_ENCRYPTED)
    }

    /// An item with this much of its content, as it is in an answer.
    fn item(&self, place: usize, text: &str, status: &str) -> Value {
        let id = self.item_id(place);
        match &self.plan.blocks[place].kind {
            Kind::Text => {
                let content = if status == "in_progress" { json!([]) } else { json!([output_text(text)]) };
                json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": content})
            }
            Kind::Call { id: call_id, name } => json!({
                "id": id, "type": "function_call", "status": status, "call_id": call_id, "name": name,
                "arguments": text,
            }),
            Kind::Thinking | Kind::Redacted => {
                let hidden = self.plan.blocks[place].kind == Kind::Redacted || status == "in_progress";
                let summary = if hidden { json!([]) } else { json!([summary_text(text)]) };
                let mut item = json!({"id": id, "type": "reasoning", "summary": summary});
                if self.asks_for_encrypted() {
                    item["encrypted_content"] = json!(format!("gAAAAA{}.{place}", self.header.number));
                }
                item
            }
        }
    }

    /// A block as a whole item.
    fn whole_item(&self, place: usize) -> Value {
        let is_cut = self.plan.ending == Ending::Limit && place + 1 == self.plan.blocks.len();
        let status = if is_cut { "incomplete" } else { "completed" };
        self.item(place, &self.plan.blocks[place].text, status)
    }

    fn output(&self) -> Vec<Value> {
        (0..self.plan.blocks.len()).map(|place| self.whole_item(place)).collect()
    }

    fn response(&self, status: &str, output: &[Value], usage: &Value) -> Value {
        let request = &self.header.request;
        let or = |field: &str, otherwise: Value| match &request[field] {
            Value::Null => otherwise,
            given => given.clone(),
        };
        let details = (status == "incomplete").then(|| json!({"reason": "max_output_tokens"}));
        json!({
            "id": format!("resp_script_{}", self.header.number), "object": "response", "created_at": 0,
            "status": status, "background": false, "error": null, "incomplete_details": details,
            "instructions": request["instructions"], "max_output_tokens": request["max_output_tokens"],
            "model": request["model"], "output": output, "parallel_tool_calls": or("parallel_tool_calls", json!(true)),
            "previous_response_id": null, "reasoning": or("reasoning", json!({"effort": null, "summary": null})),
            "store": or("store", json!(true)), "temperature": or("temperature", json!(1.0)),
            "text": or("text", json!({"format": {"type": "text"}})), "tool_choice": or("tool_choice", json!("auto")),
            "tools": or("tools", json!([])), "top_p": or("top_p", json!(1.0)), "truncation": "disabled",
            "usage": usage, "user": null, "metadata": or("metadata", json!({})),
        })
    }

    fn usage(&self) -> Value {
        let (output, reasoning) = self.plan.output_bytes();
        let (input, output) = (self.header.input_tokens, tokens::of_bytes(output));
        json!({
            "input_tokens": input, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": output, "output_tokens_details": {"reasoning_tokens": tokens::of_bytes(reasoning)},
            "total_tokens": input + output,
        })
    }

    const fn status(&self) -> &'static str {
        if matches!(self.plan.ending, Ending::Limit) { "incomplete" } else { "completed" }
    }

    /// What every event about an item names, and more.
    fn about(&self, place: usize, more: &Value) -> Value {
        let mut fields = json!({"item_id": self.item_id(place), "output_index": place});
        for (name, value) in more.as_object().into_iter().flatten() {
            fields[name] = value.clone();
        }
        fields
    }
}

fn output_text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn summary_text(text: &str) -> Value {
    json!({"type": "summary_text", "text": text})
}

impl Voice for Responses {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn opening(&mut self) -> Vec<Bytes> {
        let response = self.response("in_progress", &[], &Value::Null);
        let created = self.event("response.created", json!({"response": response}));
        vec![created, self.event("response.in_progress", json!({"response": response}))]
    }

    fn open(&mut self, place: usize) -> Vec<Bytes> {
        let added = json!({"output_index": place, "item": self.item(place, "", "in_progress")});
        let mut begun = vec![self.event("response.output_item.added", added)];
        match self.plan.blocks[place].kind {
            Kind::Text => {
                let part = self.about(place, &json!({"content_index": 0, "part": output_text("")}));
                begun.push(self.event("response.content_part.added", part));
            }
            Kind::Thinking => {
                let part = self.about(place, &json!({"summary_index": 0, "part": summary_text("")}));
                begun.push(self.event("response.reasoning_summary_part.added", part));
            }
            Kind::Redacted | Kind::Call { .. } => {}
        }
        begun
    }

    fn delta(&mut self, place: usize, text: &str) -> Vec<Bytes> {
        let (kind, more) = match self.plan.blocks[place].kind {
            Kind::Text => ("response.output_text.delta", json!({"content_index": 0, "delta": text, "logprobs": []})),
            Kind::Thinking => ("response.reasoning_summary_text.delta", json!({"summary_index": 0, "delta": text})),
            Kind::Redacted => return Vec::new(),
            Kind::Call { .. } => ("response.function_call_arguments.delta", json!({"delta": text})),
        };
        let fields = self.about(place, &more);
        vec![self.event(kind, fields)]
    }

    fn close(&mut self, place: usize) -> Vec<Bytes> {
        let text = self.plan.blocks[place].text.clone();
        let ends: Vec<(&str, Value)> = match &self.plan.blocks[place].kind {
            Kind::Text => vec![
                ("response.output_text.done", json!({"content_index": 0, "text": text, "logprobs": []})),
                ("response.content_part.done", json!({"content_index": 0, "part": output_text(&text)})),
            ],
            Kind::Thinking => vec![
                ("response.reasoning_summary_text.done", json!({"summary_index": 0, "text": text})),
                ("response.reasoning_summary_part.done", json!({"summary_index": 0, "part": summary_text(&text)})),
            ],
            Kind::Redacted => Vec::new(),
            Kind::Call { name, .. } => {
                vec![("response.function_call_arguments.done", json!({"name": name, "arguments": text}))]
            }
        };
        let mut said = Vec::new();
        for (kind, more) in ends {
            let fields = self.about(place, &more);
            said.push(self.event(kind, fields));
        }
        let done = json!({"output_index": place, "item": self.whole_item(place)});
        said.push(self.event("response.output_item.done", done));
        said
    }

    fn failure(&mut self, kind: FailKind) -> Bytes {
        let mut response = self.response("failed", &[], &Value::Null);
        response["error"] = json!({"code": code_in_stream(kind), "message": words(Shape::Responses, kind)});
        self.event("response.failed", json!({"response": response}))
    }

    fn closing(&mut self) -> Vec<Bytes> {
        let kind = format!("response.{}", self.status());
        let response = self.whole();
        vec![self.event(&kind, json!({"response": response}))]
    }

    fn whole(&self) -> Value {
        self.response(self.status(), &self.output(), &self.usage())
    }

    /// Each reasoning item, with the id of the item that it belongs before: that one must follow it when it comes back.
    fn reasoning(&self) -> Vec<Value> {
        let blocks = self.plan.blocks.iter().enumerate();
        let thinking = blocks.filter(|(_, block)| matches!(block.kind, Kind::Thinking | Kind::Redacted));
        let with_next = thinking.map(|(place, _)| {
            let next = (place + 1 < self.plan.blocks.len()).then(|| self.item_id(place + 1));
            json!({"item": self.whole_item(place), "next": next, "stored": self.header.request["store"] != false})
        });
        with_next.collect()
    }
}
