//! `read_file`, `list_dir`, `file_info`, and what is told of all tools.

use std::fs;

use serde_json::json;

use super::bench::{Client, Ground, LIMIT};
use crate::tools::Schema;

#[tokio::test]
async fn a_file_is_read_whole_or_by_lines() {
    let ground = Ground::new();
    let client = Client::of(&ground.all()).await;
    let path = ground.at("note.txt");
    let read = async |arguments| client.text("read_file", arguments).await;
    assert_eq!(read(json!({ "path": path })).await, "one\ntwo\nthree\n");
    assert_eq!(read(json!({ "path": path, "startLine": 2 })).await, "two\nthree\n");
    assert_eq!(read(json!({ "path": path, "startLine": 2, "endLine": 2 })).await, "two\n");
    assert_eq!(read(json!({ "path": path, "startLine": 9 })).await, "[no lines: the file has 3]");
    assert_eq!(
        read(json!({ "path": path, "startLine": 3, "endLine": 2 })).await,
        "[no lines: endLine 2 is before startLine 3]"
    );
    fs::write(ground.inside.join("empty"), "").unwrap();
    assert_eq!(read(json!({ "path": ground.at("empty") })).await, "[the file is empty]");
    let data = client.data("read_file", json!({ "path": path, "startLine": 2 })).await;
    assert_eq!(data, json!({ "path": path, "startLine": 2, "lines": 2, "sizeBytes": 14 }));
}

#[tokio::test]
async fn a_long_file_is_cut_at_a_line_and_says_how_to_go_on() {
    let ground = Ground::new();
    let client = Client::of(&ground.all()).await;
    let line = format!("{}\n", "ä".repeat(999));
    fs::write(ground.inside.join("long"), line.repeat(300)).unwrap();
    let path = ground.at("long");
    let text = client.text("read_file", json!({ "path": path })).await;
    assert!(
        text.ends_with("\n[cut: the answer is full; ask again with startLine 263]\n"),
        "{}",
        &text[text.len() - 80..]
    );
    let data = client.data("read_file", json!({ "path": path })).await;
    assert_eq!((data["lines"].as_u64(), data["nextLine"].as_u64()), (Some(262), Some(263)));
    let rest = client.data("read_file", json!({ "path": path, "startLine": 263 })).await;
    assert_eq!((rest["lines"].as_u64(), rest["nextLine"].as_u64()), (Some(38), None));

    fs::write(ground.inside.join("line"), "x".repeat(300_000)).unwrap();
    let text = client.text("read_file", json!({ "path": ground.at("line") })).await;
    let how = "ask again with startLine 1 and startCharacter 262145";
    assert!(text.ends_with(&format!("\n[cut: line 1 has 300000 characters; {how}]\n")), "{}", &text[text.len() - 90..]);
    let rest = json!({ "path": ground.at("line"), "startLine": 1, "startCharacter": 262_145 });
    assert_eq!(client.text("read_file", rest).await, "x".repeat(300_000 - 262_144));
    client.refusal("read_file", json!({ "path": path, "startCharacter": 0 })).await;
}

#[tokio::test]
async fn what_is_no_text_is_said_to_be_none() {
    let ground = Ground::new();
    let client = Client::of(&ground.all()).await;
    fs::write(ground.inside.join("image"), b"\x89PNG\0\0").unwrap();
    fs::write(ground.inside.join("latin"), b"caf\xe9\n").unwrap();
    for (name, word) in [("image", "binary"), ("latin", "not UTF-8"), ("", "a directory, not a file")] {
        let why = client.refusal("read_file", json!({ "path": ground.at(name) })).await;
        assert!(why.contains(word), "{why}");
    }
    let why = client.refusal("read_file", json!({ "path": ground.at("gone") })).await;
    assert!(why.ends_with("gone\" does not exist"), "{why}");
}

