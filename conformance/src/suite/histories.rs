//! Histories in every shape: whatever happened in a thread, no provider refuses what it is sent, and it is sent what
//! `thread/messages` shows.

use serde_json::{Value, json};

use super::{Fresh, get_issue, received::Talk, success, tool, tool_with};
use crate::{Fault, ServerOptions, Shape};

scenarios! { $ histories
    wire:
        every_endpoint_receives_what_thread_messages_shows
        l01_after_a_stop_of_a_call_and_of_a_stream_the_history_is_accepted
        l08_ids_that_a_provider_repeats_are_none_of_the_history
        l19_arguments_that_are_no_json_are_not_sent_back_as_they_were
        l21_silent_tools_and_inputs_without_text_leave_a_history_that_is_accepted
        l22_thinking_goes_back_as_it_came
        l30_l31_made_up_tools_are_told_apart_and_real_ones_beside_them_run
        a_tool_of_any_schema_is_accepted_by_every_provider;
    clock:
        l01_after_a_cut_stream_the_history_is_accepted
        l21_an_answer_of_reasoning_alone_does_no_harm;
}

/// The bytes of a picture of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub(super) async fn every_endpoint_receives_what_thread_messages_shows(subject: Fresh) {
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &[get_issue(), tool("act")]).await;
        talk.play("hello", &[]).await;
        talk.same_as_shown().await;
        let several = "say let me look\ncall get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"ü\"}\nthen call act";
        talk.play(several, &[success("issue 1"), success("issue ü"), success("acted")]).await;
        talk.same_as_shown().await;
        let failed = json!({"success": false, "errorCode": "E", "errorMessage": "it is gone"});
        let odd = json!({"success": true});
        talk.play("call act\ncall get_issue {\"id\":7}\ncall act\nthen say so", &[failed, odd]).await;
        talk.same_as_shown().await;
        talk.play("and on", &[]).await;
        talk.same_as_shown().await;
    }
}

pub(super) async fn l01_after_a_stop_of_a_call_and_of_a_stream_the_history_is_accepted(subject: Fresh) {
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &[tool("act")]).await;
        let run = talk.bot.submit(&talk.thread, "think hm\ncall act\ncall act {\"n\":2}").await;
        let call = talk.bot.asked("tool/call").await;
        talk.bot.reply(&call, success("one")).await;
        talk.bot.asked("tool/call").await;
        talk.bot.call("run/stop", json!({"threadId": talk.thread})).await;
        talk.bot.ended(&run).await;
        talk.play("say on we go", &[]).await;
        talk.same_as_shown().await;

        talk.bot.kept.clear();
        let run = talk.bot.submit(&talk.thread, "think hm\nsay half of it\nsleep 600000\nsay the rest").await;
        let is_delta = |line: &Value| line["params"]["event"]["type"] == "itemDelta";
        talk.bot.until("some text", |line| is_delta(line) && line.to_string().contains("half")).await;
        talk.bot.call("run/stop", json!({"threadId": talk.thread})).await;
        talk.bot.ended(&run).await;
        talk.play("say and on", &[]).await;
        talk.same_as_shown().await;
    }
}

pub(super) async fn l01_after_a_cut_stream_the_history_is_accepted(subject: Fresh) {
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &[tool("act")]).await;
        // Once may pass, five times in a row does not; both within a text and within a call.
        let text = format!("say {}", "word ".repeat(300));
        let call = format!("say one two\ncall act {{\"text\":\"{}\"}}", "x".repeat(40_000));
        for (script, times) in [(&text, 1), (&text, 5), (&call, 5)] {
            for _ in 0..times {
                talk.server.fault_next(Fault::Cut { after_bytes: 15_000 });
            }
            let run = talk.bot.submit(&talk.thread, script).await;
            let ended = talk.bot.ended_after_waits(&subject, &run).await;
            let expected = if times == 1 { "completed" } else { "failed" };
            assert_eq!(ended["outcome"]["status"], expected, "{shape:?}: {ended}");
            assert_eq!(talk.bot.seen(|line| line["method"] == "tool/call").len(), 0, "{shape:?}");
            talk.play("say and on", &[]).await;
            talk.same_as_shown().await;
        }
    }
}

pub(super) async fn l08_ids_that_a_provider_repeats_are_none_of_the_history(subject: Fresh) {
    for shape in Shape::ALL {
        let options = ServerOptions { call_id: Some("dup".to_owned()), ..ServerOptions::default() };
        let mut talk = Talk::with(&subject, *shape, &[tool("act")], options).await;
        let results = ["one", "two", "three"].map(success);
        let ended = talk.play("call act {\"n\":1}\ncall act {\"n\":2}\nthen call act {\"n\":3}", &results).await;
        assert_eq!(ended["outcome"]["text"], "act: one\nact: two\nact: three", "{shape:?}");
        talk.same_as_shown().await;
        talk.play("call act {\"n\":4}", &[success("four")]).await;
        talk.same_as_shown().await;
        let ids: Vec<Value> = talk.bot.calls(&talk.thread).await.iter().map(|call| call["callId"].clone()).collect();
        let distinct: std::collections::BTreeSet<_> = ids.iter().filter_map(Value::as_str).collect();
        assert_eq!((ids.len(), distinct.len()), (4, 4), "{shape:?}: {ids:?}");
    }
}

