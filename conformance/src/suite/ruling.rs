//! Rules: which one wins, what they are bound to, and how fast a change takes effect.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, get_issue, success, told_text, tool, tool_with};

scenarios! { $ ruling
    wire:
        the_nearest_rule_wins_and_a_deny_wins_anywhere
        a_rule_on_the_tool_comes_before_one_on_its_source
        a25_k24_a_denied_tool_is_not_called_and_nobody_is_asked
        transcript_j_a_deny_rule_settles_the_approval_that_is_open
        app_176_an_allow_rule_releases_the_approval_that_is_open
        choices_leave_out_what_would_not_hold_for_the_next_equal_call
        a_decision_that_is_no_choice_counts_as_accept
        an_allow_on_a_tool_asks_again_when_the_tool_has_changed
        an_allow_set_before_the_tool_was_seen_holds_for_the_digest_it_first_has
        a10_k23_always_allowed_in_one_thread_stays_denied_and_asked_about_in_others
        max_calls_per_run_refuses_the_next_call
        ask_user_is_exempt_from_asking_and_not_from_a_deny
        a27_each_rule_of_a_rule_is_checked_with_its_path
        a_rule_elsewhere_writes_no_event_and_one_of_the_thread_does;
    clock:
        a_rule_ends_when_it_expires
        a_timeout_of_a_rule_comes_before_that_of_the_declaration;
}

pub(super) async fn the_nearest_rule_wins_and_a_deny_wins_anywhere(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let project = bot.project_of(&thread).await;
    assert_eq!(effective(&mut bot, &thread).await, ("allow".into(), "default".into(), "default of client tools".into()));
    bot.rule("global", &Value::Null, "get_issue", "ask").await;
    assert_eq!(effective(&mut bot, &thread).await, ("ask".into(), "global".into(), "global rule".into()));
    bot.rule("project", &project, "get_issue", "allow").await;
    assert_eq!(effective(&mut bot, &thread).await, ("allow".into(), "project".into(), "rule of the project".into()));
    let nearest = bot.rule("thread", &thread, "get_issue", "ask").await;
    assert_eq!(effective(&mut bot, &thread).await, ("ask".into(), "thread".into(), "rule of the thread".into()));
    // A deny far away beats an allow nearby.
    bot.rule("thread", &thread, "get_issue", "allow").await;
    let deny = bot.rule("global", &Value::Null, "get_issue", "deny").await;
    assert_eq!(effective(&mut bot, &thread).await.0, "deny");
    assert_eq!(bot.shown_tool(&thread, "get_issue").await["state"], "blocked");
    bot.call("policy/remove", json!({"policyId": deny})).await;
    assert_eq!(effective(&mut bot, &thread).await.1, "thread");
    bot.call("policy/remove", json!({"policyId": nearest})).await;
    assert_eq!(effective(&mut bot, &thread).await.1, "project");
}

pub(super) async fn a_rule_on_the_tool_comes_before_one_on_its_source(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue(), tool("other")]).await;
    let source = json!({"level": "thread", "threadId": thread, "source": "client:bot", "decision": "ask"});
    let set = bot.call("policy/set", source).await;
    assert_eq!(set["policy"]["matches"], 2);
    bot.rule("thread", &thread, "get_issue", "allow").await;
    assert_eq!(bot.shown_tool(&thread, "get_issue").await["policy"]["decision"], "allow");
    let other = bot.shown_tool(&thread, "other").await;
    assert_eq!(other["policy"]["decision"], "ask");
    assert_eq!(other["why"], "rule of the thread about its whole source");
}

pub(super) async fn a25_k24_a_denied_tool_is_not_called_and_nobody_is_asked(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask", "namespace": "ns"}))]).await;
    for (level, owner, whose) in
        [("thread", thread.clone(), "this thread"), ("project", bot.project_of(&thread).await, "this project"), ("global", Value::Null, "all projects")]
    {
        let rule = bot.rule(level, &owner, "ns__act", "deny").await;
        bot.run(&thread, "call ns__act").await;
        let item = bot.calls(&thread).await.pop().unwrap();
        assert_eq!((&item["state"], &item["error"]["code"]), (&json!("refused"), &json!("tool_denied")), "{item}");
        assert_eq!((&item["decision"]["decision"], &item["decision"]["policyId"]), (&json!("deny"), &rule));
        assert!(told_text(&item).contains(whose), "{}", told_text(&item));
        bot.call("policy/remove", json!({"policyId": rule})).await;
    }
    let asked = |line: &Value| line["method"] == "approval/request" || line["method"] == "tool/call";
    assert!(bot.seen(asked).is_empty());
}

