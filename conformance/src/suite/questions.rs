//! Questions to a person: `ask_user`, its answers, and what the model is told of them.

use serde_json::{Value, json};

use super::{Fresh, Raw, told_text};

scenarios! { $ questions
    wire:
        transcript_d_a_refused_answer_is_asked_again_and_the_next_one_counts
        transcript_d_each_kind_of_invalid_answer_has_a_reason_and_a_path
        transcript_d_three_refusals_are_asked_again_and_then_it_counts_as_not_i
        dyn_27_a_position_out_of_range_is_dropped_and_what_is_left_open_is_the_models
        dyn_27_dismissed_is_an_answer_and_declined_ends_the_asking
        dyn_27_questions_that_break_a_rule_reach_nobody
        dyn_28_only_who_claimed_the_input_capability_is_asked;
    clock:;
}

const DEPLOY: &str = "call ask_user {\"questions\":[{\"id\":\"env\",\"text\":\"Deploy where?\",\"options\":[{\"label\":\"staging\",\"recommended\":true},{\"label\":\"production\"}],\"allowOther\":false},{\"id\":\"when\",\"text\":\"When?\",\"options\":[{\"label\":\"now\"},{\"label\":\"tonight\"}]}]}";

pub(super) async fn transcript_d_a_refused_answer_is_asked_again_and_the_next_one_counts(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, DEPLOY).await;
    let question = bot.asked("input/request").await;
    let params = &question["params"];
    assert_eq!(params["questions"][0]["options"][0], json!({"label": "staging", "recommended": true}));
    assert_eq!((&params["questions"][0]["allowOther"], &params["attempt"]), (&json!(false), &json!(1)));
    let when = json!({"selected": [], "other": "after 18:00"});
    bot.reply(&question, json!({"answers": {"env": {"selected": [0, 1]}, "when": when}})).await;
    let refused = bot.told("interaction/invalidAnswer").await;
    assert_eq!(
        refused,
        json!({"interactionId": params["interactionId"], "path": "/answers/env/selected", "reason": "one_option_only"})
    );
    let again = bot.asked("input/request").await;
    assert_eq!(again["params"]["interactionId"], params["interactionId"]);
    assert_eq!(again["params"]["attempt"], 2);
    assert_ne!(again["id"], question["id"]);
    let answers = json!({"answers": {"env": {"selected": [0]}, "when": when}});
    bot.reply(&again, answers.clone()).await;
    let settled = bot.told("interaction/settled").await;
    assert_eq!((&settled["outcome"], &settled["answer"]), (&json!("answered"), &answers));
    bot.ended(&run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["effect"]), (&json!("completed"), &json!("none")));
    assert_eq!((&item["decision"]["decision"], &item["decision"]["via"]), (&json!("allow"), &json!("default")));
    assert_eq!(item["interactionId"], params["interactionId"]);
    assert_eq!(item["tool"]["flatName"], "mcp_app__ask_user");
    let told: Value = serde_json::from_str(&told_text(&item)).unwrap();
    let selected = json!([
        {"id": "env", "selected": ["staging"]}, {"id": "when", "selected": [], "other": "after 18:00"},
    ]);
    assert_eq!(told, json!({"outcome": "answered", "answers": selected, "guidance": "Do not ask these again."}));
}

pub(super) async fn transcript_d_each_kind_of_invalid_answer_has_a_reason_and_a_path(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let odd = [
        (json!({"answers": {"env": {"selected": [0], "why": 1}}}), "/answers/env/why", "unknown_field"),
        (json!({"answers": {"where": {"selected": [0]}}}), "/answers/where", "unknown_question"),
        (json!({"answers": {"env": {"selected": "0"}}}), "/answers/env/selected", "wrong_type"),
        (json!({"answers": {"env": {"selected": [], "other": "moon"}}}), "/answers/env/other", "no_free_text"),
        (json!({"answers": []}), "/answers", "wrong_type"),
        (json!({"dismissed": false}), "/dismissed", "wrong_type"),
        (json!({"dismissed": true, "declined": true}), "", "wrong_type"),
        (json!({}), "", "wrong_type"),
    ];
    for (answer, path, reason) in odd {
        let run = bot.submit(&thread, DEPLOY).await;
        let question = bot.asked("input/request").await;
        bot.reply(&question, answer.clone()).await;
        let refused = bot.told("interaction/invalidAnswer").await;
        assert_eq!(refused["reason"], reason, "{answer}: {refused}");
        assert!(refused["path"].as_str().unwrap().starts_with(path), "{answer}: {refused}");
        let again = bot.asked("input/request").await;
        bot.reply(&again, json!({"dismissed": true})).await;
        bot.ended(&run).await;
    }
}

