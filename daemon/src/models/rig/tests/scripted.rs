//! Against the scripted server: the same scenarios as in-process, and histories that strict providers take.

use std::sync::Arc;

use futures::StreamExt;
use ropewalk_conformance::{Fault, ScriptedServer, ServerOptions};
use ropewalk_protocol::RunErrorKind as Kind;
use serde_json::{Value, json};

use super::{LONG, chat_model, listen, request, user};
use crate::models::{
    ChainMessage, ModelEvent, ModelFactory, Models,
    testing::{FixedClock, assistant, chained, endpoint, result},
};

async fn strict() -> ScriptedServer {
    ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap()
}

#[tokio::test]
async fn a_scenario_over_http_is_the_scenario_in_process() {
    let server = strict().await;
    let over_http = chat_model(&server.base_url(), LONG);
    let in_process = Models::new(Arc::new(FixedClock)).model(&endpoint("scripted", None), None).unwrap();
    for script in ["hello there  you", "think a b\nsay c d\nsay e\ncall ask {\"x\": \"ü\"}\ncall no_such", "call ask"]
    {
        let ask = || request(vec![user(script)], &["mcp_app__ask"]);
        let (left, right) = (listen(&*over_http, ask()).await, listen(&*in_process, ask()).await);
        let (left, right) = (left.answer(), right.answer());
        assert_eq!(
            (&left.text, &left.reasoning, &left.calls),
            (&right.text, &right.reasoning, &right.calls),
            "{script}"
        );
    }
}

#[tokio::test]
async fn a_scripted_failure_over_http_is_of_its_kind_before_and_after_the_first_word() {
    let server = strict().await;
    let model = chat_model(&server.base_url(), LONG);
    let table = [
        ("rateLimited", Kind::RateLimited),
        ("quota", Kind::Quota),
        ("overloaded", Kind::Overloaded),
        ("auth", Kind::Auth),
        ("badRequest", Kind::BadRequest),
        ("modelNotFound", Kind::ModelNotFound),
        ("contextWindow", Kind::ContextWindow),
        ("badResponse", Kind::BadResponse),
        ("cutOff", Kind::CutOff),
    ];
    for (word, kind) in table {
        let heard = listen(&*model, request(vec![user(&format!("fail {word}"))], &[])).await;
        assert_eq!(heard.error().kind, kind, "fail {word}");
        let heard = listen(&*model, request(vec![user(&format!("say x\nfail {word}"))], &[])).await;
        assert_eq!(heard.text, "x");
        assert_eq!(heard.error().kind, kind, "say, then fail {word}");
    }
}

/// A chain with everything that providers refuse in it.
fn odd_chain() -> Vec<Arc<ChainMessage>> {
    let calls = json!([
        {"callId": "c1", "flatName": "no such tool! with a name longer than sixty-four characters, really", "arguments": "text"},
        {"callId": "c2", "flatName": "ask", "arguments": {"x": 1}},
    ]);
    let image = json!({"content": [{"type": "audio", "mediaType": "audio/wav", "data": "AAAA"}]});
    vec![
        result("c0", "an orphan"),
        chained("user", &image),
        assistant("  ", &json!([])),
        assistant("", &calls),
        chained("tool", &json!({"callId": "c2", "isError": true, "content": []})),
        result("c9", "another orphan"),
        user(" "),
        user("say fine"),
    ]
}

