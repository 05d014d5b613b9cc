//! What is refused, and that it is refused without effect.

use std::{fs, path::Path};

use ropewalk_protocol::Capability;
use serde_json::json;

use super::bench::{Client, Ground, every_tool};
use crate::files::Told;

async fn assert_all_refused(ground: &Ground, client: &Client, path: &Path, word: &str) {
    for (tool, arguments) in every_tool(path) {
        let why = client.refusal(tool, arguments).await;
        assert!(why.contains(word), "{tool}: {why}");
    }
    ground.assert_nothing_happened_outside();
}

#[tokio::test]
async fn app_162_a_server_that_is_called_without_grants_refuses_everything() {
    let ground = Ground::new();
    let client = Client::of(&[]).await;
    assert_all_refused(&ground, &client, &ground.outside.join("secret.txt"), "no directory is granted").await;
}

#[tokio::test]
async fn app_167_no_grants_and_grants_of_nothing_are_never_a_grant_of_everything() {
    let ground = Ground::new();
    let gone = crate::files::Grant { path: ground.at("gone"), capabilities: vec![Capability::Read, Capability::Write] };
    let relative = crate::files::Grant { path: ".".to_owned(), ..gone.clone() };
    for grants in [vec![], vec![gone], vec![relative]] {
        let client = Client::of(&grants).await;
        for (tool, arguments) in every_tool(&ground.inside.join("note.txt")) {
            let why = client.refusal(tool, arguments).await;
            assert!(why.contains("no directory is granted"), "{tool}: {why}");
        }
    }
    assert_eq!(ground.names_inside(), ["note.txt"]);
}

#[tokio::test]
async fn app_163_a_relative_path_is_refused_by_its_name() {
    let ground = Ground::new();
    let client = Client::of(&ground.all()).await;
    for path in ["note.txt", "./note.txt", "../outside/secret.txt", "~/note.txt", ""] {
        assert_all_refused(&ground, &client, Path::new(path), &format!("\"{path}\" is relative")).await;
    }
}

#[tokio::test]
async fn app_164_two_dots_lead_nowhere_that_is_not_granted() {
    let ground = Ground::new();
    let client = Client::of(&ground.all()).await;
    for path in ["../outside/secret.txt", "./../outside/secret.txt", "../inside/../outside/secret.txt"] {
        assert_all_refused(&ground, &client, &ground.inside.join(path), "outside of the granted").await;
    }
    // Behind what does not exist they lead nowhere, whatever the text of the path comes to.
    assert_all_refused(&ground, &client, &ground.inside.join("gone/../note.txt"), "does not exist").await;
    fs::create_dir(ground.inside.join("below")).unwrap();
    let text = client.text("read_file", json!({ "path": ground.at("below/../note.txt") })).await;
    assert_eq!(text, "one\ntwo\nthree\n");
}

#[tokio::test]
async fn app_164_a_name_that_begins_like_the_granted_directory_is_another_directory() {
    let ground = Ground::new();
    let beside = ground.inside.with_file_name("inside-not");
    fs::create_dir(&beside).unwrap();
    let client = Client::of(&ground.all()).await;
    assert_all_refused(&ground, &client, &beside.join("secret.txt"), "outside of the granted").await;
    assert_eq!(fs::read_dir(&beside).unwrap().count(), 0);
}

#[cfg(unix)]
#[tokio::test]
async fn app_165_links_out_of_the_grant_are_refused_wherever_they_are_in_the_path() {
    use std::os::unix::fs::symlink;

    let ground = Ground::new();
    symlink(&ground.outside, ground.inside.join("absolute")).unwrap();
    symlink("../outside", ground.inside.join("up")).unwrap();
    symlink("absolute", ground.inside.join("chain")).unwrap();
    symlink("../outside/secret.txt", ground.inside.join("file")).unwrap();
    symlink("../outside/made.txt", ground.inside.join("dangling")).unwrap();
    let client = Client::of(&ground.all()).await;
    for path in ["absolute/secret.txt", "up/secret.txt", "chain/secret.txt", "file", "dangling", "up/made/deep.txt"] {
        assert_all_refused(&ground, &client, &ground.inside.join(path), "outside of the granted").await;
    }
    let lines = client.data("grep_files", json!({ "path": ground.inside, "pattern": "secret" })).await;
    assert_eq!(lines["matches"], json!([]), "a search does not follow links");
}