pub(super) async fn transcript_j_a_deny_rule_settles_the_approval_that_is_open(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let rule = bot.rule("thread", &thread, "get_issue", "ask").await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    let approval = bot.asked("approval/request").await;
    let set = json!({
        "level": "thread", "threadId": thread, "tool": {"source": "client:bot", "name": "get_issue"}, "decision": "deny",
    });
    let replaced = bot.call("policy/set", set).await;
    assert_eq!((&replaced["policy"]["policyId"], &replaced["policy"]["revision"]), (&rule, &json!(2)));
    let settled = bot.told("interaction/settled").await;
    assert_eq!(settled["interactionId"], approval["params"]["interactionId"]);
    assert_eq!((&settled["outcome"], &settled["by"]), (&json!("declined"), &json!({"kind": "policy", "policyId": rule})));
    assert!(settled.get("answer").is_none());
    bot.reply(&approval, json!({"decision": "accept"})).await;
    assert_eq!(bot.ended(&run).await["outcome"]["status"], "completed");
    let types = bot.types(&thread, 9).await;
    assert_eq!(types[..4], ["toolsChanged", "interactionSettled", "itemCompleted", "runState"]);
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["severity"]), (&json!("refused"), &json!("warning")));
    let decision = &item["decision"];
    assert_eq!((&decision["decision"], &decision["via"], &decision["policyId"]), (&json!("deny"), &json!("policy"), &rule));
    assert_eq!(decision["interactionId"], approval["params"]["interactionId"]);
    assert_eq!(told_text(&item), "A rule of this thread denies get_issue. Do not try it again.");
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn app_176_an_allow_rule_releases_the_approval_that_is_open(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let run = bot.submit(&thread, "call act").await;
    bot.asked("approval/request").await;
    let rule = bot.rule("global", &Value::Null, "act", "allow").await;
    let settled = bot.told("interaction/settled").await;
    assert_eq!((&settled["outcome"], &settled["answer"]), (&json!("answered"), &json!({"decision": "accept"})));
    assert_eq!(settled["by"], json!({"kind": "policy", "policyId": rule}));
    let call = bot.asked("tool/call").await;
    bot.reply(&call, success("done")).await;
    bot.ended(&run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["decision"]["decision"], &item["decision"]["via"]), (&json!("allow"), &json!("policy")));
}

pub(super) async fn choices_leave_out_what_would_not_hold_for_the_next_equal_call(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let everything = json!(["accept", "acceptForSession", "acceptAlways", "decline", "cancel"]);
    assert_eq!(choices(&mut bot, &thread).await, everything);
    let project = bot.project_of(&thread).await;
    let rule = bot.rule("project", &project, "act", "ask").await;
    assert_eq!(choices(&mut bot, &thread).await, everything, "it would replace the project's own rule");
    bot.call("policy/remove", json!({"policyId": rule})).await;
    bot.rule("thread", &thread, "act", "ask").await;
    assert_eq!(choices(&mut bot, &thread).await, json!(["accept", "acceptForSession", "decline", "cancel"]));
}

pub(super) async fn a_decision_that_is_no_choice_counts_as_accept(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    bot.rule("thread", &thread, "get_issue", "ask").await;
    for _ in 0..2 {
        let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
        let approval = bot.asked("approval/request").await;
        bot.reply(&approval, json!({"decision": "acceptAlways", "scope": "global"})).await;
        let settled = bot.told("interaction/settled").await;
        assert_eq!(settled["answer"], json!({"decision": "accept"}));
        let call = bot.asked("tool/call").await;
        bot.reply(&call, success("ok")).await;
        bot.told("interaction/settled").await;
        bot.ended(&run).await;
    }
    assert_eq!(bot.call("policy/list", json!({})).await["items"].as_array().unwrap().len(), 1);
}

pub(super) async fn an_allow_on_a_tool_asks_again_when_the_tool_has_changed(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let before = bot.shown_tool(&thread, "get_issue").await;
    let set = json!({
        "level": "global", "tool": {"source": "client:bot", "name": "get_issue"}, "decision": "allow",
    });
    let rule = bot.call("policy/set", set).await;
    assert_eq!(rule["policy"]["tool"]["digest"], before["digest"], "it holds for the tool as it is");
    let mut retold = get_issue();
    retold["description"] = json!("Reads an issue, better told.");
    bot.call("thread/resume", json!({"threadId": thread, "tools": [retold]})).await;
    assert_eq!(bot.shown_tool(&thread, "get_issue").await["policy"]["decision"], "allow", "a text is no change");
    let mut wider = get_issue();
    wider["inputSchema"]["properties"]["force"] = json!({"type": "boolean"});
    bot.call("thread/resume", json!({"threadId": thread, "tools": [wider]})).await;
    let after = bot.shown_tool(&thread, "get_issue").await;
    assert_ne!(after["digest"], before["digest"]);
    assert_eq!((&after["policy"]["decision"], &after["policy"]["level"]), (&json!("ask"), &json!("global")));
    assert_eq!(after["why"], "global rule, made before the tool changed");
    let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    let approval = bot.asked("approval/request").await;
    bot.reply(&approval, json!({"decision": "decline"})).await;
    bot.ended(&run).await;
}

