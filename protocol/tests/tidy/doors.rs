//! The one path of every tool call has no second door: what makes, carries or sends a call stands in one place each.
//!
//! The compiler holds the first half. A source takes a `SourceCall`, which has a `Walked`, whose maker is private to
//! `daemon/src/tools/path.rs`, and which can be given away only once. This test holds the other half: that nobody makes that
//! private thing public, and that what a source does with a call is done by that source alone.

use crate::tree::{File, files_with};

/// What is written in one file alone, or in one room, and what it means there.
const DOORS: &[(&str, &str, &str)] = &[
    ("walked: Walked(())", "daemon/src/tools/path.rs", "makes the proof that a call has come along the path"),
    ("= SourceCall {", "daemon/src/tools/path.rs", "makes a call"),
    (".source(&tool).call(", "daemon/src/tools/path.rs", "gives a call to its source"),
    ("InteractionBody::ToolCall(ToolCallRequest {", "daemon/src/engine/run/client_call.rs", "sends a call to a client"),
    ("InteractionBody::Input(InputRequest {", "daemon/src/engine/run/app_tools.rs", "asks a person for a model"),
    (
        "InteractionBody::Approval(Box::new(",
        "daemon/src/engine/run/desk/asking.rs",
        "asks a person whether a call may be made",
    ),
    ("servers.call(", "daemon/src/engine/run/server_call.rs", "gives a call to the servers"),
    ("CallToolRequestParams::new(", "daemon/src/sessions/", "sends a call to a server"),
];

#[test]
fn k24_a_tool_is_called_at_the_end_of_the_one_path_and_nowhere_else() {
    let files = daemon_files();
    for (words, place, what) in DOORS {
        let found: Vec<_> = files.iter().filter(|file| code(file).any(|line| line.contains(words))).collect();
        let strangers: Vec<_> =
            found.iter().filter(|file| !file.path.starts_with(place)).map(|file| &file.path).collect();
        assert!(strangers.is_empty(), "only {place} {what} (`{words}`): {strangers:#?}");
    }
    let path = files.iter().find(|file| file.path == "daemon/src/tools/path.rs").unwrap();
    for (words, _, what) in DOORS.iter().filter(|(_, place, _)| *place == path.path) {
        assert_eq!(path.text.matches(words).count(), 1, "one line of the path {what} (`{words}`)");
    }
}

#[test]
fn k24_the_proof_of_the_path_cannot_be_made_or_copied_elsewhere() {
    let files = daemon_files();
    let text = |path: &str| &files.iter().find(|file| file.path == path).unwrap().text;
    assert!(
        text("daemon/src/tools/path.rs").contains("#[derive(Debug)]\npub struct Walked(());"),
        "it is private inside"
    );
    let call = text("daemon/src/tools/source.rs");
    assert!(call.contains("#[derive(Debug)]\npub struct SourceCall {"), "a call is given away once");
    assert!(call.contains("pub walked: Walked,"), "no call without the proof");
    let maker = |file: &&File| file.text.contains("impl Walked") || file.text.contains("for Walked");
    assert_eq!(files.iter().filter(maker).count(), 0, "nothing else makes one");
}

fn daemon_files() -> Vec<File> {
    let inside = |file: &File| file.path.starts_with("daemon/src/") && !file.is_test();
    files_with(".rs").into_iter().filter(inside).collect()
}

fn code(file: &File) -> impl Iterator<Item = &str> {
    file.text.lines().filter(|line| !line.trim_start().starts_with("//"))
}
