//! Rules and settings, set and taken back while work is under way.

use serde_json::{Value, json};

use super::{send, thread};
use crate::{log::text, world::World};

pub(super) fn set(world: &mut World) {
    let decision = world.choose(&["allow", "ask", "ask", "deny"]).unwrap();
    let mut params = json!({"decision": decision});
    match world.below(4) {
        0 => params["source"] = json!("client:bot"),
        _ => {
            let name = world.choose(&["look", "put", "act", "again"]).unwrap();
            params["tool"] = json!({"source": "client:bot", "name": name});
        }
    }
    match (thread(world), world.below(4)) {
        (_, 0) => params["level"] = json!("global"),
        (Some(thread), 1) => {
            let Some(Ok(read)) = world.query("thread/read", json!({"threadId": thread})) else { return };
            params["level"] = json!("project");
            params["projectId"] = read["thread"]["projectId"].clone();
        }
        (Some(thread), _) => {
            params["level"] = json!("thread");
            params["threadId"] = json!(thread);
        }
        (None, _) => return,
    }
    send(world, "policy/set", params);
}

pub(super) fn remove(world: &mut World) {
    let Some(rules) = world.all("policy/list", json!({})) else { return };
    let ids: Vec<String> = rules.iter().map(|rule| text(&rule["policyId"])).collect();
    let Some(id) = world.choose(&ids) else { return };
    send(world, "policy/remove", json!({"policyId": id}));
}

/// A budget of calls, which pauses runs, or none.
pub(super) fn settings(world: &mut World) {
    let calls: Value = if world.chance(0.5) { json!(2) } else { Value::Null };
    send(world, "settings/update", json!({"runMaxToolCalls": calls}));
}
