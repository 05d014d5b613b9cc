//! The chain: `thread/messages` is exactly what the endpoint receives, and no provider would refuse it.

use serde_json::{Value, json};

use super::{Fresh, Raw, get_issue, received::same_as_shown, success, text, tool, tool_with};
use crate::{Fault, ScriptedServer, ServerOptions};

scenarios! { $ messages
    wire:
        what_the_endpoint_receives_is_what_thread_messages_shows
        after_a_stop_the_history_is_whole_and_goes_on
        odd_arguments_and_unknown_tools_leave_a_history_that_is_accepted
        a_denied_tool_is_not_in_the_next_request
        instructions_of_project_and_thread_reach_the_endpoint;
    clock:
        after_a_failure_the_history_is_accepted_and_goes_on;
}

pub(super) async fn what_the_endpoint_receives_is_what_thread_messages_shows(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    // A tool run with text beside its calls.
    let run = bot.submit(&thread, "say let me look\ncall get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"2\"}").await;
    for n in 1..=2 {
        let call = bot.asked("tool/call").await;
        bot.reply(&call, success(&format!("issue {n}"))).await;
    }
    bot.ended(&run).await;
    same_as_shown(&server, &mut bot, &thread).await;

    // A refused call, a failed one, one that never reached its handler, one that broke a rule.
    let run = bot.submit(&thread, "call act\ncall get_issue {\"id\":7}\ncall get_issue {\"id\":\"8\"}\ncall get_issue {\"id\":\"9\"}").await;
    let approval = bot.asked("approval/request").await;
    bot.reply(&approval, json!({"decision": "decline", "note": "no"})).await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, json!({"success": false, "errorCode": "E", "errorMessage": "it is gone"})).await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, json!({"success": true})).await;
    bot.ended(&run).await;
    same_as_shown(&server, &mut bot, &thread).await;
}

pub(super) async fn after_a_stop_the_history_is_whole_and_goes_on(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}\ncall act\ncall get_issue {\"id\":\"3\"}").await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, success("one")).await;
    bot.asked("approval/request").await;
    assert_eq!(bot.chain(&thread).await.len(), 1, "a batch joins the chain with the last of its results");
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&run).await;
    let chain = bot.chain(&thread).await;
    assert_eq!(chain.len(), 5, "the missing results were written");
    bot.run(&thread, "say on we go").await;
    same_as_shown(&server, &mut bot, &thread).await;

    bot.kept.clear();
    let run = bot.submit(&thread, "say half of it\nsleep 60000\nsay the rest").await;
    bot.until("some text", |line| line["params"]["event"]["type"] == "itemDelta").await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&run).await;
    bot.run(&thread, "say and on").await;
    same_as_shown(&server, &mut bot, &thread).await;
}

pub(super) async fn after_a_failure_the_history_is_accepted_and_goes_on(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    for kind in ["cutOff", "badRequest", "badResponse"] {
        let run = bot.submit(&thread, &format!("say some\nfail {kind}")).await;
        let ended = bot.ended_after_waits(&subject, &run).await;
        assert_eq!(ended["outcome"]["status"], "failed", "{ended}");
        let ended = bot.run(&thread, "say well again").await;
        assert_eq!(ended["outcome"]["status"], "completed", "after {kind}: {ended}");
        same_as_shown(&server, &mut bot, &thread).await;
    }
    for _ in 0..5 {
        server.fault_next(Fault::Cut { after_bytes: 300 });
    }
    let run = bot.submit(&thread, "say one two three four").await;
    let ended = bot.ended_after_waits(&subject, &run).await;
    assert_eq!(ended["outcome"]["status"], "failed", "{ended}");
    bot.run(&thread, "say well again").await;
    same_as_shown(&server, &mut bot, &thread).await;
}

pub(super) async fn odd_arguments_and_unknown_tools_leave_a_history_that_is_accepted(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    for input in [
        "call get_issue {\"id\":",
        "call get_issue [1,2]",
        "call no_such_tool {}",
        "call get_issue \"text\"",
        "think only thoughts",
        "say \nsay  ",
    ] {
        bot.run(&thread, input).await;
        bot.run(&thread, "say next").await;
    }
    same_as_shown(&server, &mut bot, &thread).await;
}

pub(super) async fn a_denied_tool_is_not_in_the_next_request(subject: Fresh) {
    let (server, mut bot, thread) = over_http(&subject).await;
    let names = |server: &ScriptedServer| -> Vec<Value> {
        let request = server.requests().pop().unwrap();
        let tools = request.body["tools"].as_array().cloned().unwrap_or_default();
        let names = tools.iter().map(|tool| tool["function"]["name"].clone());
        names.filter(|name| !name.as_str().unwrap_or_default().starts_with("mcp_")).collect()
    };
    bot.run(&thread, "hello").await;
    assert_eq!(names(&server), ["act", "get_issue"]);
    bot.rule("thread", &thread, "act", "deny").await;
    bot.run(&thread, "hello").await;
    assert_eq!(names(&server), ["get_issue"]);
    // A set that changes while a run is under way takes effect at the next step.
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}\nthen say done").await;
    let call = bot.asked("tool/call").await;
    bot.call("thread/resume", json!({"threadId": thread, "tools": [get_issue(), tool("fresh")]})).await;
    bot.reply(&call, success("one")).await;
    bot.ended(&run).await;
    assert_eq!(names(&server), ["fresh", "get_issue"]);
}

pub(super) async fn instructions_of_project_and_thread_reach_the_endpoint(subject: Fresh) {
    let (server, mut bot, _) = over_http(&subject).await;
    let create = json!({"name": "P", "instructions": "PROJECT-RULES"});
    let project = bot.call("project/create", create).await["project"]["projectId"].clone();
    let start = json!({"projectId": project, "instructions": "THREAD-RULES"});
    let thread = bot.call("thread/start", start).await["thread"]["threadId"].clone();
    bot.call("run/submit", json!({"threadId": thread, "input": text("hello"), "wait": true})).await;
    let body = server.requests().pop().unwrap().body;
    let system = &body["messages"][0];
    assert_eq!(system["role"], "system", "{body}");
    assert!(system.to_string().contains("PROJECT-RULES") && system.to_string().contains("THREAD-RULES"), "{system}");
    assert_eq!(bot.chain(&thread).await.len(), 2, "they are no messages");
}

async fn over_http(subject: &Fresh) -> (ScriptedServer, Raw, Value) {
    let server = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
    let mut bot = subject.bot().await;
    bot.use_model_at(&server.base_url()).await;
    let thread = bot.start(&[get_issue(), tool_with("act", json!({"approval": "ask"}))]).await;
    (server, bot, thread)
}
