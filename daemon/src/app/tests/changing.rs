//! What becomes of the operations of tools that change something: requests of the wire, and answers of one shape.

use ropewalk_protocol::{ErrorDetail, RpcError};
use serde_json::{Value, json};

use super::world::{AT, Client, World};

/// One operation of a tool, with the request it becomes.
async fn asked(client: &Client, tool: &'static str, arguments: Value) -> (&'static str, Value) {
    let result = client.call(tool, arguments.clone()).await;
    assert_eq!(result.is_error, Some(false), "{arguments}: {result:?}");
    let asked = client.world.asked.lock().unwrap().remove(0);
    assert_eq!(asked.place.branch_id.as_str(), "b2", "it is asked on behalf of the run");
    (asked.method, asked.params)
}

/// Each operation becomes this request; the operation id is added to all that are done.
async fn become_requests(tool: &'static str, cases: Vec<(Value, &str, Value)>) {
    let client = World::new().client().await;
    for (mut arguments, method, mut expected) in cases {
        arguments["operationId"] = json!("o-1");
        if expected.get("dryRun") != Some(&json!(true)) {
            expected["operationId"] = json!("o-1");
        }
        assert_eq!(asked(&client, tool, arguments.clone()).await, (method, expected), "{arguments}");
    }
}

#[tokio::test]
async fn app_27_app_147_each_operation_on_threads_is_one_request() {
    let revised = |mut arguments: Value| {
        arguments["expectedRevision"] = json!(4);
        arguments
    };
    become_requests(
        "app_threads",
        vec![
            (
                json!({"operation": "Create", "title": "Dig", "instructions": "Be brief."}),
                "thread/start",
                json!({"projectId": "p1", "title": "Dig", "instructions": "Be brief.", "subscribe": false}),
            ),
            (
                revised(json!({"operation": "Rename", "threadId": "t2", "title": "Dug"})),
                "thread/update",
                revised(json!({"threadId": "t2", "title": "Dug"})),
            ),
            (revised(json!({"operation": "Pin"})), "thread/update", revised(json!({"threadId": "t1", "pinned": true}))),
            (
                revised(json!({"operation": "SetEndpoint", "endpointId": "e1"})),
                "thread/update",
                revised(json!({"threadId": "t1", "endpointId": "e1"})),
            ),
            (
                revised(json!({"operation": "SetEndpoint"})),
                "thread/update",
                revised(json!({"threadId": "t1", "endpointId": null})),
            ),
            (
                json!({"operation": "RenameBranch", "branchId": "b2", "title": "Side"}),
                "branch/update",
                json!({"threadId": "t1", "branchId": "b2", "title": "Side"}),
            ),
            (
                json!({"operation": "Delete", "threadId": "t2"}),
                "thread/delete",
                json!({"threadId": "t2", "dryRun": true}),
            ),
            (
                revised(json!({"operation": "Delete", "threadId": "t2", "dryRun": false})),
                "thread/delete",
                revised(json!({"threadId": "t2", "dryRun": false})),
            ),
            (
                json!({"operation": "DeleteBranch", "branchId": "b9"}),
                "branch/delete",
                json!({"threadId": "t1", "branchId": "b9", "dryRun": true}),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn app_28_app_86_each_operation_on_runs_is_one_request_and_a_first_branch_has_its_threads_id() {
    let said = |text: &str| json!([{"type": "text", "text": text}]);
    let here = json!({"threadId": "t1", "branchId": "b2"});
    let with = |mut at: Value, more: Value| {
        at.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        at
    };
    let there = json!({"threadId": "t2", "branchId": "t2"});
    become_requests(
        "app_runs",
        vec![
            (
                json!({"operation": "Submit", "threadId": "t2", "text": "hello"}),
                "run/submit",
                with(there.clone(), json!({"input": said("hello"), "mode": "queue"})),
            ),
            (
                json!({"operation": "Submit", "text": "psst", "mode": "Aside", "wait": true}),
                "run/submit",
                with(here.clone(), json!({"input": said("psst"), "mode": "aside"})),
            ),
            (
                json!({"operation": "Submit", "text": "try", "mode": "Fork", "title": "Other way", "fromMessageId": "m1"}),
                "run/submit",
                with(here.clone(), json!({"input": said("try"), "mode": "fork", "title": "Other way", "fromMessageId": "m1"})),
            ),
            (json!({"operation": "Stop", "threadId": "t2"}), "run/stop", there.clone()),
            (
                json!({"operation": "UpdateQueued", "messageId": "m1", "text": "better"}),
                "queue/update",
                with(here.clone(), json!({"messageId": "m1", "input": said("better")})),
            ),
            (
                json!({"operation": "RemoveQueued", "messageId": "m1"}),
                "queue/remove",
                with(here.clone(), json!({"messageId": "m1"})),
            ),
            (json!({"operation": "ClearQueue"}), "queue/clear", here.clone()),
            (json!({"operation": "Resume", "runId": "r2"}), "run/resume", with(here.clone(), json!({"runId": "r2"}))),
            (json!({"operation": "SkipFailed"}), "run/skip", here.clone()),
            (json!({"operation": "Rebase"}), "run/rebase", here.clone()),
            (json!({"operation": "MarkRead", "threadId": "t2"}), "thread/markRead", with(there, json!({"seq": 1}))),
        ],
    )
    .await;
}

#[tokio::test]
async fn app_29_each_operation_on_projects_is_one_request() {
    let revised = |mut arguments: Value| {
        arguments["expectedRevision"] = json!(4);
        arguments
    };
    become_requests(
        "app_projects",
        vec![
            (json!({"operation": "Create", "name": "New"}), "project/create", json!({"name": "New"})),
            (
                revised(json!({"operation": "Update", "description": "Ropes"})),
                "project/update",
                revised(json!({"projectId": "p1", "description": "Ropes"})),
            ),
            (
                json!({"operation": "Delete", "projectId": "p2"}),
                "project/delete",
                json!({"projectId": "p2", "dryRun": true}),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn app_30_each_operation_on_grants_and_policies_is_one_request() {
    let revised = |mut arguments: Value| {
        arguments["expectedRevision"] = json!(4);
        arguments
    };
    let tool = json!({"source": "files", "name": "read_file"});
    let rule = |level: &str, more: Value| {
        let mut rule = json!({"level": level, "tool": tool, "decision": "allow"});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rule
    };
    let set = |operation: &str| json!({"operation": operation, "tool": tool, "decision": "allow"});
    let removed = |operation: &str| revised(json!({"operation": operation, "policyId": "r1"}));
    become_requests(
        "app_security",
        vec![
            (
                revised(json!({"operation": "AddDirectoryGrant", "path": "/src", "capabilities": ["read"]})),
                "grant/add",
                revised(json!({"projectId": "p1", "path": "/src", "capabilities": ["read"]})),
            ),
            (
                revised(json!({"operation": "RemoveDirectoryGrant", "projectId": "p2", "grantId": "g1"})),
                "grant/remove",
                revised(json!({"projectId": "p2", "grantId": "g1"})),
            ),
            (
                revised(json!({"operation": "SetProjectSecurity", "grants": [], "policies": []})),
                "project/security/replace",
                revised(json!({"projectId": "p1", "grants": [], "policies": [], "dryRun": false})),
            ),
            (set("SetProjectToolPolicy"), "policy/set", rule("project", json!({"projectId": "p1"}))),
            (set("SetThreadToolPolicy"), "policy/set", rule("thread", json!({"threadId": "t1"}))),
            (set("SetGlobalToolPolicy"), "policy/set", rule("global", json!({}))),
            (removed("RemoveProjectToolPolicy"), "policy/remove", revised(json!({"policyId": "r1"}))),
            (removed("RemoveThreadToolPolicy"), "policy/remove", revised(json!({"policyId": "r1"}))),
            (removed("RemoveGlobalToolPolicy"), "policy/remove", revised(json!({"policyId": "r1"}))),
        ],
    )
    .await;
}

#[tokio::test]
async fn app_30_each_operation_on_settings_endpoints_and_servers_is_one_request() {
    let revised = |mut arguments: Value| {
        arguments["expectedRevision"] = json!(4);
        arguments
    };
    become_requests(
        "app_security",
        vec![
            (
                revised(json!({"operation": "SaveGlobalSettings", "settings": {"approvalMs": null}})),
                "settings/update",
                revised(json!({"approvalMs": null})),
            ),
            (
                json!({"operation": "UpsertEndpoint", "endpoint": {"name": "E", "provider": "ollama", "model": "m"}}),
                "endpoint/set",
                json!({"name": "E", "provider": "ollama", "model": "m"}),
            ),
            (
                revised(json!({"operation": "RemoveEndpoint", "endpointId": "e1"})),
                "endpoint/remove",
                revised(json!({"endpointId": "e1"})),
            ),
            (
                json!({"operation": "SetEndpointCredential", "endpointId": "e1", "credential": "k"}),
                "secret/set",
                json!({"endpointId": "e1", "value": "k"}),
            ),
            (
                json!({"operation": "SetEndpointCredential", "endpointId": "e1", "credential": null}),
                "secret/remove",
                json!({"endpointId": "e1"}),
            ),
            (
                json!({"operation": "SetMcpServerEnabled", "serverId": "s1", "enabled": true}),
                "mcp/server/update",
                json!({"serverId": "s1", "enabled": true}),
            ),
            (
                json!({"operation": "SetMcpServerEnabled", "projectId": "p1", "serverId": "s1", "enabled": false}),
                "project/update",
                json!({"projectId": "p1", "servers": [{"serverId": "s1", "enabled": false}]}),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn app_148_app_151_app_152_what_is_missing_or_cannot_be_is_named_and_nothing_is_asked() {
    let client = World::new().client().await;
    for (tool, arguments, says) in [
        (
            "app_threads",
            json!({"operation": "Rename", "title": "x", "expectedRevision": 1, "dryRun": true}),
            "rehearsed",
        ),
        ("app_runs", json!({"operation": "ClearQueue", "dryRun": true}), "rehearsed"),
        ("app_threads", json!({"operation": "Rename", "title": "x"}), "expectedRevision"),
        ("app_threads", json!({"operation": "Delete", "threadId": "t2", "dryRun": false}), "expectedRevision"),
        ("app_projects", json!({"operation": "Update", "name": "x"}), "expectedRevision"),
        (
            "app_security",
            json!({"operation": "AddDirectoryGrant", "path": "/", "capabilities": ["read"]}),
            "expectedRevision",
        ),
        ("app_threads", json!({"operation": "Rename", "expectedRevision": 1}), "title"),
        ("app_threads", json!({"operation": "Delete"}), "threadId"),
        ("app_threads", json!({"operation": "Delete", "threadId": "t1"}), "works in"),
        ("app_threads", json!({"operation": "DeleteBranch", "branchId": "b2"}), "works on"),
        ("app_projects", json!({"operation": "Delete", "projectId": "p1"}), "works in"),
        ("app_runs", json!({"operation": "Submit"}), "text"),
        ("app_runs", json!({"operation": "Submit", "text": "x", "wait": true}), "your own branch"),
        ("app_security", json!({"operation": "SetMcpCredential", "serverId": "s"}), "ropewalk mcp add"),
        ("app_security", json!({"operation": "SetGlobalToolPolicy", "decision": "ask"}), "tool or source"),
        ("app_threads", json!({"operation": "Create", "sender": {"threadId": "x"}}), "sender"),
        ("app_runs", json!({"operation": "Submit", "text": "x", "sender": "me"}), "sender"),
    ] {
        let mut arguments = arguments;
        arguments["operationId"] = json!("o-1");
        let error = client.error(tool, arguments.clone()).await;
        assert!(error.contains(says), "{arguments}: {error}");
    }
    for id in ["", &"x".repeat(81)] {
        let error = client.error("app_threads", json!({"operation": "Create", "operationId": id})).await;
        assert!(error.contains("operationId"), "{error}");
    }
    assert!(client.world.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn app_30_a_rule_is_taken_back_by_the_operation_of_its_level_only() {
    let mut world = World::new();
    let rule = json!({
        "policyId": "r1", "level": "project", "projectId": "p1", "source": "files", "decision": "ask",
        "maxCallsPerRun": 65_535, "origin": "owner", "setBy": {"kind": "client"}, "at": AT, "matches": 0, "revision": 4,
    });
    world.policies.push(serde_json::from_value(rule).unwrap());
    let client = world.client().await;
    for operation in ["RemoveThreadToolPolicy", "RemoveGlobalToolPolicy"] {
        let removal = json!({"operation": operation, "policyId": "r1", "expectedRevision": 4, "operationId": "o-1"});
        let error = client.error("app_security", removal).await;
        assert!(error.contains("a project rule") && error.contains("Nothing was done"), "{error}");
    }
    assert!(client.world.asked.lock().unwrap().is_empty());
    let removal =
        json!({"operation": "RemoveProjectToolPolicy", "policyId": "r1", "expectedRevision": 4, "operationId": "o-1"});
    assert_eq!(asked(&client, "app_security", removal).await.0, "policy/remove");
}

#[tokio::test]
async fn app_152_app_153_app_205_a_conflict_is_told_once_with_what_there_is_and_is_a_warning() {
    let client = World::new().client().await;
    let current = json!({"threadId": "t2", "title": "Theirs", "revision": 9});
    let detail = ErrorDetail::Conflict { current_revision: Some(9), current: Some(current.clone()) };
    client.world.answers.lock().unwrap().push_back(Err(RpcError::new(detail, "The thread has changed.")));
    let rename =
        json!({"operation": "Rename", "threadId": "t2", "title": "Mine", "expectedRevision": 8, "operationId": "o"});
    let result = client.call("app_threads", rename).await;
    assert_eq!(result.is_error, Some(true));
    let told = result.structured_content.unwrap();
    assert_eq!((&told["status"], &told["revision"], &told["current"]), (&json!("Conflict"), &json!(9), &current));
    assert_eq!(told["applied"], false);
    assert_eq!(serde_json::to_value(&result.meta).unwrap()["dev.ropewalk/severity"], "warning");
    assert_eq!(client.world.asked.lock().unwrap().len(), 1, "nothing is tried twice");
}

#[tokio::test]
async fn app_149_app_155_app_204_what_came_of_a_change_is_what_the_wire_says() {
    let client = World::new().client().await;
    let answers = [
        json!({"applied": false, "dryRun": true, "effect": "Would delete it.", "replayed": false}),
        json!({"thread": {"threadId": "t9", "projectId": "p1", "revision": 1}, "seq": 1, "replayed": true}),
    ];
    client.world.answers.lock().unwrap().extend(answers.map(Ok));
    let result = client.call("app_threads", json!({"operation": "Delete", "threadId": "t2", "operationId": "o"})).await;
    let told = result.structured_content.unwrap();
    assert_eq!((&told["status"], &told["dryRun"], &told["applied"]), (&json!("DryRun"), &json!(true), &json!(false)));
    let meta = serde_json::to_value(&result.meta).unwrap();
    assert_eq!((&meta["dev.ropewalk/summary"], &meta["dev.ropewalk/severity"]), (&told["effect"], &json!("warning")));
    let result = client.call("app_threads", json!({"operation": "Create", "operationId": "o"})).await;
    let told = result.structured_content.unwrap();
    assert_eq!((&told["replayed"], &told["threadId"], &told["revision"]), (&json!(true), &json!("t9"), &json!(1)));
}

#[tokio::test]
async fn app_154_what_is_gone_is_not_found_and_no_conflict() {
    let client = World::new().client().await;
    client.world.answers.lock().unwrap().push_back(Err(RpcError::not_found("thread", "t2")));
    let pin = json!({"operation": "Pin", "threadId": "t2", "expectedRevision": 1, "operationId": "o"});
    let told = client.call("app_threads", pin).await.structured_content.unwrap();
    assert_eq!((&told["status"], told["error"].as_str().unwrap().contains("t2")), (&json!("NotFound"), true));
}

#[tokio::test]
async fn app_88_an_intent_goes_with_the_message_and_another_word_is_refused_with_those_there_are() {
    let client = World::new().client().await;
    let submit = |intent: &str| json!({"operation": "Submit", "threadId": "t2", "text": "x", "intent": intent, "operationId": "o"});
    for intent in ["Question", "Answer", "Decision", "Status", "Blocker", "Done"] {
        client.call("app_runs", submit(intent)).await;
        assert_eq!(client.world.asked.lock().unwrap().pop().unwrap().intent.as_deref(), Some(intent));
    }
    let error = client.error("app_runs", submit("Order")).await;
    assert!(error.contains("Question") && error.contains("Done"), "{error}");
}

#[tokio::test]
async fn app_81_app_83_a_wait_is_within_its_bounds_and_its_end_is_no_error() {
    let client = World::new().client().await;
    let run = json!({
        "runId": "r7", "threadId": "t2", "branchId": "t2", "state": "running", "endpointId": "e", "unattended": "decline",
        "principal": {"kind": "agent"}, "startedAt": "2026-11-30T10:00:00Z", "steps": 1, "usage": {}, "queuedAt": "2026-11-30T10:00:00Z",
        "userMessageId": "m1",
    });
    for (given, asked_for) in [(json!(5), 1_000), (json!(99_999_999), 600_000), (Value::Null, 60_000)] {
        let submitted =
            json!({"runId": "r7", "messageId": "m1", "branchId": "t2", "state": "running", "replayed": false});
        let waited = json!({"run": run, "timedOut": true, "seq": 3});
        client.world.answers.lock().unwrap().extend([Ok(submitted), Ok(waited)]);
        let submit = json!({"operation": "Submit", "threadId": "t2", "text": "x", "wait": true, "waitTimeoutMs": given,
            "operationId": "o"});
        let result = client.call("app_runs", submit).await;
        assert_eq!(result.is_error, Some(false));
        let asked = client.world.asked.lock().unwrap().pop().unwrap();
        assert_eq!((asked.method, &asked.params["timeoutMs"]), ("run/wait", &json!(asked_for)));
        assert_eq!(asked.params["runId"], "r7", "only what becomes of this run counts (APP-82)");
    }
}
