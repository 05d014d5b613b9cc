//! Answers of clients to what they are asked: in time, late, twice, at once, wrong, or none.

use serde_json::{Value, json};

use super::connection;
use crate::{client::Ask, log::text, world::World};

/// A connection that is asked something, and what.
fn asked(world: &mut World) -> Option<(usize, Ask)> {
    let asked: Vec<usize> = (1..world.connections.len()).filter(|at| !world.connections[*at].asks.is_empty()).collect();
    let at = world.choose(&asked)?;
    let asks = world.connections[at].asks.clone();
    world.choose(&asks).map(|ask| (at, ask))
}

pub(super) fn answer(world: &mut World) {
    let Some((at, ask)) = asked(world) else { return };
    let answer = answer_to(world, at, &ask);
    respond(world, at, &ask, &json!({"result": answer}));
}

/// Somebody answers, and a little later somebody stops what that was for.
pub(super) fn then_stop(world: &mut World) {
    let Some((at, ask)) = asked(world) else { return };
    let answer = answer_to(world, at, &ask);
    respond(world, at, &ask, &json!({"result": answer}));
    let turns = world.below(14);
    world.turns(u32::try_from(turns).unwrap());
    let mut params = json!({"threadId": ask.params["threadId"]});
    if world.chance(0.6) {
        params["runId"] = ask.params["runId"].clone();
    }
    super::send(world, "run/stop", params);
}

pub(super) fn settle(world: &mut World) {
    let Some((at, ask)) = asked(world) else { return };
    let answer = answer_to(world, at, &ask);
    // Approvals and questions may be settled by anybody.
    let at = if ask.method == "tool/call" { at } else { connection(world).unwrap_or(at) };
    super::send_on(world, at, "interaction/settle", json!({"interactionId": ask.interaction, "answer": answer}));
}

pub(super) fn twice(world: &mut World) {
    let Some((at, ask)) = asked(world) else { return };
    let first = answer_to(world, at, &ask);
    respond(world, at, &ask, &json!({"result": first}));
    let turns = world.below(40);
    world.turns(u32::try_from(turns).unwrap());
    let second = if world.chance(0.5) { first } else { answer_to(world, at, &ask) };
    super::send_on(world, at, "interaction/settle", json!({"interactionId": ask.interaction, "answer": second}));
}

/// Everybody who is asked the same answers in the same moment.
pub(super) fn at_once(world: &mut World) {
    let Some((_, ask)) = asked(world) else { return };
    for at in 1..world.connections.len() {
        let same = world.connections[at].asks.iter().rev().find(|other| other.interaction == ask.interaction).cloned();
        let Some(ask) = same else { continue };
        let answer = answer_to(world, at, &ask);
        if world.chance(0.5) {
            respond(world, at, &ask, &json!({"result": answer}));
        } else {
            super::send_on(
                world,
                at,
                "interaction/settle",
                json!({"interactionId": ask.interaction, "answer": answer}),
            );
        }
    }
}

pub(super) fn not_i(world: &mut World) {
    let Some((at, ask)) = asked(world) else { return };
    let code = if world.chance(0.5) { -32601 } else { -32000 };
    respond(world, at, &ask, &json!({"error": {"code": code, "message": "Not I."}}));
}

pub(super) fn wrongly(world: &mut World) {
    let Some((at, ask)) = asked(world) else { return };
    let answer = match world.below(4) {
        0 => json!({"decision": "perhaps"}),
        1 => json!({"answers": {"nobody": {"selected": [0]}}}),
        2 => json!({"success": true}),
        _ => json!([1, 2, 3]),
    };
    respond(world, at, &ask, &json!({"result": answer}));
}

pub(super) fn progress(world: &mut World) {
    let Some((at, ask)) = asked(world) else { return };
    let params = json!({"interactionId": ask.interaction, "message": "working", "fraction": 0.5});
    let note = json!({"jsonrpc": "2.0", "method": "tool/progress", "params": params});
    world.connections[at].send(&note);
}

fn respond(world: &mut World, at: usize, ask: &Ask, with: &Value) {
    let mut message = json!({"jsonrpc": "2.0", "id": ask.id});
    for (field, value) in with.as_object().unwrap() {
        message[field] = value.clone();
    }
    let key = world.connections[at].key;
    world.trace.note(&format!("{key} > {message}"));
    world.connections[at].send(&message);
}

/// A valid answer. A handler has one result for a call, however often it is asked for it.
fn answer_to(world: &mut World, at: usize, ask: &Ask) -> Value {
    match ask.method.as_str() {
        "approval/request" => decision(world, ask),
        "input/request" => match world.below(6) {
            0 => json!({"dismissed": true}),
            1 => json!({"declined": true}),
            2 => json!({"answers": {"q": {"selected": [], "other": "neither"}}}),
            number => json!({"answers": {"q": {"selected": [number % 2]}}}),
        },
        _ => {
            let client = world.connections[at].client;
            let known = world.clients[client].work.get(&ask.interaction).and_then(|work| work.result.clone());
            let result = known.unwrap_or_else(|| result(world));
            world.clients[client].work.entry(ask.interaction.clone()).or_default().result = Some(result.clone());
            result
        }
    }
}

fn decision(world: &mut World, ask: &Ask) -> Value {
    let choices: Vec<String> = ask.params["choices"].as_array().unwrap().iter().map(text).collect();
    let decision = if world.chance(0.5) { Some("accept".to_owned()) } else { world.choose(&choices) };
    let mut answer = json!({"decision": decision});
    if answer["decision"] == "acceptAlways" && world.chance(0.3) {
        answer["scope"] = json!("global");
    }
    answer
}

fn result(world: &mut World) -> Value {
    let said = world.word("result");
    match world.below(6) {
        0 => json!({"success": false, "errorCode": "broken", "errorMessage": said}),
        1 => json!({"success": true, "contentItems": [{"type": "text", "text": said}], "structuredContent": {"n": 1}}),
        _ => json!({"success": true, "contentItems": [{"type": "text", "text": said}]}),
    }
}
