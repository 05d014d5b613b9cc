//! Looking for text: by `thread/search`, and by models through the App tools, which find the same. How branches stand and what
//! holds everywhere, as models read it of a daemon.

use serde_json::{Value, json};

use super::{Fresh, Raw, text, told_text};

scenarios! { $ searching
    wire:
        app_77_thread_search_and_app_read_find_the_same
        app_60_app_61_messages_of_all_projects_are_found_or_those_of_a_scope
        app_75_pages_of_a_search_make_the_whole_of_it_while_threads_are_used
        app_58_a_malformed_or_foreign_cursor_of_a_search_is_refused
        app_66_what_cannot_be_matched_in_linear_time_is_refused_in_words
        app_4_the_rule_that_refused_a_call_is_read_in_the_settings
        app_139_the_settings_say_that_there_is_a_key_and_never_which
        app_28_the_runs_of_a_thread_are_read_with_their_queue_and_revision
        a_search_is_no_member_of_a_batch;
    clock:;
}

const READ: &str = "mcp_app__app_read";

/// Lets the model read, without being asked about it; the page.
async fn read(bot: &mut Raw, thread: &Value, arguments: Value) -> Value {
    bot.run(thread, &format!("call {READ} {arguments}")).await;
    let item = bot.calls(thread).await.pop().expect("there was a call");
    assert_eq!(item["state"], "completed", "{}", told_text(&item));
    item["structuredContent"].clone()
}

/// A thread whose model may read without asking.
async fn reader(bot: &mut Raw) -> Value {
    let rule = json!({"level": "global", "tool": {"source": "app", "name": "app_read"}, "decision": "allow"});
    bot.call("policy/set", rule).await;
    bot.start(&[]).await
}

fn fragments(page: &Value) -> Vec<&str> {
    let items = page["items"].as_array().map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(|hit| hit["fragment"].as_str()).collect()
}

pub(super) async fn app_77_thread_search_and_app_read_find_the_same(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    bot.run(&thread, "say a rope, a Rope").await;
    let other = reader(&mut bot).await;
    let roles = json!(["Assistant"]);
    let found = bot.call("thread/search", json!({"query": "a rope", "roles": ["assistant"]})).await;
    let read = read(&mut bot, &other, json!({"resource": "Search", "query": "a rope", "roles": roles})).await;
    let project = bot.project_of(&thread).await;
    let hit = &found["items"][0];
    assert_eq!((&hit["projectId"], &hit["threadId"], &hit["branchId"]), (&project, &thread, &thread));
    assert_eq!((&hit["fragment"], &hit["matchCount"]), (&json!("a rope, a Rope"), &json!(2)));
    assert!(hit["projectName"].is_string() && hit["messageId"].is_string() && hit["at"].is_string(), "{hit}");
    let mut same = hit.clone();
    same["role"] = json!("Assistant");
    assert_eq!(read["items"], json!([same]));
    assert_eq!((found.get("nextCursor"), read.get("nextCursor")), (None, None));
}

pub(super) async fn app_60_app_61_messages_of_all_projects_are_found_or_those_of_a_scope(subject: Fresh) {
    let mut bot = subject.bot().await;
    let here = bot.start(&[]).await;
    bot.run(&here, "say moss here").await;
    let project = bot.call("project/create", json!({"name": "Other"})).await["project"]["projectId"].clone();
    let started = json!({"projectId": project, "title": "Moss"});
    let there = bot.call("thread/start", started).await["thread"]["threadId"].clone();
    bot.run(&there, "say moss there").await;
    let found = bot.call("thread/search", json!({"query": "moss", "roles": ["assistant"]})).await;
    let mut both = fragments(&found);
    both.sort_unstable();
    assert_eq!(both, ["moss here", "moss there"]);
    for (scope, only) in [
        (json!({"projectId": project}), "moss there"),
        (json!({"threadId": here}), "moss here"),
        (json!({"threadId": there, "branchId": there}), "moss there"),
    ] {
        let mut params = json!({"query": "moss", "roles": ["assistant"]});
        for (name, value) in scope.as_object().unwrap() {
            params[name] = value.clone();
        }
        assert_eq!(fragments(&bot.call("thread/search", params).await), [only], "{scope}");
    }
    let error = bot.refused("thread/search", json!({"query": "moss", "threadId": "nope"})).await;
    assert_eq!(error["data"]["kind"], "notFound");
}

pub(super) async fn app_75_pages_of_a_search_make_the_whole_of_it_while_threads_are_used(subject: Fresh) {
    let mut bot = subject.bot().await;
    let (one, two) = (bot.start(&[]).await, bot.start(&[]).await);
    for n in 0..3 {
        bot.run(&one, &format!("say moss one {n}")).await;
        bot.run(&two, &format!("say moss two {n}")).await;
    }
    let whole = bot.call("thread/search", json!({"query": "moss"})).await;
    let whole: Vec<String> = fragments(&whole).into_iter().map(ToOwned::to_owned).collect();
    assert_eq!(whole.len(), 12);
    let (mut paged, mut cursor) = (Vec::new(), None);
    loop {
        let page = bot.call("thread/search", json!({"query": "moss", "limit": 5, "cursor": cursor})).await;
        assert_eq!(page["truncated"] == true, page.get("nextCursor").is_some());
        paged.extend(fragments(&page).into_iter().map(ToOwned::to_owned));
        // What was said last moves to the front of other lists.
        bot.run(&one, "say nothing of it").await;
        match page.get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => break,
        }
    }
    assert_eq!(paged, whole);
}

