//! The App tools: the daemon's own data for its models, asked about like any tool, and windows that follow.

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, told_text};
use crate::{ScriptedServer, ServerOptions};

scenarios! { $ app_tools
    wire:
        app_16_app_18_app_25_a_fresh_daemon_lists_its_app_tools
        app_15_app_19_a_read_asks_first_and_then_a_run_reads_the_threads_of_its_daemon
        app_13_a_source_that_is_denied_or_turned_off_is_not_shown_to_the_model
        app_20_a_project_that_turns_the_app_tools_off_is_bound_to_them_by_their_transport
        app_24_allowing_one_app_tool_leaves_the_others_asking
        app_53_messages_are_what_the_model_was_sent
        app_31_a_window_is_asked_to_show_what_exists_and_no_data_changes
        app_197_an_unattended_run_shows_nothing_and_neither_does_one_without_a_window
        app_216_a_wrongly_cased_resource_is_repaired_and_an_unknown_one_refused;
    clock:;
}

const READ: &str = "mcp_app__app_read";
const NAVIGATE: &str = "mcp_app__app_navigate";

/// Accepts the next approval; what was asked.
async fn accept(bot: &mut Raw, answer: Value) -> Value {
    let approval = bot.asked("approval/request").await;
    bot.reply(&approval, answer).await;
    approval["params"].clone()
}

/// Lets the model make one call that is accepted; the item of the call.
async fn called(bot: &mut Raw, thread: &Value, call: &str) -> Value {
    let run = bot.submit(thread, &format!("call {call}")).await;
    accept(bot, json!({"decision": "accept"})).await;
    bot.ended(&run).await;
    bot.calls(thread).await.pop().expect("there was a call")
}

fn app_tools(tools: &Value) -> Vec<&str> {
    let tools = tools.as_array().map_or(&[][..], Vec::as_slice);
    tools.iter().filter(|tool| tool["source"] == "app").filter_map(|tool| tool["flatName"].as_str()).collect()
}

pub(super) async fn app_16_app_18_app_25_a_fresh_daemon_lists_its_app_tools(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    for (name, reads) in [(READ, true), (NAVIGATE, false)] {
        let shown = bot.shown_tool(&thread, name).await;
        assert_eq!((&shown["source"], &shown["sourceKind"], &shown["sourceName"]), (&json!("app"), &json!("app"), &json!("App tools")));
        assert_eq!((&shown["state"], &shown["annotations"]["readOnlyHint"]), (&json!("ready"), &json!(reads)));
        let policy = &shown["policy"];
        assert_eq!((&policy["decision"], &policy["level"], &policy["timeoutMs"]), (&json!("ask"), &json!("default"), &json!(600_000)));
        assert!(shown["inputSchema"].is_object() && shown["outputSchema"].is_object());
    }
}

pub(super) async fn app_15_app_19_a_read_asks_first_and_then_a_run_reads_the_threads_of_its_daemon(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, &format!("call {READ} {{\"resource\":\"Threads\"}}")).await;
    let asked = accept(&mut bot, json!({"decision": "accept"})).await;
    assert_eq!((&asked["tool"]["source"], &asked["tool"]["name"]), (&json!("app"), &json!("app_read")));
    assert_eq!(asked["summary"], "Read application data Threads");
    bot.ended(&run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["severity"], &item["decision"]["decision"]), (&json!("completed"), &json!("info"), &json!("accept")));
    // Three audiences: the model has the page as text, clients have it as data, and the line for people is for people.
    let page = &item["structuredContent"];
    assert_eq!((&page["resource"], &page["returned"], &page["truncated"]), (&json!("Threads"), &json!(1), &json!(false)));
    assert_eq!(page["items"][0]["threadId"], thread);
    assert_eq!(serde_json::from_str::<Value>(&told_text(&item)).unwrap(), *page);
    assert_eq!(item["summary"], "Read Threads (page size 100, no cursor): 1 item");
    assert!(!told_text(&item).contains("page size"));
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn app_13_a_source_that_is_denied_or_turned_off_is_not_shown_to_the_model(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    bot.call("policy/set", json!({"level": "global", "source": "app", "decision": "deny"})).await;
    assert_eq!(bot.shown_tool(&thread, READ).await["state"], "blocked");
    let run = bot.submit(&thread, &format!("call {READ} {{\"resource\":\"Threads\"}}")).await;
    bot.ended(&run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["error"]["code"]), (&json!("refused"), &json!("tool_denied")));

    let rules = bot.call("policy/list", json!({})).await;
    bot.call("policy/remove", json!({"policyId": rules["items"][0]["policyId"]})).await;
    bot.call("mcp/server/update", json!({"serverId": "app", "enabled": false})).await;
    let tools = bot.call("thread/tools", json!({"threadId": thread})).await;
    let left = app_tools(&tools["items"]);
    assert!(!left.contains(&READ) && !left.contains(&NAVIGATE), "{left:?}");
    bot.call("mcp/server/update", json!({"serverId": "app", "enabled": true})).await;
    assert_eq!(bot.shown_tool(&thread, READ).await["state"], "ready");
}

pub(super) async fn app_20_a_project_that_turns_the_app_tools_off_is_bound_to_them_by_their_transport(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let project = bot.project_of(&thread).await;
    let update = json!({"projectId": project, "servers": [{"serverId": "app", "enabled": false}]});
    let bound = bot.call("project/update", update).await;
    assert_eq!(bound["project"]["servers"], json!([{"serverId": "app", "transport": "inProcess", "enabled": false}]));
    let tools = bot.call("thread/tools", json!({"threadId": thread})).await;
    assert!(!app_tools(&tools["items"]).contains(&READ), "they are off for this project");
    let other = bot.call("project/create", json!({"name": "Other"})).await["project"]["projectId"].clone();
    let elsewhere = bot.call("thread/start", json!({"projectId": other})).await["thread"]["threadId"].clone();
    assert_eq!(bot.shown_tool(&elsewhere, READ).await["state"], "ready");
}