pub(super) async fn l19_arguments_that_are_no_json_are_not_sent_back_as_they_were(subject: Fresh) {
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &[tool("act")]).await;
        for script in ["call act {\"id\":", "call act [1,2]", "call act \"text\"", "call act {\"a\":1}}"] {
            talk.play(&format!("{script}\nthen say corrected"), &[]).await;
            for _ in 0..2 {
                talk.play("say next", &[]).await;
                talk.same_as_shown().await;
            }
        }
        let calls = talk.bot.calls(&talk.thread).await;
        assert!(calls.iter().all(|call| call["state"] == "failed"), "nothing of it was called: {calls:?}");
    }
}

pub(super) async fn l21_silent_tools_and_inputs_without_text_leave_a_history_that_is_accepted(subject: Fresh) {
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &[tool("act")]).await;
        talk.play("call act\ncall act\nthen say well", &[success(""), success("  ")]).await;
        talk.play("say next", &[]).await;
        let last = talk.server.requests().pop().unwrap();
        assert_eq!(last.refused, None, "{shape:?}: {}", last.body);

        let picture = json!([{"type": "image", "mediaType": "image/png", "data": PIXEL}]);
        let submit = json!({"threadId": talk.thread, "input": picture, "wait": true});
        let ended = talk.bot.call("run/submit", submit).await;
        assert_eq!(ended["run"]["outcome"]["status"], "completed", "{shape:?}: {ended}");
        talk.play("say next", &[]).await;
        for request in talk.server.requests() {
            assert_eq!(request.refused, None, "{shape:?}: {}", request.body);
        }
        let body = talk.server.requests().pop().unwrap().body;
        assert!(body.to_string().contains(PIXEL), "{shape:?}: the picture is still there");
    }
}

pub(super) async fn l21_an_answer_of_reasoning_alone_does_no_harm(subject: Fresh) {
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &[]).await;
        let run = talk.bot.submit(&talk.thread, "think only thoughts").await;
        talk.bot.ended_after_waits(&subject, &run).await;
        talk.play("say next", &[]).await;
        talk.same_as_shown().await;
    }
}

pub(super) async fn l22_thinking_goes_back_as_it_came(subject: Fresh) {
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &[tool("act")]).await;
        let script = "think first over\nthink [redacted] hidden\nsay look\ncall act {\"n\":1}\ncall act {\"n\":2}\n\
                      then think again\ncall act {\"n\":3}\nthen think enough\nsay done";
        talk.play(script, &[success("one"), success("two"), success("three")]).await;
        talk.same_as_shown().await;
        talk.play("say next", &[]).await;
        talk.same_as_shown().await;
        let last = talk.server.requests().pop().unwrap().body.to_string();
        let proof = match shape {
            Shape::Chat => "first over",
            Shape::Responses => "encrypted_content",
            Shape::Messages => "redacted_thinking",
        };
        assert!(last.contains(proof), "{shape:?}: {last}");
    }
}

pub(super) async fn l30_l31_made_up_tools_are_told_apart_and_real_ones_beside_them_run(subject: Fresh) {
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &[tool_with("get_issues", json!({"approval": "ask"}))]).await;
        let run = talk.bot.submit(&talk.thread, "call get_isues\ncall get_issues\ncall un.known/tool!").await;
        let approval = talk.bot.asked("approval/request").await;
        talk.bot.reply(&approval, json!({"decision": "accept"})).await;
        let call = talk.bot.asked("tool/call").await;
        talk.bot.reply(&call, success("seven")).await;
        talk.bot.ended(&run).await;
        let odd = "call nope\ncall nope\ncall nope\ncall nope\ncall nope\nthen say well";
        talk.play(odd, &[]).await;
        talk.play("say next", &[]).await;
        for request in talk.server.requests() {
            assert_eq!(request.refused, None, "{shape:?}: {}", request.body);
        }
        let calls = talk.bot.calls(&talk.thread).await;
        let codes: Vec<_> = calls.iter().map(|call| call["error"]["code"].as_str().unwrap_or("none")).collect();
        assert_eq!(codes[..3], ["unknown_tool", "none", "unknown_tool"], "{shape:?}");
        assert!(codes[3..].iter().all(|code| *code == "unknown_tool") && codes.len() == 8, "{shape:?}: {codes:?}");
        assert!(calls[0].to_string().contains("get_issues"), "a near name is named: {}", calls[0]);
        let asked = talk.bot.seen(|line| line["method"] == "approval/request").len();
        assert_eq!(asked, 0, "nobody is asked about what is no tool");
    }
}

pub(super) async fn a_tool_of_any_schema_is_accepted_by_every_provider(subject: Fresh) {
    let schemas = [
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"payload": true, "never": false}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "oneOf": [{"required": ["a"]}, {"required": []}]}),
        json!({"type": "object", "properties": {"q": {"$ref": "#/$defs/Q"}}, "$defs": {"Q": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}}),
        json!({"type": "object", "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "t": {"type": ["string", "null"]}}}),
    ];
    let tools = schemas.iter().enumerate().map(|(place, schema)| {
        let mut tool = tool(&format!("tool_{place}"));
        tool["inputSchema"] = schema.clone();
        tool
    });
    let tools: Vec<Value> = tools.collect();
    for shape in Shape::ALL {
        let mut talk = Talk::new(&subject, *shape, &tools).await;
        talk.play("call tool_0\nthen call tool_4 {\"n\":null}", &[success("zero"), success("four")]).await;
        talk.same_as_shown().await;
        let body = talk.server.requests().pop().unwrap().body;
        assert!(body["tools"].as_array().unwrap().len() >= schemas.len(), "{shape:?}: {}", body["tools"]);
    }
}