#[cfg(unix)]
#[tokio::test]
async fn app_165_a_granted_directory_that_became_a_link_grants_nothing() {
    let ground = Ground::new();
    let grants = ground.all();
    fs::rename(&ground.inside, ground.inside.with_extension("moved")).unwrap();
    std::os::unix::fs::symlink(&ground.outside, &ground.inside).unwrap();
    let client = Client::of(&grants).await;
    for path in [ground.inside.join("secret.txt"), ground.outside.join("secret.txt")] {
        assert_all_refused(&ground, &client, &path, "").await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn app_165_links_that_stay_inside_are_followed_and_those_in_a_circle_end() {
    use std::os::unix::fs::symlink;

    let ground = Ground::new();
    symlink(ground.inside.join("note.txt"), ground.inside.join("link")).unwrap();
    symlink("circle", ground.inside.join("circle")).unwrap();
    let client = Client::of(&ground.all()).await;
    assert_eq!(client.text("read_file", json!({ "path": ground.at("link") })).await, "one\ntwo\nthree\n");
    client.text("write_file", json!({ "path": ground.at("link"), "content": "new" })).await;
    assert_eq!(fs::read_to_string(ground.inside.join("note.txt")).unwrap(), "new");
    assert!(ground.inside.join("link").is_symlink(), "the link stays one");
    assert_all_refused(&ground, &client, &ground.inside.join("circle"), "too many links").await;
}

#[tokio::test]
async fn app_166_a_grant_allows_what_it_names_and_no_more() {
    let ground = Ground::new();
    let reader = Client::of(&[ground.grant(&[Capability::Read])]).await;
    for (tool, arguments) in every_tool(&ground.inside.join("note.txt")) {
        if matches!(tool, "write_file" | "edit_file") {
            let why = reader.refusal(tool, arguments).await;
            assert!(why.contains("without the capability to write"), "{tool}: {why}");
        }
    }
    let made = reader.refusal("write_file", json!({ "path": ground.at("a/b.txt"), "content": "" })).await;
    assert!(made.contains("without the capability to write"), "{made}");
    assert_eq!(ground.names_inside(), ["note.txt"]);
    assert_eq!(reader.text("read_file", json!({ "path": ground.at("note.txt") })).await, "one\ntwo\nthree\n");

    let writer = Client::of(&[ground.grant(&[Capability::Write])]).await;
    for (tool, arguments) in every_tool(&ground.inside.join("note.txt")) {
        if tool != "write_file" {
            let why = writer.refusal(tool, arguments).await;
            assert!(why.contains("without the capability to read"), "{tool}: {why}");
        }
    }
    writer.text("write_file", json!({ "path": ground.at("note.txt"), "content": "new" })).await;
    assert_eq!(fs::read_to_string(ground.inside.join("note.txt")).unwrap(), "new");
}

#[tokio::test]
async fn app_166_a_grant_inside_another_adds_to_it() {
    let ground = Ground::new();
    fs::create_dir(ground.inside.join("below")).unwrap();
    let below = crate::files::Grant { path: ground.at("below"), capabilities: vec![Capability::Write] };
    let client = Client::of(&[ground.grant(&[Capability::Read]), below]).await;
    client.text("write_file", json!({ "path": ground.at("below/new.txt"), "content": "x" })).await;
    assert_eq!(client.text("read_file", json!({ "path": ground.at("below/new.txt") })).await, "x");
    let edit = json!({ "path": ground.at("below/new.txt"), "edits": [{ "oldText": "x", "newText": "y" }] });
    client.text("edit_file", edit).await;
    client.refusal("write_file", json!({ "path": ground.at("new.txt"), "content": "x" })).await;
    assert_eq!(ground.names_inside(), ["below", "note.txt"]);
}

#[cfg(unix)]
#[tokio::test]
async fn app_162_where_the_daemon_lives_is_closed_whatever_is_granted() {
    use std::os::unix::fs::symlink;

    let ground = Ground::new();
    let home = ground.inside.join("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("secrets"), "secret").unwrap();
    symlink(&home, ground.inside.join("link")).unwrap();
    let within = crate::files::Grant { path: home.display().to_string(), ..ground.all().remove(0) };
    for grants in [ground.all(), vec![within]] {
        let closed = vec![home.clone()];
        let client = Client::told(&Told { grants: grants.clone(), closed }).await;
        for path in ["home/secrets", "home/made/deep.txt", "link/secrets", "home/../link/secrets"] {
            for (tool, arguments) in every_tool(&ground.inside.join(path)) {
                let why = client.refusal(tool, arguments).await;
                assert!(why.contains("the daemon's own home"), "{tool} {path}: {why}");
            }
        }
        assert_eq!(fs::read_to_string(home.join("secrets")).unwrap(), "secret");
        assert_eq!(fs::read_dir(&home).unwrap().count(), 1);
    }
    let client = Client::told(&Told { grants: ground.all(), closed: vec![home] }).await;
    let found = client.data("find_files", json!({ "path": ground.inside, "pattern": "*" })).await;
    assert_eq!(found["paths"], json!([ground.at("note.txt")]), "what looks below passes it over");
    let lines = client.data("grep_files", json!({ "path": ground.inside, "pattern": "secret" })).await;
    assert_eq!(lines["matches"], json!([]));
}
