//! One session for every transport: a server is the same in memory and as a process.

use std::{fs, sync::Arc};

use rmcp::ServiceExt;
use ropewalk_daemon::{
    files::{FileServer, Told},
    sessions::{ChildCommand, How, Launch, Outgoing},
    tools::servers::Signs,
};
use serde_json::{Value, json};

use super::{World, echo, launch, program, soon};

/// A server in this process.
fn in_memory(told: Told) -> How {
    How::InProcess(Arc::new(move || {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let server = FileServer::over(&told, |_| ()).unwrap();
        tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await });
        ours
    }))
}

/// What a session with it comes to: its tools, and what each of these calls answers.
async fn played(world: &World, launch: &Launch, calls: &[Value]) -> Vec<Value> {
    let session = soon(world.sessions.open(launch)).await.unwrap();
    let tools =
        session.listing().0.tools.iter().map(|tool| json!([tool.name, tool.description, tool.digest])).collect();
    let mut said: Vec<Value> = tools;
    for path in calls {
        let arguments = json!({ "path": path }).as_object().unwrap().clone();
        let read = Outgoing { tool: "read_file".to_owned(), arguments, ..echo() };
        said.push(soon(session.call(read, &Signs::ignored())).await.unwrap());
    }
    said
}

#[tokio::test]
async fn app_9_a_session_with_a_process_and_one_in_memory_come_to_the_same() {
    let world = World::new();
    let root = world.place.path().canonicalize().unwrap();
    fs::write(root.join("note.txt"), "noted").unwrap();
    let told = json!({ "grants": [{ "path": root, "capabilities": ["read"] }] });
    let calls = [json!(root.join("note.txt")), json!("/etc/hosts"), json!(7)];
    let (arguments, first) = (vec!["files-server".to_owned()], format!("{told}\n").into_bytes());
    let child = launch("process", ChildCommand { arguments, first, ..program(env!("CARGO_BIN_EXE_ropewalk")) });
    let how = in_memory(serde_json::from_value(told).unwrap());
    let pair = Launch { key: "pair".to_owned(), how, ..child.clone() };
    let said = played(&world, &child, &calls).await;
    assert!(said.len() > calls.len() && said[said.len() - 3].to_string().contains("noted"), "{said:?}");
    assert_eq!(said, played(&world, &pair, &calls).await);
}