pub(super) async fn an_allow_set_before_the_tool_was_seen_holds_for_the_digest_it_first_has(subject: Fresh) {
    let mut bot = subject.bot().await;
    let set = json!({
        "level": "global", "tool": {"source": "client:bot", "name": "later"}, "decision": "allow",
    });
    let rule = bot.call("policy/set", set).await;
    assert_eq!(rule["policy"]["matches"], 0, "a rule that matches nothing is reported");
    assert!(rule["policy"]["tool"].get("digest").is_none());
    let thread = bot.start(&[tool_with("later", json!({"approval": "ask"}))]).await;
    let shown = bot.shown_tool(&thread, "later").await;
    assert_eq!(shown["policy"]["decision"], "allow");
    let listed = bot.call("policy/list", json!({})).await;
    assert_eq!(listed["items"][0]["tool"]["digest"], shown["digest"]);
    assert_eq!(listed["items"][0]["matches"], 1);
}

pub(super) async fn a10_k23_always_allowed_in_one_thread_stays_denied_and_asked_about_in_others(subject: Fresh) {
    let mut bot = subject.bot().await;
    let act = [tool_with("act", json!({"approval": "ask"}))];
    let (a, b, c) = (bot.start(&act).await, bot.start(&act).await, bot.start(&act).await);
    bot.rule("thread", &b, "act", "deny").await;
    bot.rule("thread", &c, "act", "ask").await;
    let run = bot.submit(&a, "call act").await;
    let approval = bot.asked("approval/request").await;
    bot.reply(&approval, json!({"decision": "acceptAlways"})).await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, success("done")).await;
    bot.ended(&run).await;
    bot.run(&b, "call act").await;
    assert_eq!(bot.calls(&b).await[0]["error"]["code"], "tool_denied", "an explicit deny beats it");
    let run = bot.submit(&c, "call act").await;
    let approval = bot.asked("approval/request").await;
    assert_eq!(approval["params"]["threadId"], c, "the nearer rule still asks");
    bot.reply(&approval, json!({"decision": "decline"})).await;
    bot.ended(&run).await;
}

pub(super) async fn max_calls_per_run_refuses_the_next_call(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let set = json!({
        "level": "thread", "threadId": thread, "tool": {"source": "client:bot", "name": "get_issue"},
        "decision": "allow", "maxCallsPerRun": 1,
    });
    bot.call("policy/set", set).await;
    for _ in 0..2 {
        let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"2\"}").await;
        let call = bot.asked("tool/call").await;
        bot.reply(&call, success("one")).await;
        bot.ended(&run).await;
        let calls = bot.calls(&thread).await;
        let [.., first, second] = &calls[..] else { panic!("two calls") };
        assert_eq!(first["state"], "completed", "each run counts anew");
        assert_eq!((&second["state"], &second["error"]["code"]), (&json!("refused"), &json!("call_limit")));
        assert!(told_text(second).contains("1 times") || told_text(second).contains("once"), "{}", told_text(second));
    }
}

pub(super) async fn a_rule_ends_when_it_expires(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let set = |until: &str| {
        json!({
            "level": "thread", "threadId": thread, "tool": {"source": "client:bot", "name": "act"},
            "decision": "allow", "expiresAt": until,
        })
    };
    let error = bot.refused("policy/set", set("2026-11-30T09:59:59Z")).await;
    assert_eq!((&error["data"]["path"], &error["data"]["reason"]), (&json!("/expiresAt"), &json!("not_in_the_future")));
    bot.call("policy/set", set("2026-11-30T10:01:00Z")).await;
    assert_eq!(bot.shown_tool(&thread, "act").await["policy"]["decision"], "allow");
    subject.advance(Duration::from_secs(60));
    let shown = bot.shown_tool(&thread, "act").await;
    assert_eq!((&shown["policy"]["decision"], &shown["policy"]["level"]), (&json!("ask"), &json!("default")));
}

