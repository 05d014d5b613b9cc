//! The file tools in runs, and their server as a process of its own.

use std::{fs, path::PathBuf};

use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult},
    service::RunningService,
};
use ropewalk_conformance::{DaemonProcess, suite::Raw};
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt,
    net::UnixStream,
    process::{Child, Command},
};

use super::{PATIENCE, Place, client, program};
use crate::support::text;

/// A project of a daemon, and two directories beside each other.
struct Project {
    place: Place,
    _daemon: DaemonProcess,
    raw: Raw<UnixStream>,
    project: Value,
    thread: Value,
}

impl Project {
    async fn new() -> Self {
        let place = Place::new();
        for (name, content) in [("granted", "one two"), ("other", "three")] {
            let directory = place.directory.path().join(name);
            fs::create_dir(&directory).unwrap();
            fs::write(directory.join("note.txt"), content).unwrap();
        }
        let daemon = place.daemon().await;
        let mut raw = client(&daemon, "owner", "in-owner").await;
        let project = raw.call("project/create", json!({"name": "files"})).await["project"]["projectId"].clone();
        let thread = raw.call("thread/start", json!({"projectId": project})).await["thread"]["threadId"].clone();
        Self { place, _daemon: daemon, raw, project, thread }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.place.directory.path().canonicalize().unwrap().join(path)
    }

    async fn grant(&mut self, directory: &str, capabilities: &[&str]) {
        let params = json!({"projectId": self.project, "path": self.at(directory), "capabilities": capabilities});
        self.raw.call("grant/add", params).await;
    }

    async fn take_back(&mut self, directory: &str) {
        let grants = self.raw.call("grant/list", json!({"projectId": self.project})).await;
        let path = json!(self.at(directory));
        let grant = grants["items"].as_array().unwrap().iter().find(|grant| grant["path"] == path).unwrap();
        let params = json!({"projectId": self.project, "grantId": grant["grantId"]});
        self.raw.call("grant/remove", params).await;
    }

    async fn begin(&mut self, script: &str) -> Value {
        let params = json!({"threadId": self.thread, "input": text(script)});
        self.raw.call("run/submit", params).await["runId"].clone()
    }

    /// The calls of a run that is over, in order.
    async fn calls(&mut self, run: &Value) -> Vec<Value> {
        self.raw.call("run/wait", json!({"runId": run})).await;
        let items = self.raw.call("item/list", json!({"threadId": self.thread, "runId": run})).await;
        let newest_first = items["items"].as_array().unwrap().iter().rev();
        newest_first.filter(|item| item["kind"] == "toolCall").cloned().collect()
    }

    async fn run(&mut self, script: &str) -> Vec<Value> {
        let run = self.begin(script).await;
        self.calls(&run).await
    }

    fn read(&self, path: &str) -> String {
        format!("call read_file {}", json!({"path": self.at(path)}))
    }
}

#[tokio::test]
async fn app_167_a_project_without_grants_has_no_file_tools() {
    let mut project = Project::new().await;
    let tools = project.raw.call("thread/tools", json!({"threadId": project.thread})).await;
    assert!(!tools.to_string().contains("mcp_files__"), "{tools}");
    let calls = project.run(&project.read("granted/note.txt")).await;
    assert_eq!(calls[0]["state"], "failed", "{calls:?}");
}

#[tokio::test]
async fn app_162_a_model_edits_a_granted_file_after_a_person_agreed() {
    let mut project = Project::new().await;
    project.grant("granted", &["read", "write"]).await;
    let rule = json!({
        "level": "project", "projectId": project.project, "tool": {"source": "files", "name": "edit_file"}, "decision": "ask",
    });
    project.raw.call("policy/set", rule).await;
    let read = project.run(&project.read("granted/note.txt")).await;
    assert_eq!(read[0]["state"], "completed", "{read:?}");
    assert!(read[0].to_string().contains("one two"), "{read:?}");

    let edit = json!({"path": project.at("granted/note.txt"), "edits": [{"oldText": "two", "newText": "three"}]});
    let run = project.begin(&format!("call mcp_files__edit_file {edit}")).await;
    let asked = project.raw.asked("approval/request").await;
    assert_eq!(asked["params"]["tool"]["source"], "files", "{asked}");
    assert_eq!(fs::read_to_string(project.at("granted/note.txt")).unwrap(), "one two", "nothing happens before");
    project.raw.reply(&asked, json!({"decision": "accept"})).await;
    let edited = project.calls(&run).await;
    assert_eq!(edited[0]["state"], "completed", "{edited:?}");
    assert_eq!(fs::read_to_string(project.at("granted/note.txt")).unwrap(), "one three");
    let run = project.raw.call("run/read", json!({"runId": run})).await["run"].clone();
    let changed = json!([{"path": project.at("granted/note.txt"), "change": "modified"}]);
    assert_eq!(run["changeSet"]["files"], changed, "{run}");
}

