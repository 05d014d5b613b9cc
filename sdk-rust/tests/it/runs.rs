//! Runs: awaited, streamed, stopped, left alone.

use futures::StreamExt;
use ropewalk::{
    Error, Mode, RunEvent, Tools,
    protocol::{OutcomeStatus, RunId},
};
use serde_json::{Value, json};

use crate::support::{Fake, assistant, attached, completed, in_time, run, submitted};

/// The events of a run that says `text`, in the order of the contract.
fn play(fake: &Fake, run_id: &str, first: u64, text: &str) {
    let (half, rest) = text.split_at(text.len() / 2);
    fake.event("th-1", first, json!({"type": "runStarted", "run": run(run_id, "running")}));
    fake.event("th-1", first + 1, json!({"type": "itemStarted", "item": assistant(run_id, "it-1", "open", "")}));
    for (offset, text) in [(0, half), (half.len(), rest)] {
        fake.ephemeral(
            "th-1",
            first + 1,
            json!({"type": "itemDelta", "itemId": "it-1", "offset": offset, "text": text}),
        );
    }
    let item = assistant(run_id, "it-1", "completed", text);
    fake.event("th-1", first + 2, json!({"type": "itemCompleted", "item": item}));
    fake.event("th-1", first + 3, completed(run_id, json!({"status": "completed", "text": text})));
}

#[tokio::test]
async fn awaiting_a_run_gives_its_answer() {
    let (mut fake, thread) = attached(Tools::new()).await;
    fake.hold("run/submit");
    let running = tokio::spawn(thread.run("hello").into_future());
    let (_, params, responder) = fake.next().await;
    assert_eq!(params["input"], json!([{"type": "text", "text": "hello"}]));
    responder.ok(&submitted("run-1"));
    play(&fake, "run-1", 4, "hi there");
    let result = in_time(running).await.unwrap().unwrap();
    assert_eq!((result.text(), result.run_id.as_str(), result.message_id.as_str()), ("hi there", "run-1", "m-1"));
    assert_eq!(result.usage.output_tokens, 2);
    assert!(result.is_completed());
}

