//! Servers of an owner beside what is known of their sessions.

use ropewalk_protocol::{ServerId, ServerUpdateParams};
use serde_json::{Value, json};

use super::OwnedServers;
use crate::{
    catalogue::Caller,
    daemon::ServerBook,
    engine::tests::life::{Life, soon},
};

async fn added(life: &Life) -> ServerId {
    let params = serde_json::from_value(json!({ "command": "/bin/none", "name": "notes" })).unwrap();
    let (caller, show) = (Caller { client: None, operation: None }, life.daemon.owned.show());
    soon(life.daemon.catalogue.add_server(caller, params, show)).await.unwrap().server.server_id
}

async fn update(life: &Life, id: &ServerId, mut change: Value) {
    change["serverId"] = json!(id);
    let params: ServerUpdateParams = serde_json::from_value(change).unwrap();
    let (caller, show) = (Caller { client: None, operation: None }, life.daemon.owned.show());
    soon(life.daemon.catalogue.update_server(caller, params, show)).await.unwrap();
}

fn version(owned: &OwnedServers, id: &ServerId) -> Option<String> {
    owned.launch_of(&owned.record(id).unwrap()).unwrap().version
}

#[tokio::test]
async fn what_a_program_speaks_is_kept_until_it_is_another_program_or_does_not_start_with_it() {
    let life = Life::first().await;
    let (owned, id) = (life.daemon.owned.clone(), added(&life).await);
    let old = Some("2025-11-25");
    assert_eq!(version(&owned, &id), None);
    owned.negotiated(&id, old);
    assert_eq!(version(&owned, &id).as_deref(), old);
    update(&life, &id, json!({ "name": "other" })).await;
    assert_eq!(version(&owned, &id).as_deref(), old, "a name is no part of the program");
    update(&life, &id, json!({ "args": ["--new"] })).await;
    assert_eq!(version(&owned, &id), None);
    owned.negotiated(&id, old);
    owned.negotiated(&id, None);
    assert_eq!(version(&owned, &id), None, "it is asked anew");
}