#[tokio::test]
async fn app_166_app_171_what_is_not_granted_is_not_reached_by_a_run() {
    let mut project = Project::new().await;
    project.grant("granted", &["read"]).await;
    let write = json!({"path": project.at("granted/note.txt"), "content": "mine"});
    let script = format!("{}\ncall write_file {write}", project.read("other/note.txt"));
    let calls = project.run(&script).await;
    assert!(calls.iter().all(|call| call["state"] == "failed"), "{calls:?}");
    // A tool that was left out for want of room has a code of its own.
    assert!(calls.iter().all(|call| call["error"]["code"] == "tool_error"), "{calls:?}");
    assert!(calls[0].to_string().contains("outside of the granted directories"), "{calls:?}");
    assert!(calls[1].to_string().contains("without the capability to write"), "{calls:?}");
    assert_eq!(fs::read_to_string(project.at("granted/note.txt")).unwrap(), "one two");
}

#[tokio::test]
async fn app_168_app_169_app_170_a_new_grant_is_for_the_next_step_and_not_for_the_batch_under_way() {
    let mut project = Project::new().await;
    project.grant("granted", &["read"]).await;
    let rule = json!({
        "level": "project", "projectId": project.project, "tool": {"source": "files", "name": "list_dir"}, "decision": "ask",
    });
    project.raw.call("policy/set", rule).await;
    // The first call of the batch waits for a person, who grants the other directory meanwhile.
    let list = format!("call list_dir {}", json!({"path": project.at("granted")}));
    let read = project.read("other/note.txt");
    let run = project.begin(&format!("{list}\n{read}\nthen {read}")).await;
    let asked = project.raw.asked("approval/request").await;
    project.grant("other", &["read"]).await;
    project.raw.reply(&asked, json!({"decision": "accept"})).await;
    let calls = project.calls(&run).await;
    let statuses: Vec<_> = calls.iter().map(|call| call["state"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["completed", "failed", "completed"], "{calls:?}");
    assert!(calls[2].to_string().contains("three"), "{calls:?}");
}

#[tokio::test]
async fn app_166_app_170_what_is_taken_back_while_an_approval_is_open_holds_for_its_call() {
    let mut project = Project::new().await;
    let rule = json!({
        "level": "project", "projectId": project.project, "tool": {"source": "files", "name": "write_file"}, "decision": "ask",
    });
    project.raw.call("policy/set", rule).await;
    let write = format!("call write_file {}", json!({"path": project.at("granted/note.txt"), "content": "mine"}));
    let read = project.read("granted/note.txt");
    for left in [&["read"][..], &[][..]] {
        project.grant("granted", &["read", "write"]).await;
        let run = project.begin(&format!("{read}\n{write}\n{read}")).await;
        let asked = project.raw.asked("approval/request").await;
        match left {
            [] => project.take_back("granted").await,
            left => project.grant("granted", left).await,
        }
        project.raw.reply(&asked, json!({"decision": "accept"})).await;
        let calls = project.calls(&run).await;
        let states: Vec<_> = calls.iter().map(|call| call["state"].as_str().unwrap()).collect();
        let rest = if left.is_empty() { "failed" } else { "completed" };
        assert_eq!(states, ["completed", "failed", rest], "{calls:?}");
        assert_eq!(calls[1]["effect"], if left.is_empty() { "none" } else { "unknown" }, "{calls:?}");
        assert_eq!(fs::read_to_string(project.at("granted/note.txt")).unwrap(), "one two", "{calls:?}");
    }
}

#[tokio::test]
async fn app_160_app_162_the_daemons_own_home_is_closed_however_wide_a_grant_is() {
    let mut project = Project::new().await;
    let params = json!({"projectId": project.project, "path": "/", "capabilities": ["read", "write"]});
    let added = project.raw.call("grant/add", params).await;
    assert!(added["warning"].as_str().unwrap().contains("every file of this computer"), "{added}");
    let secret = project.at("home/format");
    assert!(secret.exists());
    let write = format!("call write_file {}", json!({"path": project.at("home/mine.txt"), "content": "mine"}));
    let script = format!("{}\n{write}\n{}", project.read("home/format"), project.read("granted/note.txt"));
    let calls = project.run(&script).await;
    let states: Vec<_> = calls.iter().map(|call| call["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["failed", "failed", "completed"], "{calls:?}");
    assert!(calls[..2].iter().all(|call| call.to_string().contains("the daemon's own home")), "{calls:?}");
    assert!(!project.at("home/mine.txt").exists());
    let status = project.raw.call("mcp/server/status", json!({"serverId": "files"})).await["items"][0].clone();
    assert_eq!(status["state"], "ready", "a session of it runs: {status}");
    assert!(status["since"].is_string(), "{status}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn app_162_grants_are_in_no_argument_and_may_be_more_than_fit_into_one() {
    let mut project = Project::new().await;
    let long = "n".repeat(200);
    for number in 0..700 {
        fs::create_dir(project.at(&format!("granted/{long}{number:03}"))).unwrap();
        project.grant(&format!("granted/{long}{number:03}"), &["read"]).await;
    }
    project.grant("granted", &["read"]).await;
    let calls = project.run(&project.read("granted/note.txt")).await;
    assert_eq!(calls[0]["state"], "completed", "{calls:?}");
    let commands = fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    let servers: Vec<String> = commands
        .map(|command| String::from_utf8_lossy(&command).into_owned())
        .filter(|command| command.contains("files-server"))
        .collect();
    assert!(servers.iter().all(|command| !command.contains(&long)), "{servers:?}");
}

/// The server as a process, with a stock client.
struct Served {
    client: RunningService<RoleClient, ()>,
    _child: Child,
}

impl Served {
    async fn over(grants: &Value, flags: &[&str]) -> Self {
        let mut command = Command::new(program());
        command.arg("files-server").args(flags).kill_on_drop(true);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        pipes.1.write_all(format!("{}\n", json!({ "grants": grants })).as_bytes()).await.unwrap();
        let client = tokio::time::timeout(PATIENCE, ().serve(pipes)).await.unwrap().unwrap();
        Self { client, _child: child }
    }

    async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let request = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
        tokio::time::timeout(PATIENCE, self.client.call_tool(request)).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn app_162_app_165_app_166_the_process_holds_its_grants_with_and_without_the_lock_of_the_kernel() {
    let place = Place::new();
    let base = place.directory.path().canonicalize().unwrap();
    let (inside, outside) = (base.join("inside"), base.join("outside"));
    for directory in [&inside, &outside] {
        fs::create_dir(directory).unwrap();
        fs::write(directory.join("note.txt"), "secret").unwrap();
    }
    std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
    for flags in [&[][..], &["--no-landlock"][..]] {
        let served = Served::over(&json!([{"path": inside, "capabilities": ["read", "write"]}]), flags).await;
        for path in [outside.join("note.txt"), inside.join("link/note.txt"), inside.join("../outside/note.txt")] {
            for (tool, arguments) in [
                ("read_file", json!({"path": path})),
                ("write_file", json!({"path": path, "content": "mine"})),
                ("edit_file", json!({"path": path, "edits": [{"oldText": "secret", "newText": "mine"}]})),
            ] {
                let called = served.call(tool, arguments).await;
                assert_eq!(called.is_error, Some(true), "{tool} {called:?}");
            }
        }
        assert_eq!(fs::read_to_string(outside.join("note.txt")).unwrap(), "secret");
        // What is granted works behind the lock as well, directories that are made on the way included.
        for (tool, arguments) in [
            ("write_file", json!({"path": inside.join("deep/new.txt"), "content": "a"})),
            ("write_file", json!({"path": inside.join("deep/new.txt"), "content": "ab"})),
            ("edit_file", json!({"path": inside.join("deep/new.txt"), "edits": [{"oldText": "b", "newText": "c"}]})),
            ("find_files", json!({"path": inside, "pattern": "*.txt"})),
            ("grep_files", json!({"path": inside, "pattern": "ac"})),
            ("list_dir", json!({"path": inside})),
            ("file_info", json!({"path": inside.join("deep")})),
        ] {
            let called = served.call(tool, arguments).await;
            assert_ne!(called.is_error, Some(true), "{tool} {flags:?} {called:?}");
        }
        assert_eq!(fs::read_to_string(inside.join("deep/new.txt")).unwrap(), "ac");
        fs::remove_dir_all(inside.join("deep")).unwrap();
    }
}

#[tokio::test]
async fn app_162_app_167_the_process_without_grants_refuses_everything() {
    let place = Place::new();
    let served = Served::over(&json!([]), &[]).await;
    for (tool, arguments) in [
        ("list_dir", json!({"path": place.directory.path()})),
        ("write_file", json!({"path": place.directory.path().join("x"), "content": ""})),
        ("read_file", json!({"path": "/etc/hosts"})),
    ] {
        let called = served.call(tool, arguments).await;
        assert_eq!(called.is_error, Some(true), "{tool} {called:?}");
    }
    assert_eq!(fs::read_dir(place.directory.path()).unwrap().count(), 0);
}