#[tokio::test]
async fn l01_l03_l19_l21_no_history_is_refused_by_a_strict_provider() {
    let server = strict().await;
    let model = chat_model(&server.base_url(), LONG);
    assert_eq!(listen(&*model, request(odd_chain(), &["ask"])).await.answer().text, "fine");
    let sent = server.requests().pop().unwrap().body;
    let messages = sent["messages"].as_array().unwrap();
    let roles = messages.iter().map(|message| message["role"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
    let calls = &messages[2]["tool_calls"];
    assert_eq!((&calls[0]["id"], &calls[0]["function"]["arguments"]), (&json!("c1"), &json!("{}")));
    assert_eq!(messages[3]["content"], "Error: this call was interrupted and has no result.");
    assert_eq!(messages[4]["content"], "Error: The call failed.");
}

#[tokio::test]
async fn a_failed_result_says_so_in_its_text() {
    let server = strict().await;
    let model = chat_model(&server.base_url(), LONG);
    let calls = json!([{"callId": "c1", "flatName": "ask", "arguments": {}}]);
    let failed = json!({"callId": "c1", "isError": true, "content": [{"type": "text", "text": "No such issue."}]});
    let chain = vec![user("call ask"), assistant("", &calls), chained("tool", &failed)];
    let answer = listen(&*model, request(chain, &["ask"])).await.answer();
    assert_eq!(answer.text, "ask: Error: No such issue.");
}

#[tokio::test]
async fn l22_reasoning_goes_back_to_the_model_that_made_it_and_to_no_other() {
    let server = strict().await;
    let model = chat_model(&server.base_url(), LONG);
    let answer = listen(&*model, request(vec![user("think deep\nsay x\ncall ask")], &["ask"])).await.answer();
    let calls = json!([{"callId": "c1", "flatName": "ask", "arguments": {}}]);
    let mut said = (*assistant("x", &calls)).clone();
    // As it comes back from the store.
    let stored = serde_json::to_string(&answer.provider_parts.unwrap()).unwrap();
    said.provider_parts = Some(serde_json::from_str(&stored).unwrap());
    for (name, expected) in [("m-1", json!("deep")), ("m-2", Value::Null)] {
        let chain = vec![user("think deep\nsay x\ncall ask"), Arc::new(said.clone()), result("c1", "yes")];
        let mut ask = request(chain, &["ask"]);
        name.clone_into(&mut ask.model);
        assert_eq!(listen(&*model, ask).await.answer().text, "ask: yes");
        let sent = server.requests().pop().unwrap().body;
        assert_eq!(sent["messages"][2]["reasoning_content"], expected, "{name}");
        assert_eq!(sent["messages"][2]["content"], "x");
        assert_eq!(sent["messages"][2]["tool_calls"][0]["id"], "c1");
    }
}

#[tokio::test]
async fn the_key_is_sent_and_a_wrong_one_is_an_auth_error() {
    let options = ServerOptions { key: Some("sk-secret-1".to_owned()), ..ServerOptions::default() };
    let server = ScriptedServer::start(options).await.unwrap();
    let models = Models::new(Arc::new(FixedClock));
    let endpoint = endpoint("openaiCompatible", Some(&server.base_url()));
    models.test(&endpoint, Some("sk-secret-1".to_owned())).await.unwrap();
    for key in [Some("sk-other-2".to_owned()), None] {
        let error = models.test(&endpoint, key).await.unwrap_err();
        assert_eq!(error.kind, Kind::Auth);
        assert!(!error.message.contains("sk-other"), "{error}");
    }
    let requests = server.requests();
    let authorization = |at: usize| requests[at].headers.iter().find(|(name, _)| name == "authorization");
    assert_eq!(authorization(0).map(|(_, value)| value.as_str()), Some("Bearer sk-secret-1"));
    assert_eq!(authorization(2), None);
}

#[tokio::test]
async fn faults_are_what_they_are_called() {
    let server = strict().await;
    let ask = || request(vec![user("say one two three")], &[]);
    let model = chat_model(&server.base_url(), LONG);
    server.fault_next(Fault::Cut { after_bytes: 300 });
    server.fault_next(Fault::End { after_bytes: 300 });
    for _ in 0..2 {
        assert_eq!(listen(&*model, ask()).await.error().kind, Kind::CutOff);
    }
    server.fault_next(Fault::Chunks { bytes: 1 });
    assert_eq!(listen(&*model, ask()).await.answer().text, "one two three");
    server.fault_next(Fault::Reply { status: 503, headers: Vec::new(), body: "busy".to_owned() });
    assert_eq!(listen(&*model, ask()).await.error().kind, Kind::Overloaded);
    server.fault_next(Fault::Stall { after_bytes: 300 });
    let impatient = chat_model(&server.base_url(), std::time::Duration::from_millis(100));
    assert_eq!(listen(&*impatient, ask()).await.error().kind, Kind::Stalled);
}

#[tokio::test]
async fn a_dropped_stream_ends_while_the_model_sleeps() {
    let server = strict().await;
    let model = chat_model(&server.base_url(), LONG);
    let mut stream = model.stream(request(vec![user("say x\nsleep 60000")], &[]));
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Text(_)))));
    drop(stream);
}

#[tokio::test]
async fn an_endpoint_that_cannot_be_used_says_why() {
    let models = Models::new(Arc::new(FixedClock));
    for (endpoint, key, words) in [
        (endpoint("openaiCompatible", Some("nonsense")), None, "no URL"),
        (endpoint("openaiCompatible", Some("ftp://x/v1")), None, "http or https"),
        (endpoint("openaiCompatible", Some("http://u:p@x/v1")), None, "without user"),
        (endpoint("openaiCompatible", None), Some("a\nb".to_owned()), "its key"),
    ] {
        let error = models.model(&endpoint, key).err().unwrap();
        assert_eq!(error.kind, Kind::BadRequest);
        assert!(error.message.contains(words), "{error}");
    }
}
