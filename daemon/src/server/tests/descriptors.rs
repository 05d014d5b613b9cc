//! What happens when the process has no descriptors left. In a process of its own: the limit is the process's.

use std::{env, fs::File, process::Command};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;

use super::{Caller, Server, place, run};
use crate::connection::tests::kind;

const CHILD: &str = "ROPEWALK_TEST_DESCRIPTORS";

#[test]
fn without_descriptors_a_connection_is_told_so_and_the_others_go_on() {
    if env::var_os(CHILD).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(use_up_descriptors());
    }
    let name = "server::tests::descriptors::without_descriptors_a_connection_is_told_so_and_the_others_go_on";
    let output = Command::new(env::current_exe().unwrap()).args(["--exact", name]).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

async fn use_up_descriptors() {
    let place = place();
    let running = run(Server::bind(&place.home).await.unwrap());
    let mut first = Caller::initialized(&running.socket).await;
    let limit = Rlimit { current: Some(64), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).unwrap();
    let mut files: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    // One for the client's end; there is none for the daemon's.
    files.pop().unwrap();
    let mut refused = Caller::connect(&running.socket).await;
    let line = refused.read().await.unwrap();
    assert_eq!((kind(&line), &line["id"]), ("overloaded", &Value::Null));
    assert!(refused.read().await.is_none());
    first.send(2, "daemon/status", Value::Null).await;
    assert_eq!(first.read().await.unwrap()["id"], 2);
    drop(files);
    Caller::initialized(&running.socket).await;
}
