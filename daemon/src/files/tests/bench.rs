//! A directory that is granted, one beside it that is not, and a stock client of a server over the first.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult},
    service::RunningService,
};
use ropewalk_protocol::Capability;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::files::{FileServer, Grant, Told};

pub const LIMIT: Duration = Duration::from_secs(20);

/// Two directories.
pub struct Ground {
    _root: TempDir,
    pub inside: PathBuf,
    pub outside: PathBuf,
}

impl Ground {
    /// `inside/note.txt` and `outside/secret.txt`.
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (inside, outside) = (base.join("inside"), base.join("outside"));
        fs::create_dir(&inside).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(inside.join("note.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(outside.join("secret.txt"), "secret").unwrap();
        Self { _root: root, inside, outside }
    }

    pub fn grant(&self, capabilities: &[Capability]) -> Grant {
        Grant { path: self.inside.display().to_string(), capabilities: capabilities.to_vec() }
    }

    pub fn all(&self) -> Vec<Grant> {
        vec![self.grant(&[Capability::Read, Capability::Write])]
    }

    pub fn at(&self, name: &str) -> String {
        self.inside.join(name).display().to_string()
    }

    /// What is outside must be as it was.
    pub fn assert_nothing_happened_outside(&self) {
        let names: Vec<_> = fs::read_dir(&self.outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["secret.txt"]);
        assert_eq!(fs::read_to_string(self.outside.join("secret.txt")).unwrap(), "secret");
    }

    /// Nothing is left beside the files.
    pub fn names_inside(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.inside)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// What a server is told of grants, and of nothing that is closed.
pub fn told(grants: &[Grant]) -> Told {
    Told { grants: grants.to_vec(), closed: Vec::new() }
}

/// A stock client.
pub struct Client(pub RunningService<RoleClient, ()>);

impl Client {
    pub async fn of(grants: &[Grant]) -> Self {
        Self::told(&told(grants)).await
    }

    pub async fn told(told: &Told) -> Self {
        let server = FileServer::over(told, |_| ()).unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            if let Ok(running) = server.serve(theirs).await {
                let _ = running.waiting().await;
            }
        });
        Self(tokio::time::timeout(LIMIT, ().serve(ours)).await.unwrap().unwrap())
    }

    pub async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let request = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
        tokio::time::timeout(LIMIT, self.0.call_tool(request)).await.unwrap().unwrap()
    }

    /// The text of a call that works.
    pub async fn text(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_ne!(result.is_error, Some(true), "{result:?}");
        text(&result)
    }

    /// The data of a call that works.
    pub async fn data(&self, tool: &'static str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result.is_error, Some(true), "{result:?}");
        result.structured_content.unwrap()
    }

    /// Why a call does not work.
    pub async fn refusal(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{result:?}");
        assert_eq!(result.meta, None);
        text(&result)
    }
}

pub fn text(result: &CallToolResult) -> String {
    result.content[0].as_text().unwrap().text.clone()
}

/// Every tool with arguments that are about this path.
pub fn every_tool(path: &Path) -> Vec<(&'static str, Value)> {
    let path = path.display().to_string();
    vec![
        ("read_file", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "mine" })),
        ("edit_file", json!({ "path": path, "edits": [{ "oldText": "secret", "newText": "mine" }] })),
        ("list_dir", json!({ "path": path })),
        ("find_files", json!({ "path": path, "pattern": "*" })),
        ("grep_files", json!({ "path": path, "pattern": "secret" })),
        ("file_info", json!({ "path": path })),
    ]
}
