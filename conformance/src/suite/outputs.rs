//! Final answers as data: a schema with the input, a checked value with the outcome, and a model that may mend its answer.

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, text};
use crate::{ScriptedServer, ServerOptions};

scenarios! { $ outputs
    wire:
        an_answer_that_fits_its_schema_is_in_the_outcome_as_data
        an_answer_that_does_not_fit_is_mended_and_the_repairs_are_in_the_chain
        an_answer_that_fits_after_no_repair_fails_its_run_and_stays_in_the_chain
        k02_a_schema_is_told_to_the_endpoint_word_for_word_and_repairs_are_input_to_it
        a_schema_that_cannot_be_used_is_refused_with_its_path;
    clock:;
}

fn schema() -> Value {
    json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}})
}

/// Submits with the schema, and waits for the end.
async fn run(bot: &mut Raw, thread: &Value, input: &str) -> Value {
    let submit = json!({"threadId": thread, "input": text(input), "outputSchema": schema()});
    let run = bot.call("run/submit", submit).await["runId"].clone();
    bot.ended(&run).await["outcome"].take()
}

/// Who said what the model is told beside the input: the intents of the notes in the chain.
async fn notes(bot: &mut Raw, thread: &Value) -> Vec<Value> {
    let chain = bot.chain(thread).await;
    chain.iter().filter(|message| message.get("sender").is_some()).map(|message| message["sender"]["intent"].clone()).collect()
}

pub(super) async fn an_answer_that_fits_its_schema_is_in_the_outcome_as_data(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let outcome = run(&mut bot, &thread, "say {\"n\": 7}").await;
    assert_eq!(outcome, json!({"status": "completed", "text": "{\"n\": 7}", "structured": {"n": 7}}));
    assert_eq!(notes(&mut bot, &thread).await, [] as [Value; 0]);
    let plain = bot.run(&thread, "say {\"n\": 7}").await;
    assert!(plain["outcome"].get("structured").is_none(), "the next run has no schema");
}

pub(super) async fn an_answer_that_does_not_fit_is_mended_and_the_repairs_are_in_the_chain(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let outcome = run(&mut bot, &thread, "say seven\nthen say {\"n\":\"seven\"}\nthen say {\"n\":7}").await;
    assert_eq!((&outcome["status"], &outcome["structured"]), (&json!("completed"), &json!({"n": 7})));
    assert_eq!(notes(&mut bot, &thread).await, ["outputRepair", "outputRepair"]);
    let chain = bot.chain(&thread).await;
    let told = chain[4]["content"][0]["text"].as_str().unwrap();
    assert!(told.contains("/n must be an integer") && !told.contains("seven"), "{told}");
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn an_answer_that_fits_after_no_repair_fails_its_run_and_stays_in_the_chain(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let outcome = run(&mut bot, &thread, "hello").await;
    assert_eq!((&outcome["status"], &outcome["error"]["kind"]), (&json!("failed"), &json!("outputInvalid")));
    assert!(outcome["error"]["message"].as_str().unwrap().contains("is not JSON alone"), "{outcome}");
    let chain = bot.chain(&thread).await;
    assert_eq!((chain.len(), &chain[5]["role"]), (6, &json!("assistant")), "two repairs and no more");
    assert_eq!(chain[5]["content"], text("You said: hello"));
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn k02_a_schema_is_told_to_the_endpoint_word_for_word_and_repairs_are_input_to_it(subject: Fresh) {
    let server = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
    let mut bot = subject.bot().await;
    bot.use_model_at(&server.base_url()).await;
    let thread = bot.start(&[]).await;
    let outcome = run(&mut bot, &thread, "say seven\nthen say {\"n\":7}").await;
    assert_eq!(outcome["structured"], json!({"n": 7}), "{outcome}");
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.refused.is_none()));
    for request in &requests {
        let system = request.body["messages"][0].to_string();
        assert!(system.contains("\\\"required\\\":[\\\"n\\\"]"), "{system}");
        assert!(request.body.get("response_format").is_none(), "a provider's own strict mode knows fewer schemas");
    }
    let last = requests[1].body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["role"], "user", "{last}");
    assert!(last.to_string().contains("is not JSON alone"), "{last}");
}

pub(super) async fn a_schema_that_cannot_be_used_is_refused_with_its_path(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    for (schema, path) in [
        (json!({"type": "integr"}), "/outputSchema/type"),
        (json!(5), "/outputSchema"),
        (json!({"properties": {"a": {"pattern": "(?=x)"}}}), "/outputSchema/properties/a/pattern"),
        (json!({"$ref": "https://example.com/x"}), "/outputSchema/$ref"),
    ] {
        let submit = json!({"threadId": thread, "input": text("say 1"), "outputSchema": schema});
        let error = bot.refused("run/submit", submit).await;
        assert_eq!((&error["data"]["kind"], &error["data"]["path"]), (&json!("invalidParams"), &json!(path)), "{error}");
    }
    let large = json!({"description": "x".repeat(65_536)});
    let deep = (0..64).fold(json!({"type": "object"}), |inner, _| json!({"not": inner}));
    for (schema, what, limit) in [(large, "schema", 65_536), (deep, "schema levels", 64)] {
        let submit = json!({"threadId": thread, "input": text("say 1"), "outputSchema": schema});
        let error = bot.refused("run/submit", submit).await;
        let data = &error["data"];
        assert_eq!((&data["kind"], &data["what"], &data["limit"]), (&json!("tooLarge"), &json!(what), &json!(limit)));
    }
    assert_eq!(bot.log(&thread).await.len(), 2, "nothing was begun");
    let submit = json!({"threadId": thread, "input": text("say \"yes\""), "outputSchema": {"type": "string"}, "wait": true});
    assert_eq!(bot.call("run/submit", submit).await["run"]["outcome"]["structured"], "yes", "any type will do");
}
