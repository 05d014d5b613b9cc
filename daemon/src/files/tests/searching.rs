//! `find_files`, `grep_files` and the dialect they look in.

use std::fs;

use cap_std::{ambient_authority, fs::Dir};
use serde_json::json;

use super::bench::{Client, Ground};
use crate::files::{
    refusal::Refusal,
    tools::Stop,
    walk::{Stopped, walk},
};

fn planted() -> Ground {
    let ground = Ground::new();
    for (name, content) in [
        ("src/main.rs", "fn main() {}\n"),
        ("src/deep/lib.rs", "// MAIN (1)\n"),
        (".git/config", "main"),
        ("a.md", "main"),
    ] {
        let path = ground.inside.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    ground
}

#[tokio::test]
async fn files_are_found_by_name_at_any_depth_or_by_their_path() {
    let ground = planted();
    let client = Client::of(&ground.all()).await;
    let find = async |pattern| client.text("find_files", json!({ "path": ground.inside, "pattern": pattern })).await;
    let [main, lib] = [ground.at("src/main.rs"), ground.at("src/deep/lib.rs")];
    assert_eq!(find("*.rs").await, format!("{lib}\n{main}"));
    assert_eq!(find("src/*.rs").await, main);
    assert_eq!(find("src/**/*.rs").await, format!("{lib}\n{main}"));
    assert_eq!(find("config").await, "[no file has such a name]");
    let data = client.data("find_files", json!({ "path": ground.inside, "pattern": "*.rs", "maxResults": 1 })).await;
    assert_eq!(data, json!({ "paths": [lib], "truncated": true }));
    let why = client.refusal("find_files", json!({ "path": ground.inside, "pattern": "[" })).await;
    assert!(why.contains("\"[\" cannot be used"), "{why}");
}

#[tokio::test]
async fn lines_are_found_literally_unless_asked_otherwise() {
    let ground = planted();
    let client = Client::of(&ground.all()).await;
    let grep = async |mut arguments: serde_json::Value| {
        arguments["path"] = json!(ground.inside.join("src"));
        client.text("grep_files", arguments).await
    };
    let [main, lib] = [ground.at("src/main.rs"), ground.at("src/deep/lib.rs")];
    assert_eq!(grep(json!({ "pattern": "main()" })).await, format!("{main}:1:fn main() {{}}\n"));
    let both = format!("{lib}:1:// MAIN (1)\n{main}:1:fn main() {{}}\n");
    assert_eq!(grep(json!({ "pattern": "main", "ignoreCase": true })).await, both);
    assert_eq!(grep(json!({ "pattern": r"\(\d\)$", "isRegex": true })).await, format!("{lib}:1:// MAIN (1)\n"));
    assert_eq!(
        grep(json!({ "pattern": "main", "ignoreCase": true, "glob": "lib.*" })).await,
        format!("{lib}:1:// MAIN (1)\n")
    );
    assert_eq!(grep(json!({ "pattern": "nothing" })).await, "[no line has it, in 2 files]");
    let cut = grep(json!({ "pattern": "main", "ignoreCase": true, "maxMatches": 1 })).await;
    assert!(cut.starts_with(&lib) && cut.contains("[cut:"), "{cut}");
}

#[tokio::test]
async fn files_that_cannot_be_searched_are_counted() {
    let ground = Ground::new();
    fs::write(ground.inside.join("binary"), b"one\0").unwrap();
    let client = Client::of(&ground.all()).await;
    let data = client.data("grep_files", json!({ "path": ground.inside, "pattern": "one" })).await;
    assert_eq!(data["filesSkipped"], 1);
    assert_eq!(data["matches"], json!([{ "path": ground.at("note.txt"), "line": 1, "text": "one" }]));
    fs::write(ground.inside.join("note.txt"), format!("{}needle{}", "x".repeat(5000), "y".repeat(5000))).unwrap();
    let data = client.data("grep_files", json!({ "path": ground.at("note.txt"), "pattern": "needle" })).await;
    let line = data["matches"][0]["text"].as_str().unwrap();
    assert!(line.contains("xneedley") && line.chars().count() < 410, "{line}");
}

#[tokio::test]
async fn answers_are_bounded_however_much_is_asked_for() {
    const MOST: usize = 262_144;
    let ground = Ground::new();
    let below = ground.inside.join("below");
    fs::create_dir(&below).unwrap();
    for number in 0..1_200 {
        fs::write(below.join(format!("{number:04}-{}", "n".repeat(235))), "").unwrap();
    }
    fs::write(ground.inside.join("lines"), format!("x{}\n", "y".repeat(390)).repeat(2_000)).unwrap();
    let client = Client::of(&ground.all()).await;
    for (tool, arguments, list) in [
        ("list_dir", json!({ "path": below, "maxEntries": 10_000 }), "entries"),
        ("find_files", json!({ "path": below, "pattern": "*", "maxResults": 10_000 }), "paths"),
        ("grep_files", json!({ "path": ground.inside, "pattern": "xy", "maxMatches": 2_000 }), "matches"),
    ] {
        let text = client.text(tool, arguments.clone()).await;
        // What says that it was cut comes after.
        assert!((MOST - 1_000..MOST + 200).contains(&text.chars().count()), "{tool}: {}", text.chars().count());
        assert!(text.contains("[cut: "), "{tool}");
        let data = client.data(tool, arguments).await;
        assert!(data["truncated"] == true && data[list].as_array().unwrap().len() > 100, "{tool}");
    }
}

#[test]
fn a_search_ends_where_it_is_when_its_call_is_taken_back() {
    let ground = planted();
    let dir = Dir::open_ambient_dir(&ground.inside, ambient_authority()).unwrap();
    let stop = Stop::default();
    let mut seen = 0;
    let ended = walk(
        dir,
        &stop,
        |_, _| true,
        |_, _, _| {
            seen += 1;
            stop.0.cancel();
            Ok(true)
        },
    );
    assert!(matches!(ended, Err(Stopped::Refused(Refusal::Cancelled))), "{ended:?}");
    assert_eq!(seen, 1);
}

#[cfg(unix)]
#[tokio::test]
async fn app_165_a_name_cannot_end_its_line_and_look_like_another_file() {
    let ground = Ground::new();
    for name in ["plain.txt", "\"quoted", "turned\u{202e}txt"] {
        fs::write(ground.inside.join(name), "text").unwrap();
    }
    fs::write(ground.inside.join("a.txt (3 bytes)\npasswd"), "text").unwrap();
    let client = Client::of(&ground.all()).await;
    let listed = client.text("list_dir", json!({ "path": ground.inside })).await;
    let quoted = ["\"\\\"quoted\" (4 bytes)", "\"a.txt (3 bytes)\\npasswd\" (4 bytes)"];
    let rest = ["note.txt (14 bytes)", "plain.txt (4 bytes)", "\"turned\\u{202e}txt\" (4 bytes)"];
    assert_eq!(listed.lines().collect::<Vec<_>>(), [&quoted[..], &rest[..]].concat());
    let found = client.text("find_files", json!({ "path": ground.inside, "pattern": "*" })).await;
    assert_eq!(found.lines().count(), 5, "{found}");
    assert!(found.contains(&format!("\"{}/a.txt (3 bytes)\\npasswd\"", ground.inside.display())), "{found}");
    let lines = client.text("grep_files", json!({ "path": ground.inside, "pattern": "text" })).await;
    assert_eq!(lines.lines().count(), 4, "{lines}");
}
