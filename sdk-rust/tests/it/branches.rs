//! Branches of a thread: what is asked of the daemon, and what is made of its pages.

use ropewalk::Tools;
use serde_json::{Value, json};

use crate::support::{attached, submitted};

fn branch(id: &str) -> Value {
    json!({"branchId": id, "threadId": "th-1", "queue": {"length": 0, "held": false}, "revision": 1})
}

#[tokio::test]
async fn all_pages_of_a_list_are_read() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.reply("branch/list", |params| {
        assert_eq!(params["threadId"], "th-1");
        Ok(match params.get("cursor") {
            None => json!({"items": [branch("br-1"), branch("br-2")], "nextCursor": "more"}),
            Some(cursor) => {
                assert_eq!(cursor, "more");
                json!({"items": [branch("br-3")]})
            }
        })
    });
    let ids: Vec<_> = thread.branches().list().await.unwrap().into_iter().map(|it| it.branch_id.to_string()).collect();
    assert_eq!(ids, ["br-1", "br-2", "br-3"]);
}

#[tokio::test]
async fn a_title_is_set_or_cleared_and_a_deletion_is_rehearsed_or_done() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.reply("branch/update", |_| Ok(json!({"branch": branch("br-1"), "replayed": false})));
    fake.reply("branch/delete", |params| {
        let dry_run = &params["dryRun"];
        Ok(json!({"applied": dry_run != true, "dryRun": dry_run, "effect": "It goes.", "replayed": false}))
    });
    let branches = thread.branches();
    branches.rename("br-1", Some("Named")).await.unwrap();
    branches.rename("br-1", None).await.unwrap();
    let sent = fake.asked("branch/update");
    assert_eq!((&sent[0]["title"], &sent[1]["title"]), (&json!("Named"), &Value::Null));
    assert!(sent[1].as_object().unwrap().contains_key("title"), "null clears");
    assert!(!branches.rehearse_delete("br-1").await.unwrap().applied);
    assert!(branches.delete("br-1").await.unwrap().applied);
    let sent = fake.asked("branch/delete");
    assert_ne!(sent[0]["operationId"], sent[1]["operationId"]);
}

#[tokio::test]
async fn a_fork_and_a_replacement_say_what_they_follow() {
    let (fake, thread) = attached(Tools::new()).await;
    fake.reply("run/submit", |_| Ok(submitted("run-1")));
    drop(thread.run("x").fork(None).submit().await.unwrap());
    drop(thread.run("x").branch("br-1").fork(Some("m-7".into())).title("What if").submit().await.unwrap());
    drop(thread.run("x").replace("m-7").submit().await.unwrap());
    let sent = fake.asked("run/submit");
    assert_eq!((&sent[0]["mode"], sent[0].get("fromMessageId")), (&json!("fork"), None));
    assert_eq!((&sent[1]["fromMessageId"], &sent[1]["branchId"]), (&json!("m-7"), &json!("br-1")));
    assert_eq!(sent[1]["title"], "What if");
    assert_eq!((&sent[2]["mode"], &sent[2]["fromMessageId"]), (&json!("replace"), &json!("m-7")));
}
