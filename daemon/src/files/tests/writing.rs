//! `write_file` and `edit_file`.

use std::fs;

use serde_json::{Value, json};

use super::bench::{Client, Ground, text};

#[tokio::test]
async fn a_file_is_made_with_its_directories_and_the_daemon_is_told() {
    let ground = Ground::new();
    let client = Client::of(&ground.all()).await;
    let path = ground.at("new/deep/file.txt");
    let made = client.call("write_file", json!({ "path": path, "content": "hello" })).await;
    assert_eq!(text(&made), format!("Created \"{path}\", 5 bytes."));
    assert_eq!(made.meta.unwrap().0["ropewalk/change"], json!({ "path": path, "change": "created" }));
    let again = client.call("write_file", json!({ "path": path, "content": "again" })).await;
    assert_eq!(again.meta.unwrap().0["ropewalk/change"], json!({ "path": path, "change": "modified" }));
    assert_eq!(fs::read_to_string(&path).unwrap(), "again");
    assert_eq!(fs::read_dir(ground.inside.join("new/deep")).unwrap().count(), 1, "nothing is left beside it");
}

#[tokio::test]
async fn a_file_that_must_not_exist_is_left_alone() {
    let ground = Ground::new();
    let client = Client::of(&ground.all()).await;
    let only_new = |name: &str| json!({ "path": ground.at(name), "content": "x", "ifExists": "fail" });
    let why = client.refusal("write_file", only_new("note.txt")).await;
    assert!(why.contains("exists already"), "{why}");
    assert_eq!(fs::read_to_string(ground.inside.join("note.txt")).unwrap(), "one\ntwo\nthree\n");
    client.text("write_file", only_new("new.txt")).await;
    assert_eq!(ground.names_inside(), ["new.txt", "note.txt"]);
    client.refusal("write_file", json!({ "path": ground.inside, "content": "x" })).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_its_owner_may_read_is_at_no_moment_readable_by_others() {
    use std::{
        os::unix::fs::PermissionsExt,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
    };

    let ground = Ground::new();
    let path = ground.inside.join("note.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let watcher = std::thread::spawn({
        let (over, inside) = (over.clone(), ground.inside.clone());
        move || {
            let mut open = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let found = fs::read_dir(&inside).unwrap().flatten().filter_map(|entry| entry.metadata().ok());
                open.extend(found.map(|it| it.permissions().mode() & 0o7777).filter(|mode| mode & 0o077 != 0));
            }
            open
        }
    });
    let client = Client::of(&ground.all()).await;
    let content = "secret".repeat(50_000);
    for _ in 0..20 {
        client.text("write_file", json!({ "path": path, "content": content })).await;
    }
    over.store(true, Ordering::Relaxed);
    assert_eq!(watcher.join().unwrap(), Vec::<u32>::new());
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;

    let ground = Ground::new();
    let path = ground.inside.join("note.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    let client = Client::of(&ground.all()).await;
    client.text("write_file", json!({ "path": path, "content": "x" })).await;
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o750);
}

#[tokio::test]
async fn edits_are_exact_and_all_or_none() {
    let ground = Ground::new();
    let client = Client::of(&ground.all()).await;
    let path = ground.inside.join("note.txt");
    let edit = |edits: Value| json!({ "path": path, "edits": edits });
    let read = || fs::read_to_string(&path).unwrap();

    let done = client
        .call(
            "edit_file",
            edit(json!([{ "oldText": "one", "newText": "two" }, { "oldText": "two\ntwo", "newText": "2" }])),
        )
        .await;
    assert_eq!(read(), "2\nthree\n", "one after the other");
    assert_eq!(done.meta.unwrap().0["ropewalk/change"]["change"], "modified");

    fs::write(&path, "aaa b").unwrap();
    for (edits, word) in [
        (json!([{ "oldText": "b", "newText": "c" }, { "oldText": "gone", "newText": "" }]), "edit 2 does not occur"),
        (
            json!([{ "oldText": "b", "newText": "c" }, { "oldText": "aa", "newText": "" }]),
            "edit 2 occurs 2 times in the file, in line 1,",
        ),
        (json!([{ "oldText": "", "newText": "x" }]), "empty oldText"),
        (json!([]), "no edits"),
    ] {
        let why = client.refusal("edit_file", edit(edits)).await;
        assert!(why.contains(word), "{why}");
        assert_eq!(read(), "aaa b");
    }
    fs::write(&path, "a".repeat(1 << 20)).unwrap();
    let many = client.refusal("edit_file", edit(json!([{ "oldText": "a".repeat(1 << 19), "newText": "" }]))).await;
    assert!(many.contains("occurs at least 100 times in the file, in line 1 and more, and must"), "{many}");
    fs::write(&path, "one\r\ntwo\r\n").unwrap();
    let lines = client.refusal("edit_file", edit(json!([{ "oldText": "one\ntwo", "newText": "" }]))).await;
    assert!(lines.contains("does not occur in the file (its lines end with CRLF)"), "{lines}");
    client.text("edit_file", edit(json!([{ "oldText": "one\r\ntwo", "newText": "1" }]))).await;
    assert_eq!(read(), "1\r\n", "what is left is as it was");
    client
        .refusal("edit_file", json!({ "path": ground.at("gone"), "edits": [{ "oldText": "a", "newText": "b" }] }))
        .await;
    assert_eq!(ground.names_inside(), ["note.txt"]);
}
