//! A daemon that may open few files: it takes all it may, and what is short of them is a new connection, never a commit.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

use super::Troubled;
use crate::{
    process::{client, eventually},
    support::text,
};

#[tokio::test]
async fn k08_without_descriptors_new_connections_are_refused_and_commits_go_on() {
    let place = Troubled::new();
    let daemon = place.daemon("ulimit -Sn 64; ulimit -Hn 120; exec \"$BINARY\" \"$@\"").await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", daemon.pid())).unwrap();
    let files: Vec<&str> =
        limits.lines().find(|line| line.starts_with("Max open files")).unwrap().split_whitespace().collect();
    assert_eq!((files[3], files[4]), ("120", "120"), "the soft limit is raised to the hard one");

    let mut bot = client(&daemon, "bot", "in-A").await;
    let mut others = Vec::new();
    for _ in 0..60 {
        others.push(greeted(daemon.connect().await.unwrap()).await);
    }
    let is_refused = |first: &Value| first["error"]["data"]["kind"] == "overloaded";
    let refused = others.iter().filter(|(_, first)| is_refused(first)).count();
    assert!((20..60).contains(&refused), "{refused} of 60 were refused");

    for n in 0..50 {
        let thread = bot.call("thread/start", json!({})).await["thread"]["threadId"].clone();
        let run = bot
            .call("run/submit", json!({"threadId": thread, "input": text(&format!("{n} {}", "long ".repeat(5_000)))}))
            .await;
        let ended = bot.call("run/wait", json!({"runId": run["runId"]})).await;
        assert_eq!(ended["run"]["outcome"]["status"], "completed", "{n}: {}", ended["run"]["outcome"]);
        bot.kept.clear();
    }
    drop(others);
    let is_let_in = || async { !is_refused(&greeted(daemon.connect().await.unwrap()).await.1) };
    eventually("a place for another connection", is_let_in).await;
    assert_eq!(bot.call("daemon/status", json!({})).await["health"]["state"], "ok");
}

/// A connection and the first line it gets: the answer to its handshake, or that there are too many.
async fn greeted(mut stream: UnixStream) -> (BufReader<UnixStream>, Value) {
    let client = json!({"name": "other", "version": "1"});
    let hello = json!({"protocol": {"min": 1, "max": 1}, "client": client});
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).to_string() + "\n";
    // One that is refused may be closed already, and what it was told can still be read.
    let _ = stream.write_all(line.as_bytes()).await;
    let (mut reader, mut first) = (BufReader::new(stream), String::new());
    let read = tokio::time::timeout(crate::process::PATIENCE, reader.read_line(&mut first)).await;
    read.expect("the daemon says something").unwrap();
    (reader, serde_json::from_str(&first).unwrap())
}
