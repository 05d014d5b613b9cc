//! The scripted model in the shape of Anthropic's messages.

use std::collections::HashMap;

use bytes::Bytes;
use ropewalk_script::{FailKind, Turn};
use serde_json::{Value, json};

use super::{
    plan::{Ending, Kind, Plan},
    refusal::{kind_in_stream, words},
    shape::{Header, Shape},
    tokens,
    voice::{Voice, named_event, texts},
};

/// In how many deltas a signature comes.
const SIGNATURE_DELTAS: usize = 3;

/// The conversation as the script engine reads it. Results and what the user says after them are one message there, and
/// several turns here.
pub(super) fn conversation(request: &Value) -> Vec<Turn> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut turns = Vec::new();
    for message in request["messages"].as_array().map_or(&[][..], Vec::as_slice) {
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        let of_type = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
        let id = |value: &'_ Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        if message["role"] == "assistant" {
            let calls = of_type("tool_use").map(|call| {
                let name = call["name"].as_str().unwrap_or_default();
                names.insert(call["id"].as_str().unwrap_or_default(), name);
                name
            });
            turns.push(Turn::assistant(calls));
            continue;
        }
        for result in of_type("tool_result") {
            let name = names.get(id(result, "tool_use_id").as_str()).copied().unwrap_or("tool");
            turns.push(Turn::result(name, texts(&result["content"])));
        }
        let said = texts(&message["content"]);
        if !said.is_empty() || of_type("tool_result").next().is_none() {
            turns.push(Turn::User(said));
        }
    }
    turns
}

/// An answer under way.
pub(super) struct Messages {
    plan: Plan,
    header: Header,
}

impl Messages {
    pub(super) const fn new(plan: Plan, header: Header) -> Self {
        Self { plan, header }
    }

    /// What proves that a block is from here. It is none that somebody could make up from the block's text.
    fn signature(&self, place: usize) -> String {
        let text = &self.plan.blocks[place].text;
        let bytes = text.bytes().chain(format!("{}.{place}", self.header.number).into_bytes());
        let digest = bytes
            .fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        format!("EqRopewalk{:06}{place:03}{digest:016x}", self.header.number)
    }

    /// A block as it is in a whole answer, and as it must come back.
    fn block(&self, place: usize) -> Value {
        let block = &self.plan.blocks[place];
        match &block.kind {
            Kind::Text => json!({"type": "text", "text": block.text}),
            Kind::Thinking => {
                json!({"type": "thinking", "thinking": block.text, "signature": self.signature(place)})
            }
            Kind::Redacted => json!({"type": "redacted_thinking", "data": self.signature(place)}),
            Kind::Call { id, name } => {
                // Where arguments are no JSON at all, a model still made them; only a stream can show that.
                let input = serde_json::from_str(&block.text).unwrap_or_else(|_| json!({}));
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        }
    }

    fn message(&self, content: &[Value], stop_reason: Option<&str>, output_tokens: u64) -> Value {
        json!({
            "id": format!("msg_script_{}", self.header.number), "type": "message", "role": "assistant",
            "model": self.header.request["model"], "content": content, "stop_reason": stop_reason,
            "stop_sequence": null,
            "usage": {
                "input_tokens": self.header.input_tokens, "output_tokens": output_tokens,
                "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            },
        })
    }

    const fn stop_reason(&self) -> &'static str {
        match self.plan.ending {
            Ending::Stop => "end_turn",
            Ending::Calls => "tool_use",
            Ending::Limit => "max_tokens",
        }
    }

    fn output_tokens(&self) -> u64 {
        tokens::of_bytes(self.plan.output_bytes().0)
    }
}

fn block_delta(place: usize, delta: &Value) -> Bytes {
    named_event(&json!({"type": "content_block_delta", "index": place, "delta": delta}))
}

fn ping() -> Bytes {
    named_event(&json!({"type": "ping"}))
}

impl Voice for Messages {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn opening(&mut self) -> Vec<Bytes> {
        let message = self.message(&[], None, 1);
        vec![named_event(&json!({"type": "message_start", "message": message})), ping()]
    }

    fn open(&mut self, place: usize) -> Vec<Bytes> {
        let mut block = self.block(place);
        match self.plan.blocks[place].kind {
            Kind::Text => block["text"] = json!(""),
            Kind::Thinking => {
                block["thinking"] = json!("");
                block["signature"] = json!("");
            }
            Kind::Redacted => {}
            Kind::Call { .. } => block["input"] = json!({}),
        }
        vec![named_event(&json!({"type": "content_block_start", "index": place, "content_block": block}))]
    }

    fn delta(&mut self, place: usize, text: &str) -> Vec<Bytes> {
        let delta = match self.plan.blocks[place].kind {
            Kind::Text => json!({"type": "text_delta", "text": text}),
            Kind::Thinking => json!({"type": "thinking_delta", "thinking": text}),
            Kind::Redacted => return Vec::new(),
            Kind::Call { .. } => json!({"type": "input_json_delta", "partial_json": text}),
        };
        vec![block_delta(place, &delta)]
    }

    /// A signature comes last, in parts; a ping comes between blocks.
    fn close(&mut self, place: usize) -> Vec<Bytes> {
        let mut end = Vec::new();
        if self.plan.blocks[place].kind == Kind::Thinking {
            let signature = self.signature(place);
            let part = signature.len().div_ceil(SIGNATURE_DELTAS);
            for from in (0..signature.len()).step_by(part) {
                let part = &signature[from..signature.len().min(from + part)];
                end.push(block_delta(place, &json!({"type": "signature_delta", "signature": part})));
            }
        }
        end.push(named_event(&json!({"type": "content_block_stop", "index": place})));
        end.push(ping());
        end
    }

    fn failure(&mut self, kind: FailKind) -> Bytes {
        let error = json!({"type": kind_in_stream(kind), "message": words(Shape::Messages, kind)});
        named_event(&json!({"type": "error", "error": error}))
    }

    fn closing(&mut self) -> Vec<Bytes> {
        let delta = json!({"stop_reason": self.stop_reason(), "stop_sequence": null});
        let usage = json!({"output_tokens": self.output_tokens()});
        vec![
            named_event(&json!({"type": "message_delta", "delta": delta, "usage": usage})),
            named_event(&json!({"type": "message_stop"})),
        ]
    }

    fn whole(&self) -> Value {
        let content: Vec<_> = (0..self.plan.blocks.len()).map(|place| self.block(place)).collect();
        self.message(&content, Some(self.stop_reason()), self.output_tokens())
    }

    fn reasoning(&self) -> Vec<Value> {
        let blocks = self.plan.blocks.iter().enumerate();
        let thinking = blocks.filter(|(_, block)| matches!(block.kind, Kind::Thinking | Kind::Redacted));
        thinking.map(|(place, _)| self.block(place)).collect()
    }
}