pub(super) async fn app_58_a_malformed_or_foreign_cursor_of_a_search_is_refused(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    bot.run(&thread, "say moss").await;
    let cursor = bot.call("thread/search", json!({"query": "moss", "limit": 1})).await["nextCursor"].clone();
    for params in [
        json!({"query": "moss", "cursor": "7"}),
        json!({"query": "other", "cursor": cursor}),
        json!({"query": "moss", "threadId": thread, "cursor": cursor}),
    ] {
        let error = bot.refused("thread/search", params).await;
        assert_eq!((&error["data"]["kind"], &error["data"]["path"]), (&json!("invalidParams"), &json!("/cursor")));
    }
}

pub(super) async fn app_66_what_cannot_be_matched_in_linear_time_is_refused_in_words(subject: Fresh) {
    let mut bot = subject.bot().await;
    for query in [r"(a)\1", "(?=a)"] {
        let error = bot.refused("thread/search", json!({"query": query, "isRegex": true})).await;
        assert_eq!((&error["data"]["kind"], &error["data"]["path"]), (&json!("invalidParams"), &json!("/query")));
        assert!(error["message"].as_str().unwrap().contains("linear time"), "{error}");
        // As a text it is as good as any.
        assert_eq!(bot.call("thread/search", json!({"query": query})).await["items"], json!([]));
    }
}

pub(super) async fn app_4_the_rule_that_refused_a_call_is_read_in_the_settings(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = reader(&mut bot).await;
    let rule = json!({"level": "global", "tool": {"source": "app", "name": "app_navigate"}, "decision": "deny"});
    let set = bot.call("policy/set", rule).await["policy"]["policyId"].clone();
    bot.run(&thread, "call mcp_app__app_navigate").await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["error"]["code"]), (&json!("refused"), &json!("tool_denied")));
    let page = read(&mut bot, &thread, json!({"resource": "Settings"})).await;
    let items = page["items"].as_array().unwrap();
    let found = items.iter().find(|item| item["policyId"] == set).expect("the rule is there");
    assert_eq!((&found["kind"], &found["decision"]), (&json!("Policy"), &json!("Deny")));
    let app = items.iter().find(|item| item["serverId"] == "app").expect("the App tools are there");
    assert_eq!((&app["kind"], &app["builtin"], &app["enabled"]), (&json!("Server"), &json!(true), &json!(true)));
}

pub(super) async fn app_139_the_settings_say_that_there_is_a_key_and_never_which(subject: Fresh) {
    const KEY: &str = "sk-planted-in-a-scenario";
    let mut bot = subject.bot().await;
    let thread = reader(&mut bot).await;
    let endpoint = json!({
        "name": "work", "provider": "openaiCompatible", "baseUrl": "https://api.example.com/v1", "model": "m",
    });
    let endpoint = bot.call("endpoint/set", endpoint).await["endpoint"]["endpointId"].clone();
    bot.call("secret/set", json!({"endpointId": endpoint, "value": KEY})).await;
    let by_script = json!({"threadId": thread, "endpointId": "scripted"});
    bot.call("thread/update", by_script).await;
    let page = read(&mut bot, &thread, json!({"resource": "Settings"})).await;
    let items = page["items"].as_array().unwrap();
    let shown = items.iter().find(|item| item["endpointId"] == endpoint).expect("the endpoint is there");
    assert_eq!((&shown["kind"], &shown["hasCredential"]), (&json!("Endpoint"), &json!(true)));
    assert!(!page.to_string().contains(KEY));
}

pub(super) async fn app_28_the_runs_of_a_thread_are_read_with_their_queue_and_revision(subject: Fresh) {
    let mut bot = subject.bot().await;
    let busy = bot.start(&[]).await;
    let run = bot.submit(&busy, "sleep 3600000").await;
    let queued = bot.call("run/submit", json!({"threadId": busy, "input": text("and then")})).await;
    let thread = reader(&mut bot).await;
    let page = read(&mut bot, &thread, json!({"resource": "Runs", "threadId": busy})).await;
    let standing = &page["items"][0];
    assert_eq!((&standing["branchId"], &standing["run"]["runId"]), (&busy, &run));
    assert_eq!(standing["state"], "Running");
    assert!(standing["revision"].is_u64(), "{standing}");
    let entry = &standing["queue"]["entries"][0];
    assert_eq!((&entry["messageId"], &entry["input"]), (&queued["messageId"], &json!("and then")));

    bot.call("run/stop", json!({"threadId": busy})).await;
    bot.ended(&run).await;
    let page = read(&mut bot, &thread, json!({"resource": "Runs", "threadId": busy, "branchId": busy})).await;
    let standing = &page["items"][0];
    assert_eq!((&standing["state"], &standing["queue"]["held"]), (&json!("Stopped"), &json!(true)));
    assert_eq!(standing["run"]["recovery"].as_array().map(Vec::is_empty), Some(false), "{standing}");
}

pub(super) async fn a_search_is_no_member_of_a_batch(subject: Fresh) {
    let mut bot = subject.bot().await;
    let search = json!({"jsonrpc": "2.0", "id": 70, "method": "thread/search", "params": {"query": "x"}});
    bot.send(json!([search])).await;
    let answer = bot.until("the answer of the batch", |line| line.is_array()).await;
    assert_eq!(answer[0]["error"]["data"]["reason"], "waits_in_batch", "{answer}");
}
