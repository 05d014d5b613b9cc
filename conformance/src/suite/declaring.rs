//! Declaring tools: when, with what, and what comes of each part of a declaration.

use std::time::Duration;

use serde_json::json;

use super::{Fresh, Raw, client_tools, get_issue, success, told_text, tool, tool_with};
use crate::{ScriptedServer, ServerOptions};

scenarios! { $ declaring
    wire:
        dyn_1_tools_are_declared_when_a_thread_is_started_or_resumed
        dyn_2_a_handler_is_gone_with_its_client
        dyn_3_a_declaration_that_misses_a_field_is_refused_with_its_path
        dyn_4_the_model_is_shown_the_description_of_a_namespace
        dyn_35_annotations_and_schemas_are_shown_and_an_approval_wish_asks
        dyn_35_an_output_schema_refuses_what_does_not_fit_it
        a_declaration_is_closed_and_names_what_it_does_not_know
        dyn_36_a_name_that_another_process_holds_needs_a_takeover_which_tells_the_loser
        x15_a_new_process_gets_the_names_of_one_that_is_gone;
    clock:
        dyn_35_a_timeout_of_the_declaration_ends_a_silent_call;
}

pub(super) async fn dyn_1_tools_are_declared_when_a_thread_is_started_or_resumed(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    assert_eq!(bot.shown_tool(&thread, "get_issue").await["state"], "bound");

    let mut other = subject.client("other", "in-B").await;
    let resumed = other.call("thread/resume", json!({"threadId": thread, "tools": [tool("notify")]})).await;
    assert_eq!(client_tools(&resumed["tools"]), ["get_issue", "notify"]);
    let changed = bot.event("toolsChanged").await;
    assert_eq!(changed["event"]["added"], json!(["notify"]));
    assert_eq!(changed["event"]["cause"], "declared");
    assert_eq!(changed["event"]["clientName"], "other");

    let run = bot.submit(&thread, "call notify").await;
    let call = other.asked("tool/call").await;
    other.reply(&call, success("told them")).await;
    assert_eq!(bot.ended(&run).await["outcome"]["text"], "notify: told them");

    // A list replaces this client's own set; an empty one clears it and touches nobody else's.
    let cleared = other.call("thread/resume", json!({"threadId": thread, "tools": []})).await;
    assert_eq!(client_tools(&cleared["tools"]), ["get_issue"]);
    assert_eq!(bot.event("toolsChanged").await["event"]["removed"], json!(["notify"]));
}

pub(super) async fn dyn_2_a_handler_is_gone_with_its_client(subject: Fresh) {
    let mut watch = subject.client("watch", "in-W").await;
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    watch.call("thread/resume", json!({"threadId": thread})).await;
    watch.call("settings/update", json!({"ownerGraceMs": 0})).await;
    drop(bot);
    // The daemon learns of the cut when it reads; until then the tool is still shown as bound.
    let away = |tools: &serde_json::Value| tools["items"][0]["state"] != "bound";
    watch.eventually("thread/tools", json!({"threadId": thread}), away).await;
    let shown = watch.shown_tool(&thread, "get_issue").await;
    assert_eq!(shown["state"], "ownerAway");
    assert_eq!(shown["reason"], "bot is not connected");
    let ended = watch.run(&thread, "call get_issue {\"id\":\"7\"}").await;
    assert_eq!(ended["outcome"]["status"], "completed");
    let call = watch.calls(&thread).await.pop().unwrap();
    assert_eq!((&call["state"], &call["effect"]), (&json!("failed"), &json!("none")));
    assert!(["owner_away", "unknown_tool"].iter().any(|code| call["error"]["code"] == *code), "{call}");
}

pub(super) async fn dyn_3_a_declaration_that_misses_a_field_is_refused_with_its_path(subject: Fresh) {
    let mut bot = subject.bot().await;
    for field in ["name", "description", "inputSchema"] {
        let mut missing = get_issue();
        missing.as_object_mut().unwrap().remove(field);
        for method in ["thread/start", "thread/resume"] {
            let thread = bot.start(&[]).await;
            let error = bot.refused(method, json!({"threadId": thread, "tools": [get_issue(), missing]})).await;
            assert_eq!(error["data"]["kind"], "invalidParams");
            assert_eq!(error["data"]["path"], format!("/tools/1/{field}"), "{error}");
            assert_eq!(error["data"]["reason"], "required");
        }
    }
    let namespaced = tool_with("get", json!({"namespace": "issues", "namespaceDescription": "The tracker."}));
    let thread = bot.start(&[namespaced]).await;
    let shown = bot.shown_tool(&thread, "issues__get").await;
    assert_eq!((&shown["namespace"], &shown["name"]), (&json!("issues"), &json!("get")));
}

