//! `operationId`: the same request again returns the stored result, another one with the same id is a conflict.

use ropewalk_protocol::{Direction, METHODS};
use serde_json::{Value, json};

use super::{Fresh, text, things::Things};

scenarios! { $ repeating
    wire:
        each_mutating_method_is_done_once_for_one_operation_id
        an_operation_id_belongs_to_one_method
        equal_submits_at_once_make_one_message
        a_refused_request_does_not_use_its_operation_id_up;
    clock:;
}

/// Stopping the daemon has no result that could be replayed, and no client can take an input's parent away.
const LEFT_OUT: [&str; 2] = ["daemon/shutdown", "run/rebase"];

pub(super) async fn each_mutating_method_is_done_once_for_one_operation_id(subject: Fresh) {
    let mut bot = subject.bot().await;
    let things = Things::make(&mut bot).await;
    let mutating = METHODS.iter().filter(|entry| entry.mutates && entry.direction == Direction::ToDaemon);
    for entry in mutating.filter(|entry| !LEFT_OUT.contains(&entry.name)) {
        let method = entry.name;
        let (body, other) = things.bodies(method);
        let with_id = |mut params: Value| {
            params["operationId"] = json!(format!("op:{method}").replace('/', "."));
            params
        };
        let first = bot.call(method, with_id(body.clone())).await;
        assert_eq!(first["replayed"], false, "{method}: {first}");
        let before = things.fingerprint(&mut bot).await;
        // Also from another connection, and with its fields in another order.
        let mut elsewhere = subject.client("bot", "in-A").await;
        let again = elsewhere.call(method, with_id(body)).await;
        let mut expected = first.clone();
        expected["replayed"] = json!(true);
        assert_eq!(again, expected, "{method}");
        drop(elsewhere);
        let error = bot.refused(method, with_id(other)).await;
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32007), &json!("idempotencyConflict")), "{method}: {error}");
        assert_eq!(error["data"]["operationId"], format!("op:{method}").replace('/', "."));
        assert!(error["data"]["firstAt"].is_string(), "{error}");
        assert_eq!(things.fingerprint(&mut bot).await, before, "{method} was done once");
    }
}

pub(super) async fn an_operation_id_belongs_to_one_method(subject: Fresh) {
    let mut bot = subject.bot().await;
    bot.call("project/create", json!({"name": "x", "operationId": "shared"})).await;
    let error = bot.refused("settings/update", json!({"approvalMs": 5_000, "operationId": "shared"})).await;
    assert_eq!(error["data"]["kind"], "idempotencyConflict");
    let mut other = subject.client("other", "in-B").await;
    let replay = other.call("project/create", json!({"operationId": "shared", "name": "x"})).await;
    assert_eq!(replay["replayed"], true, "ids are shared by all owner clients, and the order of fields is no matter");
}

pub(super) async fn equal_submits_at_once_make_one_message(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut other = subject.client("other", "in-B").await;
    let thread = bot.start(&[]).await;
    for round in 0..10 {
        let submit = json!({"threadId": thread, "input": text("say x"), "operationId": format!("once:{round}")});
        let (one, two) = (bot.request("run/submit", submit.clone()).await, other.request("run/submit", submit).await);
        let (one, two) = (bot.answer(one).await, other.answer(two).await);
        assert_eq!(one["result"]["runId"], two["result"]["runId"], "{one} {two}");
        assert_ne!(one["result"]["replayed"], two["result"]["replayed"]);
        bot.ended(&one["result"]["runId"]).await;
    }
    let users = bot.chain(&thread).await.into_iter().filter(|message| message["role"] == "user").count();
    assert_eq!(users, 10);
}

pub(super) async fn a_refused_request_does_not_use_its_operation_id_up(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let bad = json!({"threadId": thread, "title": "", "operationId": "again"});
    bot.refused("thread/update", bad).await;
    let good = json!({"threadId": thread, "title": "fine", "operationId": "again"});
    assert_eq!(bot.call("thread/update", good).await["replayed"], false);
    for odd in [json!(""), json!("a b"), json!("x".repeat(129)), json!(5), json!("ü")] {
        let error = bot.refused("thread/update", json!({"threadId": thread, "operationId": odd})).await;
        assert_eq!((&error["data"]["kind"], &error["data"]["path"]), (&json!("invalidParams"), &json!("/operationId")));
    }
    let longest = json!({"threadId": thread, "operationId": "x".repeat(128)});
    bot.call("thread/update", longest).await;
}