#[tokio::test]
async fn a_stream_gives_the_events_of_its_run_alone_and_ends() {
    let (mut fake, thread) = attached(Tools::new()).await;
    fake.hold("run/submit");
    let streaming = tokio::spawn(thread.run("hello").stream().collect::<Vec<_>>());
    fake.next().await.2.ok(&submitted("run-2"));
    play(&fake, "run-1", 4, "not mine");
    play(&fake, "run-2", 8, "mine");
    let events: Vec<RunEvent> = in_time(streaming).await.unwrap().into_iter().map(Result::unwrap).collect();
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| match event {
            RunEvent::Started(_) => "started",
            RunEvent::ItemStarted(_) => "itemStarted",
            RunEvent::Text { .. } => "text",
            RunEvent::ItemCompleted(_) => "itemCompleted",
            RunEvent::Completed(_) => "completed",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds.first(), Some(&"started"));
    assert_eq!(kinds.last(), Some(&"completed"));
    let texts = events.iter().filter_map(|event| match event {
        RunEvent::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(texts.collect::<String>(), "mine");
}

#[tokio::test]
async fn a_run_that_fails_is_a_value_and_an_error_when_asked_for_one() {
    let (mut fake, thread) = attached(Tools::new()).await;
    fake.hold("run/submit");
    let running = tokio::spawn(thread.run("hello").into_future());
    fake.next().await.2.ok(&submitted("run-1"));
    let error = json!({"kind": "rateLimited", "message": "The provider says: slow down.", "retryable": true});
    fake.event("th-1", 4, completed("run-1", json!({"status": "failed", "error": error})));
    let result = in_time(running).await.unwrap().unwrap();
    assert_eq!(result.outcome.status, OutcomeStatus::Failed);
    let error = result.into_result().unwrap_err();
    assert_eq!(error.to_string(), "The run failed: The provider says: slow down.");
    assert!(matches!(error, Error::RunNotCompleted(result) if result.run_id.as_str() == "run-1"));
}

#[tokio::test]
async fn dropping_a_runs_future_does_not_stop_the_run() {
    let (fake, thread) = attached(Tools::new()).await;
    let run = thread.run("hello").submit().await.unwrap();
    assert_eq!(run.id().as_str(), "run-1");
    drop(run);
    fake.fence().await;
    assert!(fake.asked("run/stop").is_empty());
}

#[tokio::test]
async fn stop_names_the_run() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.reply("run/stop", |_| Ok(json!({"seq": 9, "replayed": false})));
    let run = thread.run("hello").submit().await.unwrap();
    assert_eq!(run.stop().await.unwrap().seq, 9);
    let sent = &fake.asked("run/stop")[0];
    assert_eq!(
        (&sent["threadId"], &sent["branchId"], &sent["runId"]),
        (&json!("th-1"), &json!("th-1"), &json!("run-1"))
    );
    let by = json!({"kind": "stop", "clientName": "bot", "instanceId": "in-A"});
    fake.event("th-1", 4, completed("run-1", json!({"status": "stopped", "by": by})));
    let error = in_time(run.result()).await.unwrap().into_result().unwrap_err();
    assert_eq!(error.to_string(), "The run was stopped by bot");
}

#[tokio::test]
async fn every_submit_has_an_operation_id_of_its_own() {
    let (fake, thread) = attached(Tools::new()).await;
    for request in [thread.run("a"), thread.run("a"), thread.run("a").operation_id("bot:7")] {
        drop(request.submit().await.unwrap());
    }
    let ids: Vec<Value> = fake.asked("run/submit").into_iter().map(|params| params["operationId"].clone()).collect();
    assert_ne!(ids[0], ids[1]);
    assert_eq!(ids[2], "bot:7");
}

#[tokio::test]
async fn a_replayed_submit_finds_the_end_of_its_run_in_the_log() {
    let (fake, thread) = attached(Tools::new()).await;
    let mut log: Vec<(u64, Value)> =
        (1..=3).map(|seq| (seq, json!({"type": "branchDeleted", "branchId": "b"}))).collect();
    log.push((4, json!({"type": "runStarted", "run": run("run-1", "running")})));
    log.push((5, completed("run-1", json!({"status": "completed", "text": "hi"}))));
    fake.event("th-1", 5, log[4].1.clone());
    fake.keep_log("th-1", log);
    fake.reply("run/submit", |_| {
        let mut answer = submitted("run-1");
        answer["replayed"] = json!(true);
        Ok(answer)
    });
    let result = in_time(thread.run("hello").operation_id("bot:7").into_future()).await.unwrap();
    assert_eq!(result.text(), "hi");
}

#[tokio::test]
async fn an_aside_on_an_idle_branch_is_recorded_and_has_no_run_to_wait_for() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.reply("run/submit", |_| {
        Ok(json!({"messageId": "m-8", "branchId": "th-1", "state": "recorded", "replayed": false}))
    });
    let sent = thread.run("by the way").mode(Mode::Aside).send().await.unwrap();
    assert_eq!(sent.message_id.as_str(), "m-8");
    let error = in_time(thread.run("by the way").mode(Mode::Aside).into_future()).await.unwrap_err();
    assert!(matches!(error, Error::NoRun { message_id } if message_id.as_str() == "m-8"));
}

#[tokio::test]
async fn a_queued_input_that_is_removed_ends_the_wait() {
    let (fake, thread) = attached(Tools::new()).await;
    let run = thread.run("hello").submit().await.unwrap();
    let removed = json!({
        "type": "queueChanged", "branchId": "th-1", "held": false, "length": 0, "change": "removed", "messageId": "m-1",
    });
    fake.event("th-1", 4, removed);
    assert!(matches!(in_time(run.result()).await.unwrap_err(), Error::RunRemoved { .. }));
}

#[tokio::test]
async fn a_lost_connection_ends_the_wait_for_a_run() {
    let (fake, thread) = attached(Tools::new()).await;
    let mut run = thread.run("hello").submit().await.unwrap();
    fake.peer.close();
    assert!(matches!(in_time(run.next()).await, Some(Err(Error::Disconnected))));
    assert!(in_time(run.next()).await.is_none());
}

#[tokio::test]
async fn the_options_of_a_run_cross_the_wire() {
    let (fake, thread) = attached(Tools::new()).await;
    drop(thread.run("a").fork(ropewalk::protocol::MessageId::from("m-3")).title("what if").submit().await.unwrap());
    drop(thread.run("b").steer("run-1").submit().await.unwrap());
    drop(thread.run("c").replace("m-1").branch("b-2").endpoint("ep-1").submit().await.unwrap());
    let sent = fake.asked("run/submit");
    assert_eq!(
        (&sent[0]["mode"], &sent[0]["fromMessageId"], &sent[0]["title"]),
        (&json!("fork"), &json!("m-3"), &json!("what if"))
    );
    assert_eq!((&sent[1]["mode"], &sent[1]["expectedRunId"]), (&json!("steer"), &json!("run-1")));
    assert_eq!(
        (&sent[2]["mode"], &sent[2]["branchId"], &sent[2]["endpointId"]),
        (&json!("replace"), &json!("b-2"), &json!("ep-1"))
    );
}

