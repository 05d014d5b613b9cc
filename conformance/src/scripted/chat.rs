//! The scripted model in the shape of OpenAI's chat completions.

use std::collections::HashMap;

use bytes::Bytes;
use ropewalk_script::{FailKind, Turn};
use serde_json::{Value, json};

use super::{
    plan::{Block, Ending, Kind, Plan},
    refusal::{code_in_stream, words},
    shape::{Header, Shape},
    tokens,
    voice::{Voice, event, texts},
};

/// The conversation as the script engine reads it.
pub(super) fn conversation(request: &Value) -> Vec<Turn> {
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

/// An answer under way.
pub(super) struct Chat {
    plan: Plan,
    header: Header,
}

impl Chat {
    pub(super) const fn new(plan: Plan, header: Header) -> Self {
        Self { plan, header }
    }

    /// The place of a call among the calls.
    fn index(&self, place: usize) -> usize {
        self.plan.blocks[..place].iter().filter(|block| matches!(block.kind, Kind::Call { .. })).count()
    }

    fn chunk(&self, delta: &Value, finish_reason: Option<&str>) -> Bytes {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
        event(&self.envelope("chat.completion.chunk", &json!([choice])))
    }

    fn envelope(&self, object: &str, choices: &Value) -> Value {
        let id = format!("chatcmpl-script-{}", self.header.number);
        json!({"id": id, "object": object, "created": 0, "model": self.header.request["model"], "choices": choices})
    }

    const fn finish_reason(&self) -> &'static str {
        match self.plan.ending {
            Ending::Stop => "stop",
            Ending::Calls => "tool_calls",
            Ending::Limit => "length",
        }
    }

    fn usage(&self) -> Value {
        let (output, reasoning) = self.plan.output_bytes();
        let (input, output) = (self.header.input_tokens, tokens::of_bytes(output));
        json!({
            "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
            "completion_tokens_details": {"reasoning_tokens": tokens::of_bytes(reasoning)},
        })
    }

    fn reasoning_text(&self) -> String {
        let is_reasoning = |block: &&Block| matches!(block.kind, Kind::Thinking | Kind::Redacted);
        self.plan.blocks.iter().filter(is_reasoning).map(|block| block.text.as_str()).collect()
    }
}

impl Voice for Chat {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn opening(&mut self) -> Vec<Bytes> {
        vec![self.chunk(&json!({"role": "assistant", "content": ""}), None)]
    }

    /// A call begins with its name; its arguments follow.
    fn open(&mut self, place: usize) -> Vec<Bytes> {
        let Kind::Call { id, name } = &self.plan.blocks[place].kind else { return Vec::new() };
        let function = json!({"name": name, "arguments": ""});
        let call = json!({"index": self.index(place), "id": id, "type": "function", "function": function});
        vec![self.chunk(&json!({"tool_calls": [call]}), None)]
    }

    fn delta(&mut self, place: usize, text: &str) -> Vec<Bytes> {
        let delta = match self.plan.blocks[place].kind {
            Kind::Text => json!({"content": text}),
            Kind::Thinking | Kind::Redacted => json!({"reasoning_content": text}),
            Kind::Call { .. } => {
                let fragment = json!({"index": self.index(place), "function": {"arguments": text}});
                json!({"tool_calls": [fragment]})
            }
        };
        vec![self.chunk(&delta, None)]
    }

    fn close(&mut self, _: usize) -> Vec<Bytes> {
        Vec::new()
    }

    fn failure(&mut self, kind: FailKind) -> Bytes {
        let message = words(Shape::Chat, kind);
        event(
            &json!({"error": {"message": message, "type": code_in_stream(kind), "param": null, "code": code_in_stream(kind)}}),
        )
    }

    /// Its reason, its usage where asked for, and the marker.
    fn closing(&mut self) -> Vec<Bytes> {
        let mut end = vec![self.chunk(&json!({}), Some(self.finish_reason()))];
        if self.header.request["stream_options"]["include_usage"] == true {
            let mut chunk = self.envelope("chat.completion.chunk", &json!([]));
            chunk["usage"] = self.usage();
            end.push(event(&chunk));
        }
        end.push(Bytes::from_static(b"data: [DONE]\n\n"));
        end
    }

    fn whole(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": self.plan.joined(&Kind::Text), "refusal": null});
        let reasoning = self.reasoning_text();
        if !reasoning.is_empty() {
            message["reasoning_content"] = json!(reasoning);
        }
        let call = |(id, name, arguments): (&str, &str, &str)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        let calls: Vec<_> = self.plan.calls().map(call).collect();
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": self.finish_reason(), "logprobs": null});
        let mut body = self.envelope("chat.completion", &json!([choice]));
        body["usage"] = self.usage();
        body
    }

    /// Its reasoning is one text, and comes back as one.
    fn reasoning(&self) -> Vec<Value> {
        let text = self.reasoning_text();
        if text.is_empty() { Vec::new() } else { vec![json!(text)] }
    }
}
