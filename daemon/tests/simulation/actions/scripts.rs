//! What users say: scripts for the scripted model, put together at random.

use serde_json::{Value, json};

use crate::world::World;

/// The tools that clients declare.
const TOOLS: [&str; 4] = ["look", "put", "act", "again"];

/// Declarations of some of the tools.
pub(crate) fn declarations(world: &mut World) -> Value {
    let declared = TOOLS.iter().filter(|_| world.chance(0.7)).map(|name| declaration(name)).collect::<Vec<_>>();
    json!(declared)
}

/// The declaration of a tool: one only reads, one may be repeated, one wants to be asked about.
pub(crate) fn declaration(name: &str) -> Value {
    let mut tool = json!({
        "name": name,
        "description": format!("Does {name}."),
        "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
    });
    match name {
        "look" => tool["annotations"] = json!({"readOnlyHint": true}),
        "again" => tool["annotations"] = json!({"idempotentHint": true}),
        "put" => {}
        _ => tool["approval"] = json!("ask"),
    }
    tool
}

/// An input: mostly a script of one to three steps.
pub(crate) fn input(world: &mut World) -> Value {
    if world.chance(0.15) {
        return text(&world.word("hello"));
    }
    if world.chance(0.02) {
        // Longer than what a log holds in its lines.
        return text(&format!("{} {}", world.word("long"), "and so on ".repeat(2_000)));
    }
    let mut script = Vec::new();
    for step in 0..=world.below(3) {
        if step > 0 {
            script.push("then".to_owned());
        }
        for _ in 0..=world.below(3) {
            script.push(line(world));
        }
    }
    text(&script.join("\n"))
}

/// An input of one text.
pub(crate) fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn line(world: &mut World) -> String {
    let number = world.below(100);
    match world.below(20) {
        0..=9 => {
            let tool = world.choose(&["look", "put", "act", "again", "act", "nothing"]).unwrap();
            let arguments = world.choose(&["{\"n\":1}", "{\"n\":\"no number\"}", "", "{\"n\":", "{\"n\":2,\"m\":{}}"]);
            format!("call {tool} {}", arguments.unwrap())
        }
        10..=11 => "call ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"Which?\",\"options\":[{\"label\":\"a\"},\
                    {\"label\":\"b\"}]}]}"
            .to_owned(),
        12..=13 => format!("say some words {number}\nsay and a second line"),
        14 => format!("think about {number}"),
        15 => format!("sleep {}", [10, 1_500, 40_000, 400_000][world.below(4)]),
        16 => {
            let kinds = ["rateLimited", "overloaded", "cutOff", "badRequest", "contextWindow", "stalled"];
            format!("say half\nfail {}", world.choose(&kinds).unwrap())
        }
        17 if number < 15 => format!("say {}", "very long words ".repeat(1_500)),
        17 => format!("say {}", "long words ".repeat(200)),
        _ => format!("say {number}"),
    }
}
