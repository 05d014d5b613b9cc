//! The rooms of the daemon and who may know whom. Nothing points upward; `domain` is pure.

use std::collections::BTreeSet;

use crate::tree::{File, files_with};

/// Each room and the rooms it may import from, in the order in which a reader needs them. `docs/architecture.md` says
/// what lives in each.
const ROOMS: &[(&str, &[&str])] = &[
    ("clock", &[]),
    ("page", &[]),
    ("files", &[]),
    ("domain", &[]),
    ("store", &["clock", "domain"]),
    ("models", &["clock", "domain"]),
    ("context", &["domain", "models"]),
    ("tools", &["clock", "context", "domain", "models"]),
    ("sessions", &["clock", "context", "domain", "tools"]),
    ("app", &["context", "page", "tools"]),
    ("secrets", &["domain", "store"]),
    ("catalogue", &["clock", "domain", "page", "secrets", "store", "tools"]),
    ("engine", &["catalogue", "clock", "context", "domain", "models", "page", "secrets", "store", "tools"]),
    ("peer", &["catalogue", "clock", "domain", "engine", "page", "store", "tools"]),
    (
        "daemon",
        &[
            "app",
            "catalogue",
            "clock",
            "context",
            "domain",
            "engine",
            "files",
            "models",
            "page",
            "peer",
            "secrets",
            "sessions",
            "store",
            "tools",
        ],
    ),
    ("methods", &["catalogue", "clock", "daemon", "domain", "engine", "models", "page", "peer", "tools"]),
    ("dispatch", &["app", "clock", "daemon", "engine", "methods", "peer", "store", "tools"]),
    ("connection", &["clock", "daemon", "dispatch", "engine", "peer"]),
    ("server", &["clock", "connection", "daemon", "dispatch", "store"]),
    (
        "start",
        &["clock", "connection", "daemon", "engine", "methods", "models", "secrets", "server", "sessions", "store"],
    ),
    (
        "embed",
        &["clock", "connection", "daemon", "methods", "models", "secrets", "server", "sessions", "start", "store"],
    ),
    ("cli", &["daemon", "embed", "files", "server", "sessions", "start"]),
];

/// What a room knows of one above it: a handler receives the dispatcher's types, and nothing else of it.
const EXCEPTIONS: &[(&str, &str)] = &[("methods", "dispatch")];

#[test]
fn app_11_no_room_of_the_daemon_knows_one_above_it() {
    let mut wrong = Vec::new();
    for file in daemon_files() {
        let Some(room) = room(&file) else { continue };
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            wrong.push(format!("{}: the room `{room}` is not in the list of layers", file.path));
            continue;
        };
        for other in imports(&file) {
            let known = other == room || allowed.contains(&&*other) || EXCEPTIONS.contains(&(&*room, &*other));
            if !known && ROOMS.iter().any(|(name, _)| *name == other) {
                wrong.push(format!("{}: `{room}` may not know `{other}`", file.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_list_of_layers_has_no_cycle() {
    let mut settled = BTreeSet::new();
    while settled.len() < ROOMS.len() {
        let ready: Vec<_> = ROOMS
            .iter()
            .filter(|(name, knows)| !settled.contains(name) && knows.iter().all(|other| settled.contains(other)))
            .map(|(name, _)| *name)
            .collect();
        assert!(!ready.is_empty(), "these know each other in a circle: {:?}", unsettled(&settled));
        settled.extend(ready);
    }
}

#[test]
fn domain_is_pure() {
    let outside =
        ["async ", "tokio", "std::fs", "std::net", "std::time", "serde_json::to_", "serde_json::from_", "::now()"];
    let mut wrong = Vec::new();
    for file in daemon_files().iter().filter(|file| room(file).as_deref() == Some("domain") && !file.is_test()) {
        for (number, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            if outside.iter().any(|word| line.contains(word)) {
                wrong.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "domain decides and touches nothing: {wrong:#?}");
}

#[test]
fn libraries_whose_types_are_everywhere_in_their_room_stay_in_it() {
    for (library, room) in [("rig_core::", "daemon/src/models/rig/"), ("sled::", "daemon/src/store/")] {
        let strangers: Vec<_> = daemon_files()
            .iter()
            .filter(|file| !file.is_test() && !file.path.starts_with(room) && file.text.contains(library))
            .map(|file| file.path.clone())
            .collect();
        assert!(strangers.is_empty(), "{library} is for {room} alone: {strangers:#?}");
    }
}

#[test]
fn only_the_command_line_and_embedding_know_the_sdk() {
    let strangers: Vec<_> = daemon_files()
        .iter()
        .filter(|file| !matches!(room(file).as_deref(), None | Some("cli" | "embed")) && !file.is_test())
        .filter(|file| file.text.contains("use ropewalk::"))
        .map(|file| file.path.clone())
        .collect();
    assert!(strangers.is_empty(), "{strangers:#?}");
}

fn unsettled(settled: &BTreeSet<&str>) -> Vec<&'static str> {
    ROOMS.iter().map(|(name, _)| *name).filter(|name| !settled.contains(name)).collect()
}

fn daemon_files() -> Vec<File> {
    files_with(".rs").into_iter().filter(|file| file.path.starts_with("daemon/src/")).collect()
}

/// The room a file is in; `lib.rs` and `main.rs` put the rooms together and are in none.
fn room(file: &File) -> Option<String> {
    let inside = file.path.strip_prefix("daemon/src/").unwrap();
    let room = inside.split('/').next().unwrap().trim_end_matches(".rs");
    (!matches!(room, "lib" | "main")).then(|| room.to_owned())
}

/// The rooms a file names after `crate::`, in code and not in comments; tests may know everything.
fn imports(file: &File) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if file.is_test() {
        return names;
    }
    let code: String =
        file.text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect();
    for (_, rest) in code.match_indices("crate::").map(|(at, found)| code[at..].split_at(found.len())) {
        match rest.strip_prefix('{') {
            Some(group) => names.extend(top_level(group)),
            None => names.extend(word(rest)),
        }
    }
    names
}

/// The first words of a group of imports: `{a::{b, c}, d}` has `a` and `d`.
fn top_level(group: &str) -> Vec<String> {
    let mut depth = 0_u32;
    let mut names = Vec::new();
    let mut item = String::new();
    for character in group.chars() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.extend(word(std::mem::take(&mut item).trim())),
            other if depth == 0 => item.push(other),
            _ => {}
        }
    }
    names.extend(word(item.trim()));
    names
}

fn word(text: &str) -> Option<String> {
    let word: String =
        text.chars().take_while(|character| character.is_ascii_lowercase() || *character == '_').collect();
    (!word.is_empty()).then_some(word)
}