pub(super) async fn a_timeout_of_a_rule_comes_before_that_of_the_declaration(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("slow", json!({"timeoutMs": 60_000}))]).await;
    let set = json!({
        "level": "thread", "threadId": thread, "tool": {"source": "client:bot", "name": "slow"},
        "decision": "allow", "timeoutMs": 2_000,
    });
    bot.call("policy/set", set).await;
    assert_eq!(bot.shown_tool(&thread, "slow").await["policy"]["timeoutMs"], 2_000);
    let run = bot.submit(&thread, "call slow").await;
    assert_eq!(bot.asked("tool/call").await["params"]["silenceMs"], 2_000);
    subject.advance(Duration::from_secs(2));
    bot.ended(&run).await;
    assert_eq!(bot.calls(&thread).await[0]["error"]["code"], "timeout");
}

pub(super) async fn ask_user_is_exempt_from_asking_and_not_from_a_deny(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let rule = |decision: &str| {
        json!({"level": "global", "tool": {"source": "app", "name": "ask_user"}, "decision": decision})
    };
    bot.call("policy/set", rule("ask")).await;
    let shown = bot.shown_tool(&thread, "mcp_app__ask_user").await;
    assert_eq!((&shown["policy"]["decision"], &shown["why"]), (&json!("allow"), &json!("exempt from asking")));
    bot.call("policy/set", rule("deny")).await;
    bot.run(&thread, "call mcp_app__ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"?\"}]}").await;
    assert_eq!(bot.calls(&thread).await[0]["error"]["code"], "tool_denied");
}

pub(super) async fn a27_each_rule_of_a_rule_is_checked_with_its_path(subject: Fresh) {
    let mut bot = subject.bot().await;
    let tool = json!({"source": "client:bot", "name": "x"});
    let named = json!({"source": "App tools", "name": "app_read"});
    let odd = [
        (json!({"level": "thread", "tool": tool, "decision": "allow"}), "/threadId", "required"),
        (json!({"level": "global", "projectId": "p", "tool": tool, "decision": "allow"}), "/projectId", "not_at_this_level"),
        (json!({"level": "global", "decision": "allow"}), "/tool", "required"),
        (json!({"level": "global", "tool": tool, "source": "s", "decision": "allow"}), "/source", "not_with_tool"),
        (json!({"level": "global", "tool": tool, "decision": "Allow"}), "/decision", "unknown_value"),
        (json!({"level": "daemon", "tool": tool, "decision": "allow"}), "/level", "unknown_value"),
        (json!({"level": "global", "tool": tool}), "/decision", "required"),
        (json!({"level": "global", "tool": tool, "decision": "allow", "timeoutMs": 10}), "/timeoutMs", "out_of_range"),
        (json!({"level": "global", "tool": tool, "decision": "allow", "maxCallsPerRun": 0}), "/maxCallsPerRun", "out_of_range"),
        (
            json!({"level": "global", "tool": {"source": "client:s", "name": "x", "digest": "abc"}, "decision": "allow"}),
            "/tool/digest",
            "not_a_digest",
        ),
        // Rules know servers by their ids, and one for a name would be about nothing.
        (json!({"level": "global", "source": "File tools", "decision": "deny"}), "/source", "a_name"),
        (json!({"level": "global", "source": "fils", "decision": "deny"}), "/source", "unknown_source"),
        (json!({"level": "global", "tool": named, "decision": "deny"}), "/tool/source", "a_name"),
    ];
    for (params, path, reason) in odd {
        let error = bot.refused("policy/set", params.clone()).await;
        assert_eq!((&error["data"]["path"], &error["data"]["reason"]), (&json!(path), &json!(reason)), "{params}");
    }
    assert_eq!(bot.call("policy/list", json!({})).await["items"], json!([]));
}

pub(super) async fn a_rule_elsewhere_writes_no_event_and_one_of_the_thread_does(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    bot.rule("global", &Value::Null, "get_issue", "ask").await;
    assert_eq!(bot.log(&thread).await.len(), 3, "presence is not history");
    bot.rule("thread", &thread, "get_issue", "ask").await;
    assert_eq!(bot.event("toolsChanged").await["event"]["changed"], json!(["get_issue"]));
    let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    bot.asked("approval/request").await;
    bot.rule("global", &Value::Null, "get_issue", "allow").await;
    let during = bot.event("toolsChanged").await;
    assert_eq!((&during["event"]["cause"], &during["event"]["changed"]), (&json!("policy"), &json!(["get_issue"])));
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&run).await;
}

async fn effective(bot: &mut Raw, thread: &Value) -> (String, String, String) {
    let shown = bot.shown_tool(thread, "get_issue").await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&shown["policy"]["decision"]), text(&shown["policy"]["level"]), text(&shown["why"]))
}

async fn choices(bot: &mut Raw, thread: &Value) -> Value {
    let run = bot.submit(thread, "call act").await;
    let approval = bot.asked("approval/request").await;
    bot.reply(&approval, json!({"decision": "decline"})).await;
    bot.ended(&run).await;
    approval["params"]["choices"].clone()
}
