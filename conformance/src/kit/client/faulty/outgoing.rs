//! What faults do to messages of the SDK.

use serde_json::{Value, json};

use super::{Fault, Memory, Passage};

impl Fault {
    /// What becomes of a message on its way to the daemon.
    pub(super) fn outgoing(self, message: Value, memory: &mut Memory) -> Passage {
        let asked = message.get("id").filter(|_| message.get("method").is_none());
        let asked = asked.and_then(|id| memory.asked.remove(&id.to_string()));
        match (message["method"].as_str().map(str::to_owned), asked) {
            (Some(method), _) => self.request(&method, message, memory),
            (None, Some(asked)) => self.answer(&asked, message),
            (None, None) => Passage::on(message),
        }
    }

    /// A request or notification of the SDK.
    fn request(self, method: &str, mut message: Value, memory: &Memory) -> Passage {
        let again = memory.connections > 1;
        match (self, method) {
            (Self::ClaimsApprovals, "initialize") => message["params"]["capabilities"]["approvals"] = true.into(),
            (Self::ClaimsInput, "initialize") => message["params"]["capabilities"]["input"] = true.into(),
            (Self::HidesItsName, "initialize") => message["params"]["client"]["name"] = "".into(),
            (Self::ChangesInstance, "initialize") if again => {
                message["params"]["client"]["instanceId"] = format!("in-{}", memory.connections).into();
            }
            (Self::ChangesOperation, _) if again && message["params"]["operationId"].is_string() => {
                message["params"]["operationId"] = format!("op-{}", memory.connections).into();
            }
            (Self::ForgetsThreads, "thread/resume") if again => {
                let id = message["params"]["threadId"].as_str().unwrap_or_default();
                let thread = memory.threads.get(id).cloned().unwrap_or_default();
                let result =
                    json!({"seq": message["params"]["after"], "thread": thread, "tools": [], "replayed": false});
                return Passage::back(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
            }
            (Self::StartsOver, "thread/resume") => message["params"]["after"] = 0.into(),
            (Self::IgnoresStops, "run/stop") => {
                let result = json!({"seq": 0, "replayed": false});
                return Passage::back(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
            }
            (Self::SwallowsProgress, "tool/progress") => return Passage::default(),
            (Self::AddsToDeclarations, _) => {
                let tools = message.pointer_mut("/params/tools").and_then(Value::as_array_mut);
                for tool in tools.into_iter().flatten() {
                    tool["strict"] = true.into();
                }
            }
            _ => {}
        }
        self.last(message)
    }

    /// The SDK's answer to a request of the daemon.
    fn answer(self, asked: &str, mut message: Value) -> Passage {
        let refused = message.get("error").is_some();
        let succeeded = message["result"]["success"] == true;
        match (self, asked) {
            (Self::InventsApprovals, "approval/request") if refused => {
                message = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"decision": "accept"}});
            }
            (Self::ForgetsUnknownTools, "tool/call") if message["result"]["errorCode"] == "UnsupportedTool" => {
                return Passage::default();
            }
            (Self::AnswersStrangers, _) if message["error"]["code"] == -32601 => {
                message = json!({"jsonrpc": "2.0", "id": message["id"], "result": {}});
            }
            (Self::RepeatsAnswers, "tool/call") => {
                return Passage { on: vec![message.clone(), message], ..Passage::default() };
            }
            (Self::FailsSilently, "tool/call") if message["result"]["success"] == false => {
                if let Some(result) = message["result"].as_object_mut() {
                    result.remove("errorMessage");
                }
            }
            (Self::SucceedsEmpty, "tool/call") if succeeded => message["result"]["contentItems"] = json!([]),
            _ => {}
        }
        self.last(message)
    }

    /// What is done to every message.
    fn last(self, mut message: Value) -> Passage {
        if let (Self::OmitsTheVersion, Value::Object(members)) = (self, &mut message) {
            members.remove("jsonrpc");
        }
        Passage::on(message)
    }
}
