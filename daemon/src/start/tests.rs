//! What is answered while the store is being opened, and what becomes of who has asked.

use ropewalk_conformance::suite::Raw;
use serde_json::json;

use super::*;

mod damage;
mod reading;

/// A home with a thread in it and no index, and the thread's id.
async fn without_index() -> (tempfile::TempDir, String) {
    let home = tempfile::tempdir().unwrap();
    let daemon = open(home.path(), SecretChoice::File, crate::sessions::ChildSetup::default()).await.unwrap();
    let serving = Serving::new(daemon.clone(), Arc::new(methods::table()));
    let (ours, theirs) = tokio::io::duplex(65_536);
    serving.connect(ours);
    let mut client = Raw::greeted(theirs, "bot", "in-A").await;
    let thread = client.call("thread/start", json!({})).await["thread"]["threadId"].as_str().unwrap().to_owned();
    daemon.stop(0);
    serving.stop().await;
    daemon.store.flush().await.unwrap();
    let image = tempfile::tempdir().unwrap();
    for file in ["logs/daemon.jsonl".to_owned(), format!("logs/{}/{thread}.jsonl", &thread[thread.len() - 2..])] {
        std::fs::create_dir_all(image.path().join(&file).parent().unwrap()).unwrap();
        std::fs::copy(home.path().join(&file), image.path().join(&file)).unwrap();
    }
    (image, thread)
}

#[tokio::test]
async fn ruling_40_while_the_index_is_built_the_socket_says_so_and_the_same_connection_goes_on() {
    let (home, thread) = without_index().await;
    let opening = Opening::begin(home.path(), SecretChoice::File).await.unwrap();
    let serving = Serving::new(opening.daemon().clone(), Arc::new(methods::table()));
    let (ours, theirs) = tokio::io::duplex(65_536);
    serving.connect(ours);
    let mut client = Raw::greeted(theirs, "bot", "in-A").await;
    opening.store.progress().expect(200);
    opening.store.progress().pass(50);
    let status = client.call("daemon/status", json!({})).await;
    assert_eq!((&status["store"]["index"], &status["store"]["progress"]), (&json!("rebuilding"), &json!(0.25)));
    for (method, params) in [
        ("thread/list", json!({})),
        ("thread/start", json!({})),
        ("thread/resume", json!({"threadId": thread})),
        ("project/create", json!({"name": "n", "operationId": "o-1"})),
        ("settings/read", json!({})),
        ("daemon/check", json!({})),
        ("daemon/shutdown", json!({})),
    ] {
        let refused = client.refused(method, params).await;
        let data = &refused["data"];
        assert_eq!((&data["kind"], &data["reason"]), (&json!("unavailable"), &json!("starting")), "{method}");
        assert_eq!((&data["retryable"], &data["progress"]), (&json!(true), &json!(0.25)), "{method}");
        assert!(data["retryAfterMs"].is_u64(), "{method}");
    }
    let daemon = opening.finish().await.unwrap();
    let status = client.call("daemon/status", json!({})).await;
    assert_eq!((&status["store"]["index"], &status["counts"]["threads"]), (&json!("ok"), &json!(1)));
    client.call("thread/resume", json!({"threadId": thread})).await;
    client.call("project/create", json!({"name": "n", "operationId": "o-1"})).await;
    daemon.stop(0);
}

#[tokio::test]
async fn k35_a_home_of_a_newer_version_gets_no_secrets_and_no_store() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("format"), br#"{"format":"ropewalk-home","version":9}"#).unwrap();
    let refused = Opening::begin(home.path(), SecretChoice::File).await.map(|_| ()).unwrap_err();
    assert!(refused.message.contains("has format version 9"), "{refused}");
    assert_eq!(serde_json::to_value(&refused.data).unwrap()["reason"], "store_version");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1, "nothing was written");
}
