//! Lists: pages that fit together, cursors nobody can misuse, and the order of each.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Fresh, Raw, text};

scenarios! { $ listing
    wire:
        pages_of_each_list_make_the_whole_of_it
        a_cursor_of_another_list_or_of_nobody_is_refused
        a_page_ends_at_its_characters_and_always_has_its_first_item;
    clock:
        what_is_made_between_two_pages_neither_repeats_nor_hides_anything
        threads_are_listed_by_activity_or_by_creation_and_archived_ones_apart;
}

pub(super) async fn pages_of_each_list_make_the_whole_of_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let (thread, project) = fill(&mut bot).await;
    for (method, params) in lists(&thread, &project) {
        let whole = bot.call(method, params.clone()).await;
        let whole = whole["items"].as_array().unwrap().clone();
        assert!(whole.len() >= 5, "{method} has {}", whole.len());
        for limit in [1, 2, 3, 5_000] {
            let mut paged: Vec<Value> = Vec::new();
            let mut cursor = Value::Null;
            loop {
                let mut page = params.clone();
                page["limit"] = json!(limit);
                if !cursor.is_null() {
                    page["cursor"] = cursor;
                }
                let page = bot.call(method, page).await;
                let items = page["items"].as_array().unwrap();
                assert!(items.len() <= limit, "{method}");
                paged.extend(items.iter().cloned());
                match page.get("nextCursor") {
                    Some(next) => cursor = next.clone(),
                    None => break,
                }
                assert!(!items.is_empty(), "{method}: a page that goes on has something");
            }
            assert_eq!(paged, whole, "{method} {limit} at a time");
        }
    }
}

pub(super) async fn a_cursor_of_another_list_or_of_nobody_is_refused(subject: Fresh) {
    let mut bot = subject.bot().await;
    let (thread, project) = fill(&mut bot).await;
    let lists = lists(&thread, &project);
    let mut cursors = Vec::new();
    for (method, params) in &lists {
        let mut params = params.clone();
        params["limit"] = json!(1);
        cursors.push(bot.call(method, params).await["nextCursor"].clone());
    }
    for (n, (method, params)) in lists.iter().enumerate() {
        let foreign = cursors[(n + 1) % cursors.len()].clone();
        for (cursor, reason) in [(foreign, "foreign_cursor"), (json!("bm9wZQ"), "malformed_cursor"), (json!("!"), "malformed_cursor")] {
            let mut page = params.clone();
            page["cursor"] = cursor;
            let error = bot.refused(method, page).await;
            assert_eq!((&error["data"]["path"], &error["data"]["reason"]), (&json!("/cursor"), &json!(reason)), "{method}: {error}");
        }
        let mut page = params.clone();
        page["limit"] = json!(0);
        assert_eq!(bot.refused(method, page).await["data"]["path"], "/limit", "{method}");
    }
    // The same list of another thread is another list.
    let other = bot.start(&[]).await;
    let messages = lists.iter().position(|(method, _)| *method == "thread/messages").unwrap();
    let foreign = json!({"threadId": other, "cursor": cursors[messages]});
    assert_eq!(bot.refused("thread/messages", foreign).await["data"]["reason"], "foreign_cursor");
}

pub(super) async fn what_is_made_between_two_pages_neither_repeats_nor_hides_anything(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut before = HashSet::new();
    for _ in 0..5 {
        before.insert(bot.start(&[]).await.to_string());
        // Ids made in the same millisecond have no order among them.
        subject.advance(std::time::Duration::from_millis(1));
    }
    let first = bot.call("thread/list", json!({"limit": 2, "sort": "created"})).await;
    bot.start(&[]).await;
    let rest = bot.call("thread/list", json!({"sort": "created", "cursor": first["nextCursor"]})).await;
    let seen: Vec<_> = [&first, &rest]
        .into_iter()
        .flat_map(|page| page["items"].as_array().unwrap().clone())
        .map(|thread| thread["threadId"].to_string())
        .collect();
    assert_eq!(seen.len(), 5);
    assert_eq!(seen.into_iter().collect::<HashSet<_>>(), before);
}

