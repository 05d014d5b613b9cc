//! Runs against npm `@copilotkit/aimock`, a mock of providers that others wrote: in all five shapes, and with its chaos.

use ropewalk_conformance::{
    Aimock,
    suite::{Fresh, Raw, get_issue, success},
};
use serde_json::{Value, json};

use crate::support::Piped;

/// The providers of the five shapes, and what comes after the mock's address in their `baseUrl`.
const PROVIDERS: [(&str, &str); 5] =
    [("openaiCompatible", "/v1"), ("openaiResponses", "/v1"), ("anthropic", ""), ("gemini", ""), ("ollama", "")];

/// What the mock answers: a thread of two runs with three calls in them.
fn fixtures() -> Value {
    let look = |id: &str| json!({"name": "get_issue", "arguments": {"id": id}});
    let first = json!({"userMessage": "first question", "hasToolResult": false});
    let after = |result: &str| json!({"userMessage": "first question", "toolResultContains": result});
    let second = json!({"userMessage": "second question", "hasToolResult": false});
    let mut fixtures = Vec::new();
    for (matched, response) in [
        (first, json!({"content": "Let me look.", "toolCalls": [look("7"), look("8")]})),
        (after("issue 8"), json!({"toolCalls": [look("9")]})),
        (after("issue 9"), json!({"content": "It is about logins."})),
        (second, json!({"content": "Nothing else."})),
    ] {
        // The mock has Gemini end calls with a reason that Gemini does not have; Gemini says that it stopped.
        let mut of_gemini = json!({"match": matched, "response": response});
        of_gemini["match"]["model"] = json!("gemini");
        of_gemini["response"]["finishReason"] = json!("stop");
        fixtures.extend([of_gemini, json!({"match": matched, "response": response})]);
    }
    json!({"fixtures": fixtures})
}

/// A daemon with an endpoint of this provider at the mock, and a thread with a tool.
async fn thread_at(mock: &Aimock, provider: &str, path: &str, headers: Value) -> (Fresh, Raw, Value) {
    let subject: Fresh = std::sync::Arc::new(Piped::new().await);
    let mut bot = Raw::greeted(subject.open().await, "bot", "in-A").await;
    let endpoint = json!({
        "name": provider, "provider": provider, "baseUrl": format!("{}{path}", mock.url()), "model": provider,
        "headers": headers, "isDefault": true,
    });
    let endpoint = bot.call("endpoint/set", endpoint).await["endpoint"]["endpointId"].clone();
    bot.call("secret/set", json!({"endpointId": endpoint, "value": "key"})).await;
    let thread = bot.start(&[get_issue()]).await;
    (subject, bot, thread)
}

#[tokio::test]
async fn a_thread_of_several_turns_and_calls_goes_well_in_all_five_shapes() {
    let mock = Aimock::start(&fixtures()).await.unwrap();
    for (provider, path) in PROVIDERS {
        let (subject, mut bot, thread) = thread_at(&mock, provider, path, json!({})).await;
        let run = bot.submit(&thread, "first question").await;
        for id in ["7", "8", "9"] {
            let is_it =
                |line: &Value| line["method"] == "tool/call" || line["params"]["event"]["item"]["kind"] == "notice";
            let call = bot.until("a call, or a notice that there is none", is_it).await;
            assert_eq!(call["params"]["arguments"], json!({"id": id}), "{provider}: {call}");
            bot.reply(&call, success(&format!("issue {id}"))).await;
        }
        let ended = bot.ended_after_waits(&subject, &run).await;
        assert_eq!(ended["outcome"]["text"], "It is about logins.", "{provider}: {ended}");
        let ended = bot.run(&thread, "second question").await;
        assert_eq!(ended["outcome"]["text"], "Nothing else.", "{provider}: {ended}");
        let roles: Vec<_> = bot.chain(&thread).await.iter().map(|message| message["role"].clone()).collect();
        let expected = ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "user", "assistant"];
        assert_eq!(roles, expected, "{provider}");
        let mut chain = bot.chain(&thread).await;
        chain.pop();
        assert_eq!(received(&mock).await, chain.iter().map(shown).collect::<Vec<_>>(), "{provider}");
    }
    mock.end().await.unwrap();
}

