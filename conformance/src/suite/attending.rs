//! What waits for the person, over all threads.

use serde_json::{Value, json};

use super::{Fresh, Raw, text, tool_with};

scenarios! { $ attending
    wire:
        what_waits_is_listed_over_all_threads_until_it_is_over_or_was_seen
        what_does_not_wait_cannot_be_seen;
    clock:;
}

async fn waiting(bot: &mut Raw, thread: &Value) -> Vec<Value> {
    let items = bot.call("attention/list", json!({})).await["items"].as_array().unwrap().clone();
    items.into_iter().filter(|waits| waits["threadId"] == *thread).collect()
}

pub(super) async fn what_waits_is_listed_over_all_threads_until_it_is_over_or_was_seen(subject: Fresh) {
    let mut bot = subject.bot().await;
    let asking = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let failing = bot.start(&[]).await;
    let run = bot.submit(&asking, "call act").await;
    let asked = bot.asked("approval/request").await;
    let failed = bot.submit(&failing, "fail badRequest").await;
    bot.ended(&failed).await;
    let unseen = bot.call("thread/start", json!({"subscribe": false})).await["thread"]["threadId"].clone();
    bot.call("run/submit", json!({"threadId": unseen, "input": text("say news"), "wait": true})).await;

    let [waits] = &waiting(&mut bot, &asking).await[..] else { panic!("one thing waits in the thread that asks") };
    assert_eq!((&waits["kind"], &waits["subject"]), (&json!("interaction"), &asked["params"]["interactionId"]));
    assert_eq!((&waits["summary"], &waits["branchId"]), (&asked["params"]["summary"], &asking));
    assert!(waits["since"].is_string() && waits["projectId"].is_string(), "{waits}");
    let [waits] = &waiting(&mut bot, &failing).await[..] else { panic!("one thing waits in the thread that failed") };
    assert_eq!((&waits["kind"], &waits["subject"]), (&json!("run"), &failed));
    let seen = waits["attentionId"].clone();
    let [waits] = &waiting(&mut bot, &unseen).await[..] else { panic!("one thing waits in the thread nobody follows") };
    assert_eq!((&waits["kind"], &waits["subject"]), (&json!("unread"), &unseen));

    // A page after the other has all of them.
    let (mut listed, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = bot.call("attention/list", json!({"limit": 1, "cursor": cursor})).await;
        listed.extend(page["items"].as_array().unwrap().iter().map(|waits| waits["kind"].clone()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    listed.sort_by_key(Value::to_string);
    assert_eq!(listed, ["interaction", "run", "unread"]);

    let answer = bot.call("attention/seen", json!({"attentionId": seen, "operationId": "seen:1"})).await;
    assert_eq!(answer, json!({"attentionId": seen, "replayed": false}));
    assert_eq!(waiting(&mut bot, &failing).await, [] as [Value; 0]);
    bot.reply(&asked, json!({"decision": "decline"})).await;
    bot.ended(&run).await;
    assert_eq!(waiting(&mut bot, &asking).await, [] as [Value; 0]);
    let seq = bot.call("thread/read", json!({"threadId": unseen})).await["thread"]["seq"].clone();
    bot.call("thread/markRead", json!({"threadId": unseen, "seq": seq})).await;
    let left = bot.call("attention/list", json!({})).await;
    assert_eq!(left, json!({"items": []}));
}

pub(super) async fn what_does_not_wait_cannot_be_seen(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    for id in [json!("nope"), json!(""), json!(format!("{}/run/nope/ended", thread.as_str().unwrap()))] {
        let error = bot.refused("attention/seen", json!({"attentionId": id})).await;
        assert_eq!((&error["data"]["kind"], &error["data"]["noun"]), (&json!("notFound"), &json!("attention")), "{error}");
    }
}
