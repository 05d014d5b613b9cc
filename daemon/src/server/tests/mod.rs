//! Real sockets in temporary directories.

#![cfg(unix)]

mod descriptors;
mod home;
mod life;
mod refusals;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::UnixStream,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{Bound, Home, HomeLock, Server, StartError};
use crate::connection::{
    Serving,
    tests::{Toy, hello, in_time, table},
};

/// A home in a directory of its own.
struct Place {
    _directory: TempDir,
    home: Home,
}

fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("home");
    let home = Home { socket: path.join("daemon.sock"), directory: path };
    Place { _directory: directory, home }
}

impl Place {
    /// Another home with the socket of this one.
    fn rival(&self) -> Home {
        Home { directory: self.home.directory.with_file_name("rival"), socket: self.home.socket.clone() }
    }

    fn make_directory(&self, mode: u32) {
        fs::create_dir(&self.home.directory).unwrap();
        fs::set_permissions(&self.home.directory, fs::Permissions::from_mode(mode)).unwrap();
    }
}

async fn refused(home: &Home) -> StartError {
    match Server::bind(home).await {
        Ok(_) => panic!("{home:?} was bound"),
        Err(error) => error,
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// A daemon of toy handlers that serves.
struct Running {
    toy: Arc<Toy>,
    serving: Serving<Toy>,
    shutdown: CancellationToken,
    task: JoinHandle<HomeLock>,
    socket: PathBuf,
}

fn run(bound: Bound) -> Running {
    run_with(bound, |_| {})
}

fn run_with(bound: Bound, set: impl FnOnce(&mut Serving<Toy>)) -> Running {
    let toy = Toy::new();
    let mut serving = Serving::new(toy.clone(), Arc::new(table()));
    set(&mut serving);
    let shutdown = CancellationToken::new();
    let socket = bound.socket().to_owned();
    let task = tokio::spawn(bound.serve(serving.clone(), shutdown.clone()));
    Running { toy, serving, shutdown, task, socket }
}

struct Caller {
    stream: BufReader<UnixStream>,
}

impl Caller {
    async fn connect(socket: &Path) -> Self {
        Self { stream: BufReader::new(in_time(UnixStream::connect(socket)).await.unwrap()) }
    }

    async fn initialized(socket: &Path) -> Self {
        let mut caller = Self::connect(socket).await;
        caller.send(1, "initialize", hello()).await;
        assert_eq!(caller.read().await.unwrap()["result"]["protocol"], 1);
        caller
    }

    async fn send(&mut self, id: u32, method: &str, params: Value) {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n";
        in_time(self.stream.write_all(line.as_bytes())).await.unwrap();
    }

    /// The next message; none at the end.
    async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        in_time(self.stream.read_line(&mut line)).await.ok()?;
        serde_json::from_str(&line).ok()
    }
}
