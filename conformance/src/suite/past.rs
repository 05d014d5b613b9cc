//! The past of a thread for a window: its items by pages and by their ids, and what of it nobody has read.

use serde_json::{Value, json};

use super::{Fresh, Raw, success, text, tool};

scenarios! { $ past
    wire:
        ruling_16_pages_of_items_make_the_whole_past_and_events_continue_it
        an_open_item_is_read_and_not_listed
        an_end_nobody_saw_makes_a_thread_unread_until_somebody_has_read_it;
    clock:;
}

/// The items of a thread, newest first, page by page.
async fn pages(bot: &mut Raw, query: Value) -> Vec<Value> {
    let (mut found, mut query) = (Vec::new(), query);
    loop {
        let page = bot.call("item/list", query.clone()).await;
        found.extend(page["items"].as_array().unwrap().clone());
        let Some(before) = page.get("nextBefore") else { return found };
        query["before"] = before.clone();
    }
}

pub(super) async fn ruling_16_pages_of_items_make_the_whole_past_and_events_continue_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let empty = bot.call("item/list", json!({"threadId": thread})).await;
    assert_eq!((&empty["items"], empty.get("nextBefore"), &empty["seq"]), (&json!([]), None, &json!(2)));
    let mut runs = Vec::new();
    for n in 0..5 {
        let run = bot.submit(&thread, &format!("think {n}\nsay {n}")).await;
        bot.ended(&run).await;
        runs.push(run);
    }
    let log = bot.log(&thread).await;
    let mut expected: Vec<Value> = log
        .iter()
        .filter(|event| event["event"]["type"] == "itemCompleted")
        .map(|event| {
            let mut item = event["event"]["item"].clone();
            item["seq"] = event["seq"].clone();
            item
        })
        .collect();
    expected.reverse();
    assert_eq!(expected.len(), 15);
    for limit in [1, 4, 15, 100] {
        assert_eq!(pages(&mut bot, json!({"threadId": thread, "limit": limit})).await, expected, "pages of {limit}");
    }
    let of_run = pages(&mut bot, json!({"threadId": thread, "runId": runs[2], "limit": 2})).await;
    assert_eq!(of_run, expected[6..9]);
    let page = bot.call("item/list", json!({"threadId": thread, "limit": 3})).await;
    let (seq, run) = (page["seq"].clone(), bot.submit(&thread, "say on").await);
    bot.ended(&run).await;
    let events = bot.call("thread/events", json!({"threadId": thread, "after": seq})).await;
    assert_eq!(events["events"][0]["event"]["type"], "runStarted", "what comes after it continues it");
    for (params, noun) in [
        (json!({"threadId": "nope"}), "thread"),
        (json!({"threadId": thread, "branchId": "nope"}), "branch"),
        (json!({"threadId": thread, "runId": "nope"}), "run"),
    ] {
        assert_eq!(bot.refused("item/list", params).await["data"]["noun"], noun);
    }
    assert_eq!(bot.refused("item/list", json!({"threadId": thread, "limit": 0})).await["data"]["path"], "/limit");
}

pub(super) async fn an_open_item_is_read_and_not_listed(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("look")]).await;
    let run = bot.submit(&thread, "call look").await;
    let call = bot.asked("tool/call").await;
    let started = bot.log(&thread).await.into_iter().find(|event| event["event"]["type"] == "itemStarted").unwrap();
    let item = started["event"]["item"].clone();
    let read = json!({"threadId": thread, "itemId": item["itemId"]});
    assert_eq!(bot.call("item/read", read.clone()).await["item"], item);
    let listed = bot.call("item/list", json!({"threadId": thread})).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "only what the user said is complete");
    bot.reply(&call, success("seen")).await;
    bot.ended(&run).await;
    let whole = bot.call("item/read", read).await["item"].clone();
    assert_eq!((&whole["state"], &whole["content"][0]["text"]), (&json!("completed"), &json!("seen")));
    let nobody = json!({"threadId": thread, "itemId": "nope"});
    assert_eq!(bot.refused("item/read", nobody).await["data"]["noun"], "item");
}

pub(super) async fn an_end_nobody_saw_makes_a_thread_unread_until_somebody_has_read_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut list = subject.client("list", "in-L").await;
    let thread = bot.call("thread/start", json!({"subscribe": false})).await["thread"]["threadId"].clone();
    let submit = json!({"threadId": thread, "input": text("say done"), "wait": true});
    bot.call("run/submit", submit.clone()).await;
    let read = bot.call("thread/read", json!({"threadId": thread})).await["thread"].clone();
    assert_eq!(read["unread"], true);
    assert_eq!(list.call("thread/list", json!({})).await["items"][0]["unread"], true);
    let refused = bot.refused("thread/markRead", json!({"threadId": thread, "seq": 900})).await;
    assert_eq!((&refused["data"]["path"], &refused["data"]["reason"]), (&json!("/seq"), &json!("after_the_end")));
    let early = bot.call("thread/markRead", json!({"threadId": thread, "seq": 2})).await;
    assert_eq!(early["thread"]["unread"], true, "the end came after that");
    let marked = bot.call("thread/markRead", json!({"threadId": thread, "branchId": thread, "seq": read["seq"]})).await;
    let (marked, replayed) = (&marked["thread"], &marked["replayed"]);
    assert_eq!((&marked["unread"], &marked["revision"], replayed), (&json!(false), &read["revision"], &json!(false)));
    assert_eq!(marked["seq"], read["seq"], "reading is no event");

    let subscribed = bot.call("thread/subscribe", json!({"threadId": thread})).await;
    assert_eq!(subscribed["seq"], read["seq"]);
    bot.call("run/submit", submit).await;
    let read = bot.call("thread/read", json!({"threadId": thread})).await;
    assert_eq!(read["thread"]["unread"], false, "somebody who follows the thread was there");
}