#[cfg(unix)]
#[tokio::test]
async fn special_files_are_refused_and_never_waited_for() {
    let ground = Ground::new();
    let pipe = ground.inside.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let client = Client::of(&ground.all()).await;
    for (tool, arguments) in super::bench::every_tool(&pipe) {
        let called = tokio::time::timeout(LIMIT, client.call(tool, arguments)).await.unwrap();
        assert_eq!(called.is_error == Some(true), tool != "file_info", "{tool}: {called:?}");
    }
    let found = client.data("grep_files", json!({ "path": ground.inside, "pattern": "one" })).await;
    assert_eq!(found["filesSearched"], 1);
    let listed = client.text("list_dir", json!({ "path": ground.inside })).await;
    assert_eq!(listed, "note.txt (14 bytes)\npipe (special)\n");
}

#[tokio::test]
async fn directories_are_listed_by_name_within_a_bound() {
    let ground = Ground::new();
    fs::create_dir(ground.inside.join("below")).unwrap();
    let client = Client::of(&ground.all()).await;
    let text = client.text("list_dir", json!({ "path": ground.inside })).await;
    assert_eq!(text, "below/\nnote.txt (14 bytes)\n");
    let data = client.data("list_dir", json!({ "path": ground.inside, "maxEntries": 1 })).await;
    assert_eq!(data["entries"], json!([{ "name": "below", "kind": "directory" }]));
    assert_eq!(data["truncated"], true);
    assert_eq!(client.text("list_dir", json!({ "path": ground.at("below") })).await, "[the directory is empty]");
}

#[tokio::test]
async fn a_path_is_told_about() {
    let ground = Ground::new();
    let client = Client::of(&ground.all()).await;
    let data = client.data("file_info", json!({ "path": ground.at("note.txt") })).await;
    assert_eq!((data["kind"].as_str(), data["sizeBytes"].as_u64()), (Some("file"), Some(14)));
    assert_eq!(client.data("file_info", json!({ "path": ground.inside })).await["kind"], "directory");
}

#[tokio::test]
async fn every_tool_says_what_it_takes_what_it_gives_and_what_it_may_do() {
    let ground = Ground::new();
    let client = Client::of(&ground.all()).await;
    let tools = client.0.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["read_file", "write_file", "edit_file", "list_dir", "find_files", "grep_files", "file_info"]);
    let path = ground.inside.clone();
    for tool in &tools {
        let annotations = tool.annotations.as_ref().unwrap();
        let writes = matches!(&*tool.name, "write_file" | "edit_file");
        assert_eq!(annotations.read_only_hint, Some(!writes), "{}", tool.name);
        assert_eq!(annotations.open_world_hint, Some(false));
        assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
    }
    let write = &tools[1].input_schema;
    assert_eq!(write["required"], json!(["path", "content"]));
    assert_eq!(write["properties"]["ifExists"]["enum"], json!(["replace", "fail"]));
    assert_eq!(write["properties"]["ifExists"]["default"], "replace");
    for (tool, arguments) in super::bench::every_tool(&path.join("note.txt")) {
        let arguments = match tool {
            "list_dir" | "find_files" => json!({ "path": path, "pattern": "*" }),
            "edit_file" => json!({ "path": path.join("note.txt"), "edits": [{ "oldText": "mine", "newText": "two" }] }),
            _ => arguments,
        };
        let mut arguments = arguments;
        if tool == "list_dir" {
            arguments.as_object_mut().unwrap().remove("pattern");
        }
        let data = client.data(tool, arguments).await;
        let listed = tools.iter().find(|listed| listed.name == tool).unwrap();
        let schema = serde_json::to_value(listed.output_schema.as_ref().unwrap()).unwrap();
        Schema::compile(&schema).unwrap().check(&data).unwrap();
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_named() {
    let ground = Ground::new();
    let client = Client::of(&ground.all()).await;
    let why = client.refusal("read_file", json!({ "path": ground.at("note.txt"), "startLine": "two" })).await;
    assert!(why.contains("startLine"), "{why}");
    let why = client.refusal("read_file", json!({ "path": ground.at("note.txt"), "startLine": 0 })).await;
    assert!(why.contains("counted from 1"), "{why}");
}