pub(super) async fn app_24_allowing_one_app_tool_leaves_the_others_asking(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, &format!("call {READ} {{\"resource\":\"Thread\"}}")).await;
    accept(&mut bot, json!({"decision": "acceptForSession"})).await;
    bot.ended(&run).await;
    // The next read is made without a question; the other tool still has one.
    bot.run(&thread, &format!("call {READ} {{\"resource\":\"Project\"}}")).await;
    assert_eq!(bot.calls(&thread).await.len(), 2);
    assert_eq!(bot.shown_tool(&thread, NAVIGATE).await["policy"]["decision"], "ask");
    let run = bot.submit(&thread, &format!("call {NAVIGATE}")).await;
    accept(&mut bot, json!({"decision": "decline"})).await;
    bot.ended(&run).await;
}

pub(super) async fn app_53_messages_are_what_the_model_was_sent(subject: Fresh) {
    let server = ScriptedServer::start(ServerOptions::default()).await.unwrap();
    let mut bot = subject.bot().await;
    bot.use_model_at(&server.base_url()).await;
    let thread = bot.start(&[]).await;
    bot.run(&thread, "say well then").await;
    bot.run(&thread, "hello").await;
    let item = called(&mut bot, &thread, &format!("{READ} {{\"resource\":\"Messages\",\"branchId\":{thread}}}")).await;
    let asked = server.requests().into_iter().rev().nth(1).expect("the request that was answered with the call");
    let sent = asked.body["messages"].as_array().unwrap().iter().filter(|message| message["role"] != "system");
    let sent: Vec<(String, String)> = sent.map(|message| (word(&message["role"]), said(&message["content"]))).collect();
    let read = item["structuredContent"]["items"].as_array().unwrap().iter().rev();
    let read: Vec<(String, String)> =
        read.map(|message| (word(&message["role"]).to_lowercase(), said(&message["content"]))).collect();
    assert_eq!(read, sent);
    assert_eq!(read.len(), 5);
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The text of a message, whether its content is a text or a list of parts.
fn said(content: &Value) -> String {
    let parts = content.as_array().map_or(&[][..], Vec::as_slice);
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    content.as_str().map_or_else(|| texts.join("\n"), ToOwned::to_owned)
}

pub(super) async fn app_31_a_window_is_asked_to_show_what_exists_and_no_data_changes(subject: Fresh) {
    let mut bot = subject.bot().await;
    let capabilities = json!({"navigation": true});
    let mut window = Raw::introduced(subject.open().await, "window", "in-W", capabilities, json!(["data/changed"])).await;
    let target = bot.start(&[]).await;
    let project = bot.project_of(&target).await;
    let thread = bot.start(&[]).await;
    let data = async |bot: &mut Raw| {
        (bot.call("project/list", json!({})).await, bot.call("thread/read", json!({"threadId": target})).await)
    };
    let before = data(&mut bot).await;
    let item = called(&mut bot, &thread, &format!("{NAVIGATE} {{\"threadId\":{target}}}")).await;
    assert_eq!(item["state"], "completed", "{item}");
    assert_eq!(item["summary"], format!("Showed thread {} in 1 window", target.as_str().unwrap()));
    assert_eq!(window.told("navigate").await, json!({"projectId": project, "threadId": target}));
    assert_eq!(data(&mut bot).await, before);

    // What does not exist is shown to nobody.
    let item = called(&mut bot, &thread, &format!("{NAVIGATE} {{\"threadId\":\"nope\"}}")).await;
    assert_eq!((&item["state"], &item["error"]["code"]), (&json!("failed"), &json!("tool_error")));
    window.settle_down().await;
    assert!(window.seen(|line| line["method"] == "navigate").is_empty());
    assert!(bot.seen(|line| line["method"] == "navigate").is_empty(), "who does not show anything is not asked to");
}

pub(super) async fn app_197_an_unattended_run_shows_nothing_and_neither_does_one_without_a_window(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, &format!("call {NAVIGATE}")).await;
    accept(&mut bot, json!({"decision": "acceptForSession"})).await;
    bot.ended(&run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!(item["state"], "failed");
    assert!(told_text(&item).contains("No window is attached"), "{}", told_text(&item));

    let capabilities = json!({"navigation": true});
    let mut window = Raw::introduced(subject.open().await, "window", "in-W", capabilities, json!([])).await;
    bot.call("thread/unsubscribe", json!({"threadId": thread})).await;
    let run = bot.submit(&thread, &format!("call {NAVIGATE}")).await;
    bot.call("run/wait", json!({"runId": run})).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert!(told_text(&item).contains("no window is attached"), "{}", told_text(&item));
    window.settle_down().await;
    assert!(window.seen(|line| line["method"] == "navigate").is_empty());
}

pub(super) async fn app_216_a_wrongly_cased_resource_is_repaired_and_an_unknown_one_refused(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let item = called(&mut bot, &thread, &format!("{READ} {{\"resource\":\"threads\",\"limit\":1}}")).await;
    assert_eq!((&item["state"], &item["arguments"]["resource"]), (&json!("completed"), &json!("Threads")));
    assert_eq!(item["originalArguments"]["resource"], "threads");
    bot.run(&thread, &format!("call {READ} {{\"resource\":\"Chats\"}}")).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["error"]["code"]), (&json!("failed"), &json!("invalid_arguments")));
    let told = told_text(&item);
    assert!(told.contains("resource") && told.contains("Projects") && told.contains("Messages"), "{told}");
}