pub(super) async fn dyn_4_the_model_is_shown_the_description_of_a_namespace(subject: Fresh) {
    let server = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
    let mut bot = subject.bot().await;
    bot.use_model_at(&server.base_url()).await;
    let about = json!({"namespace": "issues", "namespaceDescription": "Everything about the tracker of the team."});
    let thread = bot.start(&[tool_with("get", about.clone()), tool_with("close", about)]).await;
    bot.run(&thread, "hello").await;
    let request = server.requests().pop().unwrap();
    let described: Vec<_> = request.body["tools"].as_array().unwrap().iter().collect();
    for name in ["issues__get", "issues__close"] {
        let tool = described.iter().find(|tool| tool["function"]["name"] == name).unwrap();
        let description = tool["function"]["description"].as_str().unwrap();
        assert!(description.contains("Everything about the tracker of the team."), "{description}");
        assert!(description.contains("Does "), "{description}");
    }
}

pub(super) async fn dyn_35_annotations_and_schemas_are_shown_and_an_approval_wish_asks(subject: Fresh) {
    let mut bot = subject.bot().await;
    let further = json!({
        "title": "Delete it",
        "annotations": {"destructiveHint": true, "openWorldHint": false},
        "outputSchema": {"type": "object", "properties": {"gone": {"type": "boolean"}}, "required": ["gone"]},
        "timeoutMs": 5_000,
        "approval": "ask",
    });
    let thread = bot.start(&[tool_with("delete", further)]).await;
    let shown = bot.shown_tool(&thread, "delete").await;
    assert_eq!(shown["title"], "Delete it");
    assert_eq!(shown["annotations"], json!({"destructiveHint": true, "openWorldHint": false}));
    assert_eq!(shown["outputSchema"]["required"], json!(["gone"]));
    assert_eq!(shown["policy"]["timeoutMs"], 5_000);
    assert_eq!((&shown["policy"]["decision"], &shown["policy"]["level"]), (&json!("ask"), &json!("default")));

    let run = bot.submit(&thread, "call delete").await;
    let approval = bot.asked("approval/request").await;
    assert_eq!(approval["params"]["tool"]["title"], "Delete it");
    assert_eq!(approval["params"]["tool"]["annotations"], json!({"destructiveHint": true, "openWorldHint": false}));
    bot.reply(&approval, json!({"decision": "accept"})).await;
    let call = bot.asked("tool/call").await;
    assert_eq!(call["params"]["silenceMs"], 5_000);
    let mut result = success("gone");
    result["structuredContent"] = json!({"gone": true});
    bot.reply(&call, result).await;
    bot.ended(&run).await;
    assert_eq!(bot.calls(&thread).await[0]["state"], "completed");
}

pub(super) async fn dyn_35_an_output_schema_refuses_what_does_not_fit_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let schema = json!({"outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}});
    let thread = bot.start(&[tool_with("count", schema)]).await;
    let run = bot.submit(&thread, "call count\nthen call count").await;
    for structured in [json!({"n": "many"}), json!({"n": 3})] {
        let call = bot.asked("tool/call").await;
        let mut result = success("counted");
        result["structuredContent"] = structured;
        bot.reply(&call, result).await;
    }
    bot.ended(&run).await;
    let calls = bot.calls(&thread).await;
    assert_eq!((&calls[0]["state"], &calls[0]["error"]["code"]), (&json!("failed"), &json!("invalid_result")));
    assert_eq!(calls[0]["effect"], "done");
    assert!(told_text(&calls[0]).contains("/structuredContent/n"), "{}", told_text(&calls[0]));
    assert_eq!(calls[1]["structuredContent"], json!({"n": 3}));
}

pub(super) async fn dyn_35_a_timeout_of_the_declaration_ends_a_silent_call(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("slow", json!({"timeoutMs": 5_000}))]).await;
    let run = bot.submit(&thread, "call slow").await;
    let call = bot.asked("tool/call").await;
    subject.advance(Duration::from_millis(4_999));
    bot.settle_down().await;
    assert!(bot.seen(|line| line["method"] == "interaction/settled").is_empty(), "not silent for long enough");
    subject.advance(Duration::from_millis(1));
    let settled = bot.told("interaction/settled").await;
    assert_eq!(settled["interactionId"], call["params"]["interactionId"]);
    assert_eq!((&settled["outcome"], &settled["by"]["kind"]), (&json!("expired"), &json!("deadline")));
    bot.ended(&run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["error"]["code"]), (&json!("failed"), &json!("timeout")));
    assert_eq!(item["effect"], "unknown");
}