pub(super) async fn a_page_ends_at_its_characters_and_always_has_its_first_item(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    for _ in 0..3 {
        let long = format!("say {}", "x".repeat(150_000));
        bot.call("run/submit", json!({"threadId": thread, "input": text(&long), "wait": true})).await;
    }
    let mut cursor = Value::Null;
    let mut pages = Vec::new();
    loop {
        let mut params = json!({"threadId": thread});
        if !cursor.is_null() {
            params["cursor"] = cursor;
        }
        let page = bot.call("thread/messages", params).await;
        pages.push(page["items"].as_array().unwrap().len());
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    assert_eq!(pages, [1; 6], "two of them do not fit on a page");
    let events = bot.call("thread/events", json!({"threadId": thread, "after": 0})).await;
    assert!(events.to_string().len() < 1_200_000);
}

pub(super) async fn threads_are_listed_by_activity_or_by_creation_and_archived_ones_apart(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut threads = Vec::new();
    for _ in 0..3 {
        threads.push(bot.start(&[]).await);
        // Ids made in the same millisecond have no order among them.
        subject.advance(std::time::Duration::from_millis(1));
    }
    bot.call("run/submit", json!({"threadId": threads[0], "input": text("first line\nsecond"), "wait": true})).await;
    let by_activity = listed(&mut bot, json!({})).await;
    let by_creation = listed(&mut bot, json!({"sort": "created"})).await;
    assert_eq!(by_activity.len(), 3);
    assert_eq!(by_activity[0]["threadId"], threads[0], "the last one active first");
    assert_eq!(by_creation[0]["threadId"], threads[2], "newest first");
    let shown = by_activity.iter().find(|thread| thread["threadId"] == threads[0]).unwrap();
    assert_eq!(shown["title"], "first line", "a thread without title shows its first input");
    bot.call("thread/archive", json!({"threadId": threads[1]})).await;
    assert_eq!(listed(&mut bot, json!({})).await.len(), 2);
    assert_eq!(listed(&mut bot, json!({"archived": true})).await[0]["threadId"], threads[1]);
    bot.call("thread/archive", json!({"threadId": threads[1], "archived": false})).await;
    assert_eq!(listed(&mut bot, json!({})).await.len(), 3);
}

async fn listed(bot: &mut Raw, params: Value) -> Vec<Value> {
    bot.call("thread/list", params).await["items"].as_array().unwrap().clone()
}

/// Five of everything that is listed.
async fn fill(bot: &mut Raw) -> (Value, Value) {
    let thread = bot.start(&[]).await;
    let project = bot.project_of(&thread).await;
    for (n, path) in (0..5).zip(["/", "/tmp", "/usr", "/etc", "/var"]) {
        bot.start(&[]).await;
        bot.call("project/create", json!({"name": format!("p{n}")})).await;
        bot.rule("global", &Value::Null, &format!("tool{n}"), "ask").await;
        bot.call("grant/add", json!({"projectId": project, "path": path, "capabilities": ["read"]})).await;
        bot.call("run/submit", json!({"threadId": thread, "input": text("hello"), "wait": true})).await;
        let fork = json!({"threadId": thread, "input": text("hello"), "mode": "fork", "wait": true});
        bot.call("run/submit", fork).await;
        let note = json!({"scope": "user", "kind": "fact", "title": format!("note {n}"), "body": ""});
        bot.call("memory/create", note).await;
        let set = json!({"name": "e", "provider": "openaiCompatible", "baseUrl": "https://e.example/v1", "model": "m"});
        bot.call("endpoint/set", set).await;
        bot.call("thread/update", json!({"threadId": thread, "endpointId": "scripted"})).await;
    }
    let asks = "call ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"Which?\"}]}";
    for _ in 0..5 {
        let asking = bot.call("thread/start", json!({"endpointId": "scripted"})).await["thread"]["threadId"].clone();
        bot.submit(&asking, asks).await;
        bot.asked("input/request").await;
    }
    (thread, project)
}

fn lists(thread: &Value, project: &Value) -> Vec<(&'static str, Value)> {
    vec![
        ("project/list", json!({})),
        ("branch/list", json!({"threadId": thread})),
        ("grant/list", json!({"projectId": project})),
        ("policy/list", json!({})),
        ("endpoint/list", json!({})),
        ("memory/list", json!({})),
        ("memory/list", json!({"scope": "user", "query": "note"})),
        ("thread/list", json!({})),
        ("thread/list", json!({"sort": "created"})),
        ("thread/messages", json!({"threadId": thread})),
        ("run/list", json!({})),
        ("run/list", json!({"threadId": thread, "states": ["completed"]})),
        ("interaction/list", json!({"kind": "input"})),
    ]
}