#[tokio::test(start_paused = true)]
async fn x21_waiting_for_a_run_of_a_mute_daemon_ends() {
    let (fake, thread) = attached(Tools::new()).await;
    let run = thread.run("hello").submit().await.unwrap();
    let error = run.result().await.unwrap_err();
    assert!(matches!(&error, Error::Timeout { what, .. } if what == "daemon/status"), "{error}");
    assert_eq!(fake.asked("daemon/status").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_long_silence_of_a_daemon_that_is_well_is_waited_out() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.reply("daemon/status", |_| Err(ropewalk::RpcError::not_found("status", "any answer is a sign of life")));
    let running = tokio::spawn(thread.run("hello").submit().await.unwrap().result());
    tokio::time::sleep(std::time::Duration::from_secs(200)).await;
    assert_eq!(fake.asked("daemon/status").len(), 3);
    fake.event("th-1", 4, completed("run-1", json!({"status": "completed", "text": "at last"})));
    assert_eq!(running.await.unwrap().unwrap().text(), "at last");
}

#[tokio::test]
async fn an_answer_as_data_is_a_value_of_the_type_that_was_asked_for() {
    #[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
    struct Issue {
        number: u64,
    }
    for (structured, expected) in [(json!({"number": 7}), Some(Issue { number: 7 })), (json!({"number": "7"}), None)] {
        let (mut fake, thread) = attached(Tools::new()).await;
        fake.hold("run/submit");
        let running = tokio::spawn(thread.run("which?").output::<Issue>().into_future());
        let (_, params, responder) = fake.next().await;
        assert_eq!(params["outputSchema"]["required"], json!(["number"]), "{params}");
        responder.ok(&submitted("run-1"));
        fake.event("th-1", 4, json!({"type": "runStarted", "run": run("run-1", "running")}));
        let outcome = json!({"status": "completed", "text": structured.to_string(), "structured": structured});
        fake.event("th-1", 5, completed("run-1", outcome));
        let output = in_time(running).await.unwrap().unwrap().output::<Issue>();
        match expected {
            Some(issue) => assert_eq!(output.unwrap(), issue),
            None => assert!(matches!(output, Err(Error::Unreadable { .. }))),
        }
    }
}

#[tokio::test]
async fn a_run_that_failed_is_retried_by_a_new_one_which_is_followed_to_its_end() {
    for method in ["run/retry", "run/rebase"] {
        let (mut fake, thread) = attached(Tools::new()).await;
        fake.hold(method);
        let retrying = tokio::spawn(async move {
            match method {
                "run/retry" => thread.retry_run(RunId::from("run-1")).await,
                _ => thread.rebase_run(RunId::from("run-1")).await,
            }
        });
        let (_, params, responder) = fake.next().await;
        assert_eq!((&params["runId"], params["operationId"].is_string()), (&json!("run-1"), true));
        responder.ok(&json!({"run": run("run-2", "running"), "replayed": false}));
        let retried = in_time(retrying).await.unwrap().unwrap();
        assert_eq!(retried.id().as_str(), "run-2");
        fake.event("th-1", 4, json!({"type": "runStarted", "run": run("run-2", "running")}));
        fake.event("th-1", 5, completed("run-2", json!({"status": "completed", "text": "at last"})));
        assert_eq!(in_time(retried.result()).await.unwrap().text(), "at last");
    }
}

#[tokio::test]
async fn a_paused_run_that_is_resumed_is_followed_to_its_end() {
    let (mut fake, thread) = attached(Tools::new()).await;
    fake.hold("run/resume");
    let resuming = tokio::spawn(async move { thread.resume_run(None).await });
    let (_, params, responder) = fake.next().await;
    assert_eq!((&params["threadId"], params.get("runId")), (&json!("th-1"), None));
    responder.ok(&json!({"run": run("run-1", "running"), "replayed": false}));
    let resumed = in_time(resuming).await.unwrap().unwrap();
    assert_eq!(resumed.id().as_str(), "run-1");
    fake.event("th-1", 4, json!({"type": "runState", "run": run("run-1", "running")}));
    fake.event("th-1", 5, completed("run-1", json!({"status": "completed", "text": "on and on"})));
    assert_eq!(in_time(resumed.result()).await.unwrap().text(), "on and on");
}