pub(super) async fn a_declaration_is_closed_and_names_what_it_does_not_know(subject: Fresh) {
    let mut bot = subject.bot().await;
    let cases = [
        (json!({"nmae": "x"}), "/tools/0/nmae", "unknown_field"),
        (json!({"annotations": {"readOnly": true}}), "/tools/0/annotations/readOnly", "unknown_field"),
        (json!({"approval": "never"}), "/tools/0/approval", "unknown_value"),
        (json!({"timeoutMs": "5s"}), "/tools/0/timeoutMs", "wrong_type"),
    ];
    for (further, path, reason) in cases {
        let error = refused_declaration(&mut bot, tool_with("odd", further)).await;
        assert_eq!((&error["data"]["path"], &error["data"]["reason"]), (&json!(path), &json!(reason)), "{error}");
    }
    let broken_rules = [
        (json!({"name": "has space"}), "/tools/0/name"),
        (json!({"name": "mcp_app__x"}), "/tools/0/name"),
        (json!({"description": " "}), "/tools/0/description"),
        (json!({"timeoutMs": 1}), "/tools/0/timeoutMs"),
        (json!({"timeoutMs": 3_600_000}), "/tools/0/timeoutMs"),
        (json!({"inputSchema": {"type": "string"}}), "/tools/0/inputSchema/type"),
        (json!({"namespaceDescription": "of nothing"}), "/tools/0/namespaceDescription"),
    ];
    for (further, path) in broken_rules {
        let error = refused_declaration(&mut bot, tool_with("odd", further)).await;
        assert_eq!(error["data"]["path"], path, "{error}");
        assert!(!error["data"]["reason"].as_str().unwrap().is_empty());
    }
    let twice = bot.refused("thread/start", json!({"tools": [tool("same"), tool("same")]})).await;
    assert_eq!(twice["data"]["path"], "/tools/1/name");
    let many: Vec<_> = (0..129).map(|n| tool(&format!("t{n}"))).collect();
    let error = bot.refused("thread/start", json!({"tools": many})).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["path"]), (&json!("invalidParams"), &json!("/tools")));
}

async fn refused_declaration(bot: &mut Raw, declaration: serde_json::Value) -> serde_json::Value {
    let error = bot.refused("thread/start", json!({"tools": [declaration]})).await;
    assert_eq!(error["data"]["kind"], "invalidParams", "{error}");
    error
}

pub(super) async fn dyn_36_a_name_that_another_process_holds_needs_a_takeover_which_tells_the_loser(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let mut second = subject.client("bot", "in-B").await;
    let declare = json!({"threadId": thread, "tools": [get_issue()]});
    let error = second.refused("thread/resume", declare.clone()).await;
    assert_eq!(error["data"]["kind"], "conflict");
    assert_eq!(error["data"]["current"]["flatName"], "get_issue");
    assert_eq!(error["data"]["current"]["owner"]["instanceId"], "in-A");
    let mut takeover = declare;
    takeover["takeover"] = json!(true);
    second.call("thread/resume", takeover).await;
    let changed = bot.event("toolsChanged").await;
    assert_eq!((&changed["event"]["cause"], &changed["event"]["clientName"]), (&json!("takeover"), &json!("bot")));
    let run = second.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let call = second.asked("tool/call").await;
    second.reply(&call, success("mine now")).await;
    second.ended(&run).await;
    assert!(bot.seen(|line| line["method"] == "tool/call").is_empty(), "the loser is not called");
}

/// A program that is started anew has another instance: the names of its last life are free once that one is gone.
pub(super) async fn x15_a_new_process_gets_the_names_of_one_that_is_gone(subject: Fresh) {
    let mut first = subject.bot().await;
    let thread = first.start(&[get_issue()]).await;
    drop(first);
    let mut second = subject.client("bot", "in-B").await;
    let is_away = |tools: &serde_json::Value| tools["items"][0]["state"] == "ownerAway";
    second.eventually("thread/tools", json!({"threadId": thread}), is_away).await;
    second.call("thread/resume", json!({"threadId": thread, "tools": [get_issue()]})).await;
    assert_eq!(second.shown_tool(&thread, "get_issue").await["owner"]["instanceId"], "in-B");
    let log = second.log(&thread).await;
    let changed = &log.last().expect("events")["event"];
    assert_eq!((&changed["cause"], &changed["changed"]), (&json!("declared"), &json!(["get_issue"])));
}
