//! Providers: how each is asked, and what of its answers is told.

use serde_json::{Value, json};

use super::{
    Fresh, get_issue, success, tool,
    received::{Talk, endpoint},
};
use crate::{ScriptedServer, ServerOptions, Shape};

scenarios! { $ providers
    wire:
        each_provider_is_asked_in_its_own_shape_with_its_key
        failures_that_last_are_told_by_kind_in_every_shape
        usage_is_what_the_provider_counted
        an_answer_cut_by_its_limit_makes_no_calls;
    clock:;
}

pub(super) async fn each_provider_is_asked_in_its_own_shape_with_its_key(subject: Fresh) {
    const KEY: &str = "sk-of-this-test";
    for shape in Shape::ALL {
        let options = ServerOptions { strict: true, key: Some(KEY.to_owned()), ..ServerOptions::default() };
        let server = ScriptedServer::start(options).await.unwrap();
        let mut bot = subject.bot().await;
        let endpoint = bot.call("endpoint/set", endpoint(&server, *shape)).await["endpoint"]["endpointId"].clone();
        let thread = bot.start(&[get_issue()]).await;
        let refused = bot.run(&thread, "hello").await;
        assert_eq!(refused["outcome"]["error"]["kind"], "auth", "{shape:?}: {refused}");
        bot.call("secret/set", json!({"endpointId": endpoint, "value": KEY})).await;
        let thread = bot.start(&[get_issue()]).await;
        let ended = bot.run(&thread, "hello").await;
        assert_eq!(ended["outcome"]["text"], "You said: hello", "{shape:?}: {ended}");
        let tested = bot.call("endpoint/test", json!({"endpointId": endpoint})).await;
        assert!(tested.get("error").is_none_or(Value::is_null), "{shape:?}: {tested}");
        let requests = server.requests();
        assert!(requests.iter().all(|request| request.shape == *shape), "{shape:?}: {requests:?}");
    }
}

pub(super) async fn failures_that_last_are_told_by_kind_in_every_shape(subject: Fresh) {
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &[]).await;
        for kind in ["badRequest", "quota", "auth", "contextWindow", "modelNotFound"] {
            for before in ["", "say half\n"] {
                let script = format!("{before}fail {kind}");
                // What is said after a failure may be sent as one message with what was said before it.
                talk.thread = talk.bot.start(&[]).await;
                let run = talk.bot.submit(&talk.thread, &script).await;
                let ended = talk.bot.ended(&run).await;
                let error = &ended["outcome"]["error"];
                assert_eq!((&ended["outcome"]["status"], &error["kind"]), (&json!("failed"), &json!(kind)), "{shape:?}: {script:?}: {ended}");
                assert!(!error["message"].as_str().unwrap().is_empty());
            }
        }
        talk.play("say well again", &[]).await;
        talk.same_as_shown().await;
    }
}

pub(super) async fn usage_is_what_the_provider_counted(subject: Fresh) {
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &[tool("act")]).await;
        let ended = talk.play("say twelve bytes\ncall act", &[success("done")]).await;
        let run = talk.bot.call("run/read", json!({"runId": ended["runId"]})).await;
        let usage = &run["run"]["usage"];
        // Two answers: the text, a call's name and its arguments; and the report.
        let output = [12 + 3 + 2, "act: done".len()].map(|bytes| bytes.div_ceil(4)).iter().sum::<usize>();
        assert_eq!(usage["outputTokens"], output, "{shape:?}: {usage}");
        assert!(usage["inputTokens"].as_u64().unwrap() > 20, "{shape:?}: {usage}");
        assert_ne!(usage["estimated"], true, "{shape:?}: {usage}");
    }
}

pub(super) async fn an_answer_cut_by_its_limit_makes_no_calls(subject: Fresh) {
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &[tool("act")]).await;
        let mut limited = endpoint(&talk.server, *shape);
        limited["maxOutputTokens"] = json!(16);
        let limited = talk.bot.call("endpoint/set", limited).await["endpoint"]["endpointId"].clone();
        let input = format!("call act {{\"n\":1}}\ncall act {{\"text\":\"{}\"}}", "long ".repeat(20));
        let input = json!([{"type": "text", "text": input}]);
        let submit = json!({"threadId": talk.thread, "input": input, "endpointId": limited, "wait": true});
        let ended = talk.bot.call("run/submit", submit).await;
        assert_eq!(ended["run"]["outcome"]["status"], "failed", "{shape:?}: {ended}");
        assert_eq!(talk.bot.seen(|line| line["method"] == "tool/call").len(), 0, "{shape:?}: no call of it is made");
        talk.play("say go on", &[]).await;
        talk.same_as_shown().await;
    }
}
