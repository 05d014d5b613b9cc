//! Changing what waits on a branch, before it begins.

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, text};

scenarios! { $ queue_edits
    wire:
        what_waits_is_reworded_reordered_and_taken_back_before_it_begins
        an_order_of_other_inputs_is_a_conflict_with_the_one_there_is
        an_input_that_has_begun_is_edited_no_more
        ruling_1_a_held_queue_that_is_cleared_is_released
        edits_at_once_end_in_one_queue_and_every_event_agrees;
    clock:;
}

/// A thread with a run that sleeps, and inputs that wait behind it: the run, and their messages.
async fn waiting(bot: &mut Raw, thread: &Value, inputs: &[&str]) -> (Value, Vec<Value>) {
    let run = bot.submit(thread, "sleep 600000").await;
    let mut messages = Vec::new();
    for input in inputs {
        let queued = bot.call("run/submit", json!({"threadId": thread, "input": text(input)})).await;
        messages.push(queued["messageId"].clone());
    }
    (run, messages)
}

/// The messages of a queue as it was answered.
fn messages(queue: &Value) -> Vec<Value> {
    queue["entries"].as_array().unwrap().iter().map(|entry| entry["messageId"].clone()).collect()
}

async fn changed(bot: &mut Raw, change: &str) -> Value {
    bot.until(change, |line| line["params"]["event"]["change"] == change).await["params"]["event"].take()
}

pub(super) async fn what_waits_is_reworded_reordered_and_taken_back_before_it_begins(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let (run, waits) = waiting(&mut bot, &thread, &["say a", "say b", "say c"]).await;
    let update = json!({"threadId": thread, "messageId": waits[1], "input": text("say B")});
    let updated = bot.call("queue/update", update).await;
    assert_eq!((&updated["entries"][1]["input"], &updated["held"]), (&text("say B"), &json!(false)));
    assert_eq!((messages(&updated), &updated["replayed"]), (waits.clone(), &json!(false)));
    let edited = changed(&mut bot, "edited").await;
    assert_eq!((&edited["entry"], &edited["length"]), (&updated["entries"][1], &json!(3)));

    let order = json!([waits[2], waits[1], waits[0]]);
    let moved = bot.call("queue/reorder", json!({"threadId": thread, "messageIds": order})).await;
    assert_eq!(json!(messages(&moved)), order);
    assert_eq!(changed(&mut bot, "moved").await["order"], order);

    let removed = bot.call("queue/remove", json!({"threadId": thread, "messageId": waits[2]})).await;
    assert_eq!(messages(&removed), [waits[1].clone(), waits[0].clone()]);
    let gone = changed(&mut bot, "removed").await;
    assert_eq!((&gone["messageId"], &gone["length"]), (&waits[2], &json!(2)));
    let list = bot.call("queue/list", json!({"threadId": thread})).await;
    assert_eq!(list["entries"], removed["entries"]);

    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&run).await;
    bot.call("run/skip", json!({"threadId": thread})).await;
    bot.ended(&list["entries"][0]["runId"]).await;
    bot.ended(&list["entries"][1]["runId"]).await;
    let said: Vec<_> = bot.chain(&thread).await.iter().map(|message| message["content"][0]["text"].clone()).collect();
    assert_eq!(json!(said[1..]), json!(["say B", "B", "say a", "a"]));
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn an_order_of_other_inputs_is_a_conflict_with_the_one_there_is(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let (_, waits) = waiting(&mut bot, &thread, &["say a", "say b"]).await;
    let before = bot.log(&thread).await.len();
    for order in [json!([]), json!([waits[0]]), json!([waits[1], "nope"]), json!([waits[1], waits[0], "nope"])] {
        let error = bot.refused("queue/reorder", json!({"threadId": thread, "messageIds": order})).await;
        assert_eq!((&error["data"]["kind"], &error["data"]["current"]), (&json!("conflict"), &json!(waits)), "{order}");
    }
    let same = bot.call("queue/reorder", json!({"threadId": thread, "messageIds": waits})).await;
    assert_eq!(messages(&same), waits);
    assert_eq!(bot.log(&thread).await.len(), before, "nothing has changed");
    bot.call("run/stop", json!({"threadId": thread})).await;
}

pub(super) async fn an_input_that_has_begun_is_edited_no_more(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let begun = bot.call("run/submit", json!({"threadId": thread, "input": text("sleep 600000")})).await;
    let params = json!({"threadId": thread, "messageId": begun["messageId"], "input": text("too late")});
    let error = bot.refused("queue/update", params).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["noun"]), (&json!("notFound"), &json!("message")));
    let error = bot.refused("queue/remove", json!({"threadId": thread, "messageId": begun["messageId"]})).await;
    assert_eq!(error["data"]["kind"], "notFound");
    let cleared = bot.call("queue/clear", json!({"threadId": thread})).await;
    assert_eq!(cleared, json!({"entries": [], "held": false, "replayed": false}));
    assert_eq!(bot.call("run/read", json!({"runId": begun["runId"]})).await["run"]["state"], "running");
    bot.call("run/stop", json!({"threadId": thread})).await;
}

pub(super) async fn ruling_1_a_held_queue_that_is_cleared_is_released(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let (run, waits) = waiting(&mut bot, &thread, &["say a", "say b"]).await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&run).await;
    let removed = bot.call("queue/remove", json!({"threadId": thread, "messageId": waits[0]})).await;
    assert_eq!((&removed["held"], messages(&removed)), (&json!(true), vec![waits[1].clone()]));
    let cleared = bot.call("queue/clear", json!({"threadId": thread})).await;
    assert_eq!((&cleared["held"], &cleared["entries"]), (&json!(false), &json!([])));
    let read = bot.call("thread/read", json!({"threadId": thread})).await;
    assert_eq!(read["thread"]["branches"][0]["queue"], json!({"length": 0, "held": false}));
    let next = bot.call("run/submit", json!({"threadId": thread, "input": text("say on")})).await;
    assert_eq!(next["state"], "running");
    bot.ended(&next["runId"]).await;
}

pub(super) async fn edits_at_once_end_in_one_queue_and_every_event_agrees(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut other = subject.client("other", "in-B").await;
    let thread = bot.start(&[]).await;
    let inputs: Vec<String> = (0..8).map(|n| format!("say {n}")).collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let (_, mut waits) = waiting(&mut bot, &thread, &inputs).await;
    let mut asked = Vec::new();
    for message in &waits[..4] {
        let params = json!({"threadId": thread, "messageId": message});
        asked.push((bot.request("queue/remove", params.clone()).await, other.request("queue/remove", params).await));
    }
    for (one, two) in asked {
        let (one, two) = (bot.answer(one).await, other.answer(two).await);
        assert_ne!(one.get("result").is_some(), two.get("result").is_some(), "one of them takes it back: {one} {two}");
    }
    waits.drain(..4);
    let list = bot.call("queue/list", json!({"threadId": thread})).await;
    assert_eq!(messages(&list), waits);
    let mut length = 0;
    for event in bot.log(&thread).await.iter().map(|event| &event["event"]).filter(|event| event["type"] == "queueChanged") {
        length = if event["change"] == "added" { length + 1 } else { length - 1 };
        assert_eq!(event["length"], length);
    }
    bot.call("run/stop", json!({"threadId": thread})).await;
}
