//! What a client asks for next, as chance has it.

use rand::{Rng, rngs::StdRng};
use serde_json::{Value, json};

use super::memory::{Followed, Memory, Operation};

/// Inputs that wait on a branch before a client asks for something else.
const ENOUGH_WAITING: usize = 5;
/// Lives of the daemon after which a client turns to a new thread.
const LIVES_OF_A_THREAD: u32 = 8;

/// The tools of every client: one with an effect, one that asks a person first, one that only reads.
pub(super) fn tools() -> Value {
    let tool = |name: &str| {
        let properties = json!({"token": {"type": "string"}});
        let schema = json!({"type": "object", "properties": properties, "required": ["token"]});
        json!({"name": name, "description": format!("Does {name}."), "inputSchema": schema})
    };
    let mut guarded = tool("guarded");
    guarded["approval"] = json!("ask");
    let mut reading = tool("reading");
    reading["annotations"] = json!({"readOnlyHint": true});
    json!([tool("effect"), guarded, reading])
}

/// An input of one text.
pub(super) fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// Chooses requests, each under an operation id of its own.
pub(super) struct Chooser {
    pub(super) client: usize,
    pub(super) number: u64,
}

impl Chooser {
    /// The next request of a client in this life of the daemon; `None` when it has nothing to ask just now.
    pub(super) fn next(&mut self, memory: &Memory, life: u32, random: &mut StdRng) -> Option<Operation> {
        let Some((id, thread)) = memory.current.as_ref().and_then(|id| memory.threads.get_key_value(id)) else {
            let starts = memory.unanswered.values().any(|operation| operation.method == "thread/start");
            return (!starts).then(|| self.start());
        };
        if life >= thread.born + LIVES_OF_A_THREAD {
            let is_done = thread.is_quiet() && memory.unanswered.is_empty();
            return match is_done {
                true => Some(self.start()),
                false => self.release(id, thread),
            };
        }
        if thread.held && random.random_bool(0.5) {
            return self.release(id, thread);
        }
        Some(match random.random_range(0..100) {
            0..54 if thread.queue.len() < ENOUGH_WAITING => self.submit(id, random),
            54..62 => self.aside(id),
            62..70 if !thread.active.is_empty() => self.operation("run/stop", json!({"threadId": id})),
            70..84 if !thread.queue.is_empty() => self.queue_edit(id, thread, random),
            84..90 => self.rename(id),
            90..100 => self.rule(id, memory, random),
            _ => return None,
        })
    }

    /// What lets a branch go on that is held, so that nothing waits for ever.
    pub(super) fn release(&mut self, id: &str, thread: &Followed) -> Option<Operation> {
        (thread.held && thread.active.is_empty()).then(|| self.operation("run/skip", json!({"threadId": id})))
    }

    /// An input that ends soon and well.
    pub(super) fn last_word(&mut self, id: &str) -> Operation {
        self.operation("run/submit", json!({"threadId": id, "input": text("say the end")}))
    }

    /// An answer that is given by a request of its own.
    pub(super) fn settle(&mut self, interaction_id: &str, answer: &Value) -> Operation {
        self.operation("interaction/settle", json!({"interactionId": interaction_id, "answer": answer}))
    }

    fn start(&mut self) -> Operation {
        self.operation("thread/start", json!({"tools": tools(), "subscribe": false}))
    }

    fn submit(&mut self, id: &str, random: &mut StdRng) -> Operation {
        let token = self.token();
        let script = match random.random_range(0..9) {
            0 => format!("say {token} one two three four five six seven eight"),
            1 => format!("say {token}\ncall effect {{\"token\":\"{token}\"}}\nthen say done"),
            2 => format!(
                "think {token}\ncall effect {{\"token\":\"a\"}}\ncall guarded {{\"token\":\"b\"}}\n\
                 call effect {{\"token\":\"c\"}}\nthen call reading {{\"token\":\"d\"}}"
            ),
            3 => format!("call guarded {{\"token\":\"{token}\"}}\nthen call effect {{\"token\":\"{token}\"}}"),
            4 => format!(
                "call ask_user {{\"questions\":[{{\"id\":\"q\",\"text\":\"{token}?\",\"options\":[{{\"label\":\"a\"}},\
                 {{\"label\":\"b\"}}]}}]}}\nthen call effect {{\"token\":\"{token}\"}}"
            ),
            5 => format!("say one two\nsleep 40\nsay three {token}"),
            6 => format!("call reading {{\"token\":\"{token}\"}}\ncall reading {{\"token\":\"again\"}}"),
            7 => format!("say {token}\nfail badRequest"),
            _ => {
                format!("call effect {{\"token\":\"{token}\"}}\nthen call effect {{\"token\":\"more\"}}\nthen say well")
            }
        };
        self.operation("run/submit", json!({"threadId": id, "input": text(&script), "unattended": "wait"}))
    }

    fn aside(&mut self, id: &str) -> Operation {
        let input = text(&format!("By the way, {}.", self.token()));
        self.operation("run/submit", json!({"threadId": id, "input": input, "mode": "aside"}))
    }

    fn rename(&mut self, id: &str) -> Operation {
        let title = format!("Thread {}", self.token());
        self.operation("thread/update", json!({"threadId": id, "title": title}))
    }

    fn queue_edit(&mut self, id: &str, thread: &Followed, random: &mut StdRng) -> Operation {
        let message_id = &thread.queue[random.random_range(0..thread.queue.len())];
        match random.random_range(0..10) {
            0..4 => {
                let input = text(&format!("say {} in other words", self.token()));
                self.operation("queue/update", json!({"threadId": id, "messageId": message_id, "input": input}))
            }
            4..7 => self.operation("queue/remove", json!({"threadId": id, "messageId": message_id})),
            7..9 => {
                let order: Vec<_> = thread.queue.iter().rev().collect();
                self.operation("queue/reorder", json!({"threadId": id, "messageIds": order}))
            }
            _ => self.operation("queue/clear", json!({"threadId": id})),
        }
    }

    fn rule(&mut self, id: &str, memory: &Memory, random: &mut StdRng) -> Operation {
        if let Some(rule) = memory.rules.iter().min().filter(|_| random.random_bool(0.3)) {
            let is_asked = memory.unanswered.values().any(|operation| operation.params["policyId"] == **rule);
            if !is_asked {
                return self.operation("policy/remove", json!({"policyId": rule}));
            }
        }
        let tool = json!({"source": "client:nobody", "name": self.token()});
        self.operation("policy/set", json!({"level": "thread", "threadId": id, "tool": tool, "decision": "ask"}))
    }

    /// Words that no other request has, and that are no part of any other's.
    fn token(&self) -> String {
        format!("c{}x{}z", self.client, self.number)
    }

    fn operation(&mut self, method: &'static str, params: Value) -> Operation {
        let token = self.token();
        self.number += 1;
        let mut params = params;
        params["operationId"] = json!(format!("torture:{token}"));
        Operation { id: format!("torture:{token}"), method, params, token }
    }
}
