//! What a run grants through `app_security`, with the file tools that work under it.

use std::{fs, path::PathBuf};

use ropewalk_conformance::{DaemonProcess, suite::Raw};
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{Place, client};

/// A daemon, a directory with a file in it, and a thread of a project without grants.
struct Ground {
    place: Place,
    _daemon: DaemonProcess,
    raw: Raw<UnixStream>,
    thread: Value,
}

impl Ground {
    async fn new() -> Self {
        let place = Place::new();
        fs::create_dir(place.directory.path().join("repository")).unwrap();
        fs::write(place.directory.path().join("repository/note.txt"), "one two").unwrap();
        let daemon = place.daemon().await;
        let mut raw = client(&daemon, "owner", "in-owner").await;
        let thread = raw.start(&[]).await;
        Self { place, _daemon: daemon, raw, thread }
    }

    fn repository(&self) -> PathBuf {
        self.place.directory.path().canonicalize().unwrap().join("repository")
    }

    fn read(&self) -> String {
        format!("call read_file {}", json!({"path": self.repository().join("note.txt")}))
    }

    /// Runs a script whose one question is accepted; its calls, in order.
    async fn agreed(&mut self, script: &str) -> Vec<Value> {
        let run = self.raw.submit(&self.thread, script).await;
        let approval = self.raw.asked("approval/request").await;
        self.raw.reply(&approval, json!({"decision": "accept"})).await;
        self.raw.ended(&run).await;
        let calls = self.raw.calls(&self.thread).await;
        calls.into_iter().filter(|call| call["runId"] == run).collect()
    }

    async fn revision_of(&mut self, project: &Value) -> Value {
        self.raw.call("project/read", json!({"projectId": project})).await["project"]["revision"].clone()
    }
}

#[tokio::test]
async fn app_3_a_file_tool_works_in_the_project_that_a_run_made_of_a_repository() {
    let mut ground = Ground::new().await;
    let create = json!({"operation": "Create", "operationId": "o1", "name": "Repository"});
    let made = ground.agreed(&format!("call app_projects {create}")).await[0]["structuredContent"].clone();
    let project = made["projectId"].clone();
    let grant = json!({
        "operation": "AddDirectoryGrant", "operationId": "o2", "projectId": project, "path": ground.repository(),
        "capabilities": ["read", "write"], "expectedRevision": made["revision"],
    });
    let granted = ground.agreed(&format!("call app_security {grant}")).await;
    assert_eq!(granted[0]["structuredContent"]["status"], "Applied", "{granted:?}");
    let rule = json!({
        "operation": "SetProjectToolPolicy", "operationId": "o3", "projectId": project,
        "tool": {"source": "files", "name": "write_file"}, "decision": "deny",
    });
    let ruled = ground.agreed(&format!("call app_security {rule}")).await;
    assert_eq!(ruled[0]["structuredContent"]["status"], "Applied", "{ruled:?}");

    let there = json!({"projectId": project});
    let there = ground.raw.call("thread/start", there).await["thread"]["threadId"].clone();
    let write = format!("call write_file {}", json!({"path": ground.repository().join("note.txt"), "content": "x"}));
    ground.raw.run(&there, &format!("{}\n{write}", ground.read())).await;
    let calls = ground.raw.calls(&there).await;
    assert!(calls[0]["state"] == "completed" && calls[0].to_string().contains("one two"), "{calls:?}");
    assert_ne!(calls[1]["state"], "completed", "the rule denies it: {calls:?}");
    assert_eq!(fs::read_to_string(ground.repository().join("note.txt")).unwrap(), "one two");
}

#[tokio::test]
async fn app_168_what_a_run_is_granted_works_at_its_next_step() {
    let mut ground = Ground::new().await;
    let project = ground.raw.project_of(&ground.thread.clone()).await;
    let grant = json!({
        "operation": "AddDirectoryGrant", "operationId": "o", "path": ground.repository(), "capabilities": ["read"],
        "expectedRevision": ground.revision_of(&project).await,
    });
    let read = ground.read();
    let calls = ground.agreed(&format!("{read}\nthen call app_security {grant}\nthen {read}")).await;
    let states: Vec<_> = calls.iter().map(|call| call["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["failed", "completed", "completed"], "{calls:?}");
    assert!(calls[2].to_string().contains("one two"), "{calls:?}");
}