/// What the mock received last, which it keeps in one form for all shapes: `[role, text, [[name, arguments], …]]`. Ids are
/// left out, because not every shape has them.
async fn received(mock: &Aimock) -> Vec<Value> {
    let journal = reqwest::get(format!("{}/__aimock/journal", mock.url())).await.unwrap().text().await.unwrap();
    let journal: Value = serde_json::from_str(&journal).unwrap();
    let last = journal.as_array().unwrap().last().unwrap();
    let mut turns: Vec<Value> = Vec::new();
    for message in last["body"]["messages"].as_array().unwrap().iter().filter(|message| message["role"] != "system") {
        let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
        let call = |call: &Value| {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            json!([call["function"]["name"], serde_json::from_str::<Value>(arguments).unwrap()])
        };
        let calls: Vec<_> = calls.iter().map(call).collect();
        let turn = json!([message["role"], said(&message["content"]), calls]);
        match turns.last_mut().filter(|last| last[0] == "assistant" && turn[0] == "assistant") {
            // What the model said at one time may be several items.
            Some(last) => {
                last[1] = json!(format!("{}{}", last[1].as_str().unwrap(), turn[1].as_str().unwrap()));
                last[2].as_array_mut().unwrap().extend(turn[2].as_array().unwrap().clone());
            }
            None => turns.push(turn),
        }
    }
    turns
}

/// The text of a content; Gemini has a result's text in an object.
fn said(content: &Value) -> String {
    let text = match content {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        text => text.as_str().unwrap_or_default().to_owned(),
    };
    let object = serde_json::from_str::<Value>(&text).unwrap_or_default();
    let inner = object.as_object().and_then(|members| members.values().find_map(Value::as_str));
    inner.map_or(text.clone(), str::to_owned)
}

/// A message of `thread/messages` in the same form.
fn shown(message: &Value) -> Value {
    let calls = message["toolCalls"].as_array().map_or(&[][..], Vec::as_slice);
    let calls: Vec<_> = calls.iter().map(|call| json!([call["flatName"], call["arguments"]])).collect();
    json!([message["role"], said(&message["content"]), calls])
}

#[tokio::test]
async fn its_chaos_ends_in_the_right_outcome_in_all_five_shapes() {
    let mock = Aimock::start(&fixtures()).await.unwrap();
    for (provider, path) in PROVIDERS {
        for (chaos, kind) in [
            ("drop", "overloaded"),
            ("malformed", "badResponse"),
            ("disconnect", "unreachable"),
            ("ratelimit", "rateLimited"),
        ] {
            let headers = json!({format!("x-aimock-chaos-{chaos}"): "1"});
            let (subject, mut bot, thread) = thread_at(&mock, provider, path, headers).await;
            let run = bot.submit(&thread, "second question").await;
            let ended = bot.ended_after_waits(&subject, &run).await;
            let (outcome, error) = (&ended["outcome"], &ended["outcome"]["error"]);
            assert_eq!(outcome["status"], "failed", "{provider} {chaos}: {ended}");
            // The mock's broken body has no end of line: in Ollama's shape, of lines, it is one that was cut as well.
            let is_torn = chaos == "malformed" && provider == "ollama" && error["kind"] == "cutOff";
            assert!(error["kind"] == kind || is_torn, "{provider} {chaos}: {ended}");
            // A body that is no stream at all is what a wrong address gives, and would be again; a stream that cannot be
            // read, as Ollama's shape has it, may be.
            assert!(error["retryable"] == true || chaos == "malformed", "{provider} {chaos}: {ended}");
            let run = bot.call("run/read", json!({"runId": run})).await;
            assert_eq!(run["run"]["state"], "failed", "{provider} {chaos}");
        }
        let (_subject, mut bot, thread) =
            thread_at(&mock, provider, path, json!({"x-aimock-chaos-latency": "20"})).await;
        let ended = bot.run(&thread, "second question").await;
        assert_eq!(ended["outcome"]["text"], "Nothing else.", "{provider}: slow is no failure: {ended}");
    }
    mock.end().await.unwrap();
}