pub(super) async fn transcript_d_three_refusals_are_asked_again_and_then_it_counts_as_not_i(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, DEPLOY).await;
    for attempt in 1..=4 {
        let question = bot.asked("input/request").await;
        assert_eq!(question["params"]["attempt"], attempt);
        bot.reply(&question, json!({"answers": {"env": {"selected": [0, 1]}}})).await;
        bot.told("interaction/invalidAnswer").await;
    }
    bot.ended(&run).await;
    assert!(bot.seen(|line| line["method"] == "input/request").is_empty(), "not a fifth time");
    assert_eq!(bot.calls(&thread).await[0]["state"], "undeliverable");
}

pub(super) async fn dyn_27_a_position_out_of_range_is_dropped_and_what_is_left_open_is_the_models(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let answer = json!({"answers": {"env": {"selected": [1, 9]}}});
    let told = answered(&mut bot, &thread, DEPLOY, answer).await;
    assert_eq!(told["answers"], json!([{"id": "env", "selected": ["production"]}]));
    assert!(told["guidance"].as_str().unwrap().contains("when"), "{told}");
    let several = DEPLOY.replace("\"allowOther\":false", "\"multiSelect\":true");
    let answer = json!({"answers": {"env": {"selected": [1, 0]}, "when": {"selected": [1]}}});
    let told = answered(&mut bot, &thread, &several, answer).await;
    assert_eq!(told["answers"][0]["selected"], json!(["staging", "production"]));
}

pub(super) async fn dyn_27_dismissed_is_an_answer_and_declined_ends_the_asking(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    assert_eq!(answered(&mut bot, &thread, DEPLOY, json!({"dismissed": true})).await["outcome"], "dismissed");
    assert_eq!(bot.told("interaction/settled").await["outcome"], "answered");
    let told = answered(&mut bot, &thread, DEPLOY, json!({"declined": true})).await;
    assert_eq!(told["outcome"], "declined");
    assert!(told["guidance"].as_str().unwrap().contains("do not ask again"), "{told}");
    assert_eq!(bot.told("interaction/settled").await["outcome"], "declined");
}

pub(super) async fn dyn_27_questions_that_break_a_rule_reach_nobody(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let long = "x".repeat(501);
    let odd = [
        "{}".to_owned(),
        "{\"questions\":[]}".to_owned(),
        "{\"questions\":[{\"id\":\"q\"}]}".to_owned(),
        "{\"questions\":[{\"id\":\"q\",\"text\":\"?\"},{\"id\":\"q\",\"text\":\"?\"}]}".to_owned(),
        "{\"questions\":[{\"id\":\"q\",\"text\":\"?\",\"allowOther\":false}]}".to_owned(),
        format!("{{\"questions\":[{{\"id\":\"q\",\"text\":\"{long}\"}}]}}"),
    ];
    for arguments in odd {
        bot.run(&thread, &format!("call ask_user {arguments}")).await;
        let item = bot.calls(&thread).await.pop().unwrap();
        assert_eq!((&item["state"], &item["error"]["code"]), (&json!("failed"), &json!("invalid_arguments")), "{item}");
        assert_eq!(item["effect"], "none");
    }
    assert!(bot.seen(|line| line["method"] == "input/request").is_empty());
}

pub(super) async fn dyn_28_only_who_claimed_the_input_capability_is_asked(subject: Fresh) {
    let stream = subject.open().await;
    let mut mute = Raw::introduced(stream, "bot", "in-M", json!({"approvals": true}), json!([])).await;
    let thread = mute.start(&[]).await;
    mute.run(&thread, DEPLOY).await;
    assert!(mute.seen(|line| line["method"] == "input/request").is_empty());
    let told: Value = serde_json::from_str(&told_text(&mute.calls(&thread).await[0])).unwrap();
    assert_eq!(told["outcome"], "undeliverable");
}

/// Lets the model ask and answers; what the model is told.
async fn answered(bot: &mut Raw, thread: &Value, asks: &str, answer: Value) -> Value {
    let run = bot.submit(thread, asks).await;
    let question = bot.asked("input/request").await;
    bot.reply(&question, answer).await;
    bot.ended(&run).await;
    let item = bot.calls(thread).await.pop().unwrap();
    serde_json::from_str(&told_text(&item)).unwrap()
}
