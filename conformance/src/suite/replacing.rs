//! Replacing an input: on the same branch, in its turn, and by one of two.

use serde_json::{Value, json};

use super::{
    Fresh, assert_all_closed, get_issue,
    received::{Talk, same_as_shown},
    success, text,
};
use crate::Shape;

scenarios! { $ replacing
    wire:
        a_replacement_moves_the_head_and_leaves_the_rest_in_the_log
        on_a_busy_branch_it_waits_its_turn_and_loses_nothing
        a_replacement_whose_message_went_while_it_waited_fails_as_parent_missing
        what_cannot_be_replaced_is_refused_and_nothing_is_submitted
        k21_two_clients_that_replace_one_message_have_one_winner
        every_endpoint_accepts_a_chain_after_replacements;
    clock:;
}

fn replace(thread: &Value, message: &Value, input: &str) -> Value {
    json!({"threadId": thread, "mode": "replace", "fromMessageId": message, "input": text(input)})
}

pub(super) async fn a_replacement_moves_the_head_and_leaves_the_rest_in_the_log(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    bot.run(&thread, "say one").await;
    bot.run(&thread, "say two").await;
    let before = bot.chain(&thread).await;
    let seen = bot.log(&thread).await.len();
    let replaced = bot.call("run/submit", replace(&thread, &before[2]["messageId"], "say three")).await;
    assert_eq!((&replaced["state"], &replaced["branchId"]), (&json!("running"), &thread));
    bot.ended(&replaced["runId"]).await;
    let log = bot.log(&thread).await;
    let moved = &log[seen]["event"];
    assert_eq!((&moved["type"], &moved["branch"]["headMessageId"]), (&json!("branchUpdated"), &before[1]["messageId"]));
    assert_eq!((&moved["branch"]["revision"], moved["branch"].get("activeRunId")), (&json!(2), None));
    assert_eq!(log[seen + 1]["event"]["run"]["mode"], "replace");
    let chain = bot.chain(&thread).await;
    assert_eq!(chain[..2], before[..2]);
    assert_eq!((chain.len(), &chain[2]["messageId"]), (4, &replaced["messageId"]));
    let in_log = |message: &Value| log.iter().any(|event| event["event"]["item"]["messageId"] == message["messageId"]);
    assert!(before.iter().all(in_log), "what was replaced stays in the log");
    // The way back: a fork at what was replaced.
    let fork = json!({"threadId": thread, "mode": "fork", "fromMessageId": before[3]["messageId"], "input": text("say on")});
    let forked = bot.call("run/submit", fork).await;
    bot.ended(&forked["runId"]).await;
    let page = bot.call("thread/messages", json!({"threadId": thread, "branchId": forked["branchId"]})).await;
    assert_eq!(page["items"][2], before[3]);
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn on_a_busy_branch_it_waits_its_turn_and_loses_nothing(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let first = bot.call("run/submit", json!({"threadId": thread, "input": text("call get_issue {\"id\":\"1\"}")})).await;
    let call = bot.asked("tool/call").await;
    let replacement = bot.call("run/submit", replace(&thread, &first["messageId"], "say instead")).await;
    assert_eq!(replacement["state"], "queued");
    let queue = bot.call("queue/list", json!({"threadId": thread})).await;
    assert_eq!((&queue["entries"][0]["mode"], &queue["entries"][0]["editable"]), (&json!("replace"), &json!(true)));
    let error = bot.refused("run/submit", replace(&thread, &first["messageId"], "say mine")).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["current"]["branchId"]), (&json!("conflict"), &thread));
    bot.reply(&call, success("one")).await;
    assert_eq!(bot.ended(&first["runId"]).await["outcome"]["text"], "get_issue: one", "the run before it ends as it would");
    bot.ended(&replacement["runId"]).await;
    let chain = bot.chain(&thread).await;
    assert_eq!((chain.len(), &chain[0]["messageId"]), (2, &replacement["messageId"]));
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn a_replacement_whose_message_went_while_it_waited_fails_as_parent_missing(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    bot.run(&thread, "say one").await;
    let first = bot.chain(&thread).await[0]["messageId"].clone();
    let second = bot.call("run/submit", json!({"threadId": thread, "input": text("call get_issue {\"id\":\"1\"}")})).await;
    let call = bot.asked("tool/call").await;
    let later = bot.call("run/submit", replace(&thread, &second["messageId"], "say instead of two")).await;
    let earlier = bot.call("run/submit", replace(&thread, &first, "say instead of one")).await;
    let order = json!({"threadId": thread, "messageIds": [earlier["messageId"], later["messageId"]]});
    bot.call("queue/reorder", order).await;
    bot.reply(&call, success("one")).await;
    bot.ended(&earlier["runId"]).await;
    let ended = bot.ended(&later["runId"]).await;
    assert_eq!((&ended["outcome"]["status"], &ended["outcome"]["error"]["kind"]), (&json!("failed"), &json!("parentMissing")));
    let chain = bot.chain(&thread).await;
    assert_eq!((chain.len(), &chain[0]["messageId"]), (2, &earlier["messageId"]), "its input was not said");
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn what_cannot_be_replaced_is_refused_and_nothing_is_submitted(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    bot.run(&thread, "say one").await;
    let chain = bot.chain(&thread).await;
    let fork = json!({"threadId": thread, "mode": "fork", "input": text("say on")});
    let forked = bot.call("run/submit", fork).await;
    bot.ended(&forked["runId"]).await;
    let seen = bot.log(&thread).await.len();
    let refused = |message: &Value, kind: &str, reason: &str| (replace(&thread, message, "x"), json!(kind), json!(reason));
    let mut cases = vec![
        refused(&chain[1]["messageId"], "invalidParams", "not_a_user_message"),
        refused(&json!("nope"), "notFound", ""),
        refused(&forked["messageId"], "conflict", ""),
    ];
    let mut none = replace(&thread, &json!(""), "x");
    none.as_object_mut().unwrap().remove("fromMessageId");
    cases.push((none, json!("invalidParams"), json!("required")));
    let mut title = replace(&thread, &chain[0]["messageId"], "x");
    title["title"] = json!("x");
    cases.push((title, json!("invalidParams"), json!("not_of_mode")));
    for mode in ["queue", "aside"] {
        let mut params = replace(&thread, &chain[0]["messageId"], "x");
        params["mode"] = json!(mode);
        cases.push((params, json!("invalidParams"), json!("not_of_mode")));
    }
    for (params, kind, reason) in cases {
        let error = bot.refused("run/submit", params.clone()).await;
        assert_eq!(error["data"]["kind"], kind, "{params}: {error}");
        assert_eq!(error["data"].get("reason").cloned().unwrap_or(json!("")), reason, "{params}: {error}");
    }
    assert_eq!(bot.log(&thread).await.len(), seen);
    assert_eq!(bot.chain(&thread).await, chain);
}

pub(super) async fn k21_two_clients_that_replace_one_message_have_one_winner(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut other = subject.client("other", "in-B").await;
    let thread = bot.start(&[]).await;
    for _ in 0..10 {
        bot.run(&thread, "say one").await;
        let chain = bot.chain(&thread).await;
        let message = &chain[chain.len() - 2]["messageId"];
        let (one, two) = (
            bot.request("run/submit", replace(&thread, message, "say mine")).await,
            other.request("run/submit", replace(&thread, message, "say theirs")).await,
        );
        let (one, two) = (bot.answer(one).await, other.answer(two).await);
        let (winner, loser) = if one.get("result").is_some() { (one, two) } else { (two, one) };
        assert_eq!(loser["error"]["data"]["kind"], "conflict", "{winner} {loser}");
        assert_eq!(loser["error"]["data"]["current"]["branchId"], thread);
        bot.ended(&winner["result"]["runId"]).await;
    }
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn every_endpoint_accepts_a_chain_after_replacements(subject: Fresh) {
    for shape in [Shape::Chat, Shape::Responses, Shape::Messages] {
        let mut talk = Talk::new(&subject, shape, &[get_issue()]).await;
        talk.play("say let me look\ncall get_issue {\"id\":\"1\"}", &[success("a")]).await;
        talk.play("call get_issue {\"id\":\"2\"}", &[success("b")]).await;
        talk.play("say and on", &[]).await;
        let thread = talk.thread.clone();
        let chain = talk.bot.chain(&thread).await;
        let inputs = chain.iter().filter(|message| message["role"] == "user");
        // From the last input to the first: each time there is less before it.
        for message in inputs.rev() {
            let replaced = talk.bot.call("run/submit", replace(&thread, &message["messageId"], "say again")).await;
            talk.bot.ended(&replaced["runId"]).await;
            same_as_shown(&talk.server, &mut talk.bot, &thread).await;
        }
        assert_eq!(talk.bot.chain(&thread).await.len(), 2);
    }
}
