//! What waits on a branch: rewording, reordering, taking back.

use serde_json::{Value, json};

use super::{branches::on_a_branch, scripts::input, send, thread};
use crate::{log::text, world::World};

pub(super) fn edit(world: &mut World) {
    let Some(thread) = thread(world) else { return };
    let of_thread = on_a_branch(world, &thread);
    let Some(Ok(queue)) = world.query("queue/list", of_thread.clone()) else { return };
    let mut waiting: Vec<String> =
        queue["entries"].as_array().unwrap().iter().map(|entry| text(&entry["messageId"])).collect();
    let with = |fields: &[(&str, Value)]| {
        let mut params = of_thread.clone();
        for (name, value) in fields {
            params[*name] = value.clone();
        }
        params
    };
    let Some(message) = world.choose(&waiting) else { return };
    let (method, params) = match world.below(7) {
        0 => ("queue/clear", of_thread.clone()),
        1..=2 => ("queue/remove", with(&[("messageId", json!(message))])),
        3..=4 => {
            waiting.reverse();
            ("queue/reorder", with(&[("messageIds", json!(waiting))]))
        }
        _ => ("queue/update", with(&[("messageId", json!(message)), ("input", input(world))])),
    };
    // Somebody else may be first: what waits has changed since it was looked at.
    let turns = world.below(8);
    world.turns(u32::try_from(turns).unwrap());
    send(world, method, params);
}
