//! The bundled file server as a process of its own, with the lock of the kernel and without it: it works where it is granted,
//! and what is refused has no effect.

use std::{
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use rmcp::{RoleClient, ServiceExt, model::CallToolRequestParams, service::RunningService};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::AsyncWriteExt,
    process::{Child, Command},
};

use super::{PATIENCE, program};

/// With the lock of the kernel, where there is one, and without.
const LOCKS: [&[&str]; 2] = [&[], &["--no-landlock"]];

/// Reads and writes that are tried while a directory is swapped for a link.
const RACES: usize = 300;

/// `open/` may be read and written, `fixed/` only read, and `outside/` is not granted.
struct Ground {
    _root: TempDir,
    base: PathBuf,
}

impl Ground {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        for (name, content) in
            [("open/note.txt", "one\n"), ("fixed/note.txt", "two\n"), ("outside/note.txt", "secret\n")]
        {
            let path = base.join(name);
            fs::create_dir(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        symlink(base.join("outside"), base.join("open/link")).unwrap();
        symlink("../outside/note.txt", base.join("open/file-link")).unwrap();
        Self { _root: root, base }
    }

    fn at(&self, name: &str) -> String {
        self.base.join(name).display().to_string()
    }

    fn grants(&self) -> Value {
        json!([
            { "path": self.at("open"), "capabilities": ["read", "write"] },
            { "path": self.at("fixed"), "capabilities": ["read"] },
        ])
    }

    fn assert_untouched(&self, context: &str) {
        for (directory, content) in [("fixed", "two\n"), ("outside", "secret\n")] {
            let names: Vec<_> =
                fs::read_dir(self.at(directory)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(names, ["note.txt"], "{context}: {directory}");
            assert_eq!(fs::read_to_string(self.base.join(directory).join("note.txt")).unwrap(), content, "{context}");
        }
    }
}

/// The server and a stock client of it.
struct Server {
    client: RunningService<RoleClient, ()>,
    child: Child,
}

impl Server {
    async fn start(grants: &Value, flags: &[&str]) -> Self {
        let mut command = Command::new(program());
        command.arg("files-server").args(flags);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        pipes.1.write_all(format!("{}\n", json!({ "grants": grants })).as_bytes()).await.unwrap();
        let client = tokio::time::timeout(PATIENCE, ().serve(pipes)).await.unwrap().unwrap();
        Self { client, child }
    }

    /// What a call answers, or why it is refused.
    async fn call(&self, tool: &'static str, arguments: Value) -> Result<String, String> {
        let request = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
        let result = tokio::time::timeout(PATIENCE, self.client.call_tool(request)).await.unwrap().unwrap();
        let text = result.content[0].as_text().unwrap().text.clone();
        if result.is_error == Some(true) { Err(text) } else { Ok(text) }
    }

    async fn read(&self, path: &str) -> Result<String, String> {
        self.call("read_file", json!({ "path": path })).await
    }

    async fn write(&self, path: &str) -> Result<String, String> {
        self.call("write_file", json!({ "path": path, "content": "mine\n" })).await
    }

    /// Ends its input, which ends it.
    async fn end(mut self) {
        self.client.cancel().await.unwrap();
        assert!(tokio::time::timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap().success());
    }
}

#[tokio::test]
async fn app_166_a_server_works_where_it_is_granted_and_as_far_as_it_is() {
    for flags in LOCKS {
        let ground = Ground::new();
        let server = Server::start(&ground.grants(), flags).await;
        assert_eq!(server.read(&ground.at("fixed/note.txt")).await.unwrap(), "two\n", "{flags:?}");
        server.write(&ground.at("open/deep/new.txt")).await.unwrap();
        let edits = json!([{ "oldText": "one", "newText": "three" }]);
        server.call("edit_file", json!({ "path": ground.at("open/note.txt"), "edits": edits })).await.unwrap();
        let new = json!({ "path": ground.at("open/only.txt"), "content": "", "ifExists": "fail" });
        server.call("write_file", new).await.unwrap();
        assert_eq!(fs::read_to_string(ground.at("open/note.txt")).unwrap(), "three\n");
        assert_eq!(fs::read_to_string(ground.at("open/deep/new.txt")).unwrap(), "mine\n");
        let listed = server.call("list_dir", json!({ "path": ground.at("open") })).await.unwrap();
        assert_eq!(listed, "deep/\nfile-link (link)\nlink (link)\nnote.txt (6 bytes)\nonly.txt (0 bytes)\n");
        let why = server.write(&ground.at("fixed/note.txt")).await.unwrap_err();
        assert!(why.contains("without the capability to write"), "{why}");
        ground.assert_untouched(&format!("{flags:?}"));
        server.end().await;
    }
}

#[tokio::test]
async fn app_162_app_163_app_164_app_165_a_server_that_is_called_directly_refuses_what_leads_outside() {
    for flags in LOCKS {
        let ground = Ground::new();
        let server = Server::start(&ground.grants(), flags).await;
        let absolute =
            ["outside/note.txt", "open/link/note.txt", "open/file-link", "open/../outside/note.txt", "open/link/new"];
        let relative = ["note.txt", "../outside/note.txt"].map(str::to_owned);
        for path in absolute.map(|name| ground.at(name)).into_iter().chain(relative) {
            let (read, wrote) = (server.read(&path).await, server.write(&path).await);
            assert!(read.is_err() && wrote.is_err(), "{flags:?} {path}: {read:?} {wrote:?}");
        }
        ground.assert_untouched(&format!("{flags:?}"));
        server.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn app_165_a_directory_swapped_for_a_link_leads_no_server_outside() {
    for flags in LOCKS {
        let ground = Ground::new();
        let place = ground.base.join("open/place");
        fs::create_dir(&place).unwrap();
        fs::write(place.join("note.txt"), "mine\n").unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let swapper = thread::spawn({
            let (over, place) = (over.clone(), place.clone());
            let link = ground.base.join("open/other");
            symlink(ground.base.join("outside"), &link).unwrap();
            move || {
                // At once: where there were neither for a moment, a write would make a directory of this name.
                while !over.load(Ordering::Relaxed) {
                    renameat_with(CWD, &place, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                    thread::yield_now();
                }
            }
        });
        let server = Server::start(&ground.grants(), flags).await;
        let path = ground.at("open/place/note.txt");
        for number in 0..RACES {
            let read = server.read(&path).await;
            assert_ne!(read.as_deref(), Ok("secret\n"), "{flags:?}");
            let target = if number % 2 == 0 { path.clone() } else { ground.at(&format!("open/place/{number}")) };
            // Whether it comes to pass depends on the moment; where it comes to pass does not.
            let _ = server.write(&target).await;
        }
        over.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
        ground.assert_untouched(&format!("{flags:?}"));
        server.end().await;
    }
}
