//! How a run that was given work is said to stand.

use serde_json::{Value, json};

use super::world::World;

/// The effect of a submission whose run is found waiting for something of this kind once the time is over.
async fn effect_of_a_wait_for(kind: &str) -> String {
    let client = World::new().client().await;
    let at = "2026-11-30T10:00:00Z";
    let run = json!({
        "runId": "r7", "threadId": "t2", "branchId": "t2", "messageId": "m1", "mode": "queue", "state": "waiting",
        "waitingOn": {"kind": kind, "since": at, "canAnswer": []}, "endpointId": "e", "model": "m", "unattended": "decline",
        "usage": {"inputTokens": 0, "outputTokens": 0, "requests": 0, "estimated": false},
        "principal": {"kind": "owner"}, "recovery": [], "steps": 1, "toolCalls": 0, "submittedAt": at, "startedAt": at,
    });
    let submitted = json!({"runId": "r7", "messageId": "m1", "branchId": "t2", "state": "running", "replayed": false});
    let waited = json!({"run": run, "timedOut": kind == "endpoint", "seq": 3});
    client.world.answers.lock().unwrap().extend([Ok(submitted), Ok(waited)]);
    let submit = json!({"operation": "Submit", "threadId": "t2", "text": "x", "wait": true, "operationId": "o"});
    let told: Value = client.call("app_runs", submit).await.structured_content.unwrap();
    assert_eq!(told["current"]["state"], "waiting", "{told}");
    told["effect"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn app_185_only_an_approval_or_a_question_is_said_to_wait_for_a_person() {
    for kind in ["approval", "input"] {
        let effect = effect_of_a_wait_for(kind).await;
        assert!(effect.contains("waits for a person"), "{kind}: {effect}");
    }
    let effect = effect_of_a_wait_for("endpoint").await;
    assert!(!effect.contains("person") && effect.contains("time to wait is over"), "{effect}");
}
