//! What a window is divided into, and what of layers and tools fits.

use ropewalk_protocol::{ContextLayerName, SourceKind};

use crate::context::{
    Budgets,
    layers::{LayerTexts, WorkspaceFile, joined, layers, sources},
    tools::{Candidate, left_out},
};

const NAMES: [ContextLayerName; 5] = [
    ContextLayerName::Base,
    ContextLayerName::ProjectInstructions,
    ContextLayerName::WorkspaceFiles,
    ContextLayerName::MemoryIndex,
    ContextLayerName::RunLine,
];

#[test]
fn every_window_leaves_room_for_messages_beside_all_that_is_full() {
    for window in [4_096, 8_000, 32_000, 128_000, 1_000_000, u64::MAX / 2] {
        let budgets = Budgets::of(window, None);
        let layers: u64 = NAMES.iter().map(|name| budgets.layer(*name)).sum();
        assert!(layers + budgets.tools + budgets.summary < budgets.threshold, "{window}: {budgets:?}");
        assert!(budgets.threshold < budgets.request && budgets.request < window);
    }
}

#[test]
fn an_output_limit_is_kept_free_and_one_as_large_as_the_window_leaves_half() {
    assert_eq!(Budgets::of(8_000, None).request, 7_000);
    assert_eq!(Budgets::of(8_000, Some(3_000)).request, 5_000);
    assert_eq!(Budgets::of(8_000, Some(8_000)).request, 4_000);
    assert_eq!(Budgets::of(1_000_000, None).request, 1_000_000 - 16_384);
}

#[test]
fn layers_come_in_their_order_and_only_those_with_text_are_sent() {
    let texts = LayerTexts {
        thread: Some("THREAD".to_owned()),
        project: Some("PROJECT".to_owned()),
        files: vec![WorkspaceFile { path: "/w/AGENTS.md".to_owned(), text: Ok("FILE\n".to_owned()) }],
        run_line: "RUN".to_owned(),
        ..LayerTexts::default()
    };
    let made = layers(&texts, &Budgets::of(128_000, None));
    assert_eq!(made.iter().map(|layer| layer.name).collect::<Vec<_>>(), NAMES);
    assert_eq!(joined(&made), "THREAD\n\nPROJECT\n\n# /w/AGENTS.md\n\nFILE\n\nRUN");
    assert!(made.iter().all(|layer| !layer.cut && layer.tokens <= layer.budget_tokens));
    let own = layers(&LayerTexts::default(), &Budgets::of(128_000, None));
    assert!(own[0].text.contains("Ropewalk"), "a thread without instructions begins with ours");
}

#[test]
fn k31_a_layer_over_its_budget_is_cut_with_a_note_and_each_file_gets_its_part() {
    let long = "many words about this place ".repeat(4_000);
    let file = |path: &str, text: Result<String, String>| WorkspaceFile { path: path.to_owned(), text };
    let texts = LayerTexts {
        thread: Some(long.clone()),
        project: Some(long.clone()),
        files: vec![
            file("/a/AGENTS.md", Ok(long.clone())),
            file("/b/AGENTS.md", Err("it is not UTF-8".to_owned())),
            file("/c/AGENTS.md", Ok(format!("{long}."))),
        ],
        run_line: "RUN".to_owned(),
        ..LayerTexts::default()
    };
    let budgets = Budgets::of(8_000, None);
    let made = layers(&texts, &budgets);
    for layer in &made[..3] {
        assert!(layer.cut && layer.tokens <= layer.budget_tokens, "{:?}: {}", layer.name, layer.tokens);
        assert!(
            layer.text.contains(" of 112,000 characters; ")
                || layer.text.contains(" of 111,999 characters; ")
                || layer.text.contains(" of 112,001 characters; ")
        );
    }
    let files = &made[2].text;
    assert!(files.contains("# /b/AGENTS.md\n\n(not read: it is not UTF-8)"), "{files}");
    assert_eq!(files.matches("[cut: ").count(), 2, "each long file says so");
    assert!(!files.contains("[cut: 0 of"), "each file has something");
}

#[test]
fn tools_are_left_out_by_source_and_name_and_those_of_the_daemon_last() {
    let candidate = |name: &str, source: &str, source_kind| Candidate {
        flat_name: name.to_owned(),
        source: source.to_owned(),
        source_kind,
        is_about_us: false,
        pinned: None,
        tokens: 100,
    };
    let mut all = vec![
        candidate("z_app", "app", SourceKind::App),
        candidate("z_file", "files", SourceKind::Files),
        candidate("b2", "client:b", SourceKind::Client),
        candidate("b1", "client:b", SourceKind::Client),
        candidate("a9", "client:a", SourceKind::Client),
    ];
    let names = |budget, all: &Vec<Candidate>| left_out(all.clone(), budget, 50).into_iter().collect::<Vec<_>>();
    assert!(names(500, &all).is_empty(), "what fits fits, and nothing has to be searched for");
    assert_eq!(names(499, &all), ["a9"]);
    assert_eq!(names(350, &all), ["a9", "b1"], "the search takes room too");
    assert_eq!(names(250, &all), ["a9", "b1", "b2"]);
    assert_eq!(names(150, &all), ["a9", "b1", "b2", "z_app"]);
    (all[4].pinned, all[2].pinned) = (Some(0), Some(1));
    assert_eq!(names(350, &all), ["b1", "b2"], "what was looked for stays, the best one longest");
    assert_eq!(names(0, &all).len(), 5);
}

#[test]
fn b2_an_index_of_memory_has_at_most_2_048_tokens_however_large_the_window_is() {
    assert_eq!(Budgets::of(128_000, None).layer(ContextLayerName::MemoryIndex), 2_048);
    assert_eq!(Budgets::of(1_000_000, None).layer(ContextLayerName::MemoryIndex), 2_048);
    assert_eq!(Budgets::of(8_000, None).layer(ContextLayerName::MemoryIndex), 320);
}

#[test]
fn b2_the_sources_of_instructions_say_how_long_each_is_and_what_is_cut_or_cannot_be_read() {
    let file = |path: &str, text: Result<&str, &str>| WorkspaceFile {
        path: path.to_owned(),
        text: text.map(ToOwned::to_owned).map_err(ToOwned::to_owned),
    };
    let long = "many words about this place ".repeat(4_000);
    let files = [
        file("/a/AGENTS.md", Ok("Short.")),
        file("/a/CLAUDE.md", Ok("Short.")),
        file("/b/AGENTS.md", Err("it is not UTF-8")),
        file("/c/AGENTS.md", Ok(&long)),
    ];
    let budgets = Budgets::of(8_000, None);
    let told: Vec<_> = sources(&files, &budgets)
        .into_iter()
        .map(|source| (source.path, source.characters, source.cut, source.error))
        .collect();
    assert_eq!(told[0], ("/a/AGENTS.md".to_owned(), 6, false, None));
    assert_eq!(told[1], ("/a/CLAUDE.md".to_owned(), 6, false, None));
    assert_eq!(told[2], ("/b/AGENTS.md".to_owned(), 0, false, Some("it is not UTF-8".to_owned())));
    assert_eq!(told[3], ("/c/AGENTS.md".to_owned(), 112_000, true, None));
    let layer = &layers(&LayerTexts { files: files.to_vec(), ..LayerTexts::default() }, &budgets)[2];
    assert!(layer.text.contains("# /a/CLAUDE.md\n\n(the same text as /a/AGENTS.md)"), "{}", layer.text);
    assert!(layer.cut && layer.tokens <= layer.budget_tokens);
}
