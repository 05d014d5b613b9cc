//! A thread that is longer than its model's window, over the wire: it goes on, and shows what it did.

use serde_json::{Value, json};

use super::{Fresh, text};
use crate::{ScriptedServer, ServerOptions};

scenarios! { $ compacting
    wire:
        l24_a_long_thread_goes_on_answering_and_shows_what_was_summarised
        context_preview_shows_every_layer_as_it_is_sent;
    clock:;
}

pub(super) async fn l24_a_long_thread_goes_on_answering_and_shows_what_was_summarised(subject: Fresh) {
    let server = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
    let mut bot = subject.bot().await;
    let endpoint = bot.use_model_at(&server.base_url()).await;
    bot.call("endpoint/set", json!({"endpointId": endpoint, "contextTokens": 8_000})).await;
    let thread = bot.start(&[]).await;
    for number in 0..8 {
        let ended = bot.run(&thread, &format!("{number} {}", "word ".repeat(900))).await;
        assert_eq!(ended["outcome"]["status"], "completed", "{ended}");
    }
    assert!(server.requests().iter().all(|request| request.refused.is_none()), "no history is refused");
    let chain = bot.chain(&thread).await;
    assert_eq!((&chain[0]["role"], &chain[0]["summary"]), (&json!("user"), &json!(true)), "{}", chain[0]);
    assert_eq!(chain[1]["parentMessageId"], chain[0]["messageId"]);
    let log = bot.log(&thread).await;
    let items = log.iter().map(|event| &event["event"]).filter(|event| event["type"] == "itemCompleted");
    let items: Vec<&Value> = items.map(|event| &event["item"]).collect();
    let notices: Vec<&Value> = items.iter().copied().filter(|item| item["code"] == "compacted").collect();
    assert!(!notices.is_empty());
    assert!(notices[0]["text"].as_str().unwrap().contains("messages were summarised"), "{}", notices[0]);
    let said = items.iter().filter(|item| item["kind"] == "userMessage");
    assert_eq!(said.count(), 8, "what was said stays in the log");
    let preview = bot.call("context/preview", json!({"threadId": thread})).await;
    assert_eq!((&preview["windowTokens"], &preview["messages"]["count"]), (&json!(8_000), &json!(chain.len())));
    assert!(preview["messages"]["summarised"].as_u64().unwrap() >= 4, "{}", preview["messages"]);
}

pub(super) async fn context_preview_shows_every_layer_as_it_is_sent(subject: Fresh) {
    let server = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
    let mut bot = subject.bot().await;
    bot.use_model_at(&server.base_url()).await;
    let project = bot.call("project/create", json!({"name": "P", "instructions": "PROJECT-RULES"})).await;
    let start = json!({"projectId": project["project"]["projectId"], "instructions": "THREAD-RULES"});
    let thread = bot.call("thread/start", start).await["thread"]["threadId"].clone();
    let before = bot.call("context/preview", json!({"threadId": thread})).await;
    assert_eq!(before["messages"], json!({"count": 0, "tokens": 0, "summarised": 0}));
    bot.call("run/submit", json!({"threadId": thread, "input": text("hello"), "wait": true})).await;
    let preview = bot.call("context/preview", json!({"threadId": thread})).await;
    let layers = preview["layers"].as_array().unwrap();
    let names: Vec<&str> = layers.iter().map(|layer| layer["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["base", "projectInstructions", "workspaceFiles", "memoryIndex", "runLine"]);
    assert_eq!((&layers[0]["text"], &layers[1]["text"]), (&json!("THREAD-RULES"), &json!("PROJECT-RULES")));
    assert!(layers[4]["text"].as_str().unwrap().contains(thread.as_str().unwrap()), "{}", layers[4]);
    let texts: Vec<&str> = layers.iter().filter_map(|layer| layer["text"].as_str()).filter(|text| !text.is_empty()).collect();
    let body = server.requests().pop().unwrap().body;
    assert!(body["messages"][0].to_string().contains(&json!(texts.join("\n\n")).to_string()[1..20]), "{body}");
    assert_eq!(preview["messages"]["count"], 2);
    let error = bot.refused("context/preview", json!({"threadId": "0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11"})).await;
    assert_eq!(error["data"]["kind"], "notFound");
    let small = json!({"name": "small", "provider": "scripted", "model": "scripted", "contextTokens": 8_192});
    let small = bot.call("endpoint/set", small).await["endpoint"]["endpointId"].clone();
    let there = bot.call("context/preview", json!({"threadId": thread, "endpointId": small})).await;
    assert_eq!((&there["windowTokens"], &there["messages"]["count"]), (&json!(8_192), &json!(2)));
    assert_ne!(preview["windowTokens"], there["windowTokens"], "the window is that of the endpoint that is named");
    let error = bot.refused("context/preview", json!({"threadId": thread, "endpointId": "nowhere"})).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["noun"]), (&json!("notFound"), &json!("endpoint")));
    let error = bot.refused("context/preview", json!({"threadId": thread, "branchId": "nowhere"})).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["noun"]), (&json!("notFound"), &json!("branch")));
}
