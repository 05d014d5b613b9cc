//! What a run is told of memory and of the files beside its project's instructions, and from when on.

use ropewalk_protocol::{
    Capability, ContextLayer, ContextLayerName, GrantAddParams, InstructionsReplaceParams, MemoryCreateParams,
    MemoryKind, MemoryScope, ProjectId,
};

use super::{
    client::Person,
    life::{Life, begin, soon},
};
use crate::{
    catalogue::{Caller, MemoryWriter},
    engine::ThreadHandle,
};

fn default_project(life: &Life) -> ProjectId {
    life.daemon.catalogue.snapshot().default_project().project_id.clone()
}

async fn remember(life: &Life, project_id: Option<ProjectId>, kind: MemoryKind, title: &str, body: &str) {
    let params = MemoryCreateParams {
        scope: if project_id.is_some() { MemoryScope::Project } else { MemoryScope::User },
        project_id,
        kind,
        title: title.to_owned(),
        body: body.to_owned(),
        tags: None,
        pinned: None,
        enabled: None,
        operation_id: None,
    };
    life.daemon.catalogue.create_memory(Caller::default(), MemoryWriter::Person, params).await.unwrap();
}

async fn layer(thread: &ThreadHandle, name: ContextLayerName) -> ContextLayer {
    let preview = soon(thread.preview(thread.id().clone().into(), None)).await.unwrap();
    preview.layers.into_iter().find(|layer| layer.name == name).unwrap()
}

#[tokio::test]
async fn b2_what_is_remembered_during_a_run_is_told_to_the_next_one() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    remember(&life, None, MemoryKind::Profile, "Who", "A botanist.").await;
    let run = begin(&thread, "hello").await;
    let asked = life.asked().await;
    assert!(asked.request.instructions.contains("A botanist."), "{}", asked.request.instructions);

    remember(&life, None, MemoryKind::Profile, "Where", "In a bog.").await;
    asked.calls(&[("nothing", "{}")]);
    let asked = life.asked().await;
    assert!(asked.request.instructions.contains("A botanist.") && !asked.request.instructions.contains("In a bog."));
    let preview = layer(&thread, ContextLayerName::MemoryIndex).await;
    assert!(asked.request.instructions.contains(&preview.text), "what is shown is what is sent");
    assert_eq!((preview.budget_tokens, preview.cut), (2_048, false));
    asked.ends("Hi.");
    life.ended(&thread, &run).await;

    assert!(layer(&thread, ContextLayerName::MemoryIndex).await.text.contains("In a bog."));
    let run = begin(&thread, "again").await;
    let asked = life.asked().await;
    assert!(asked.request.instructions.contains("A botanist.") && asked.request.instructions.contains("In a bog."));
    asked.ends("Hi.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn b2_a_run_knows_its_own_project_and_the_user_and_the_instructions_stand_before_both() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let project = default_project(&life);
    let other = ropewalk_protocol::ProjectCreateParams { name: "Other".to_owned(), ..Default::default() };
    let other = life.daemon.catalogue.create_project(Caller::default(), other).await.unwrap().project.project_id;
    remember(&life, None, MemoryKind::Profile, "User", "OF THE USER").await;
    remember(&life, Some(project.clone()), MemoryKind::Profile, "Project", "OF THE PROJECT").await;
    remember(&life, Some(other), MemoryKind::Profile, "Other", "OF ANOTHER").await;
    let replace = InstructionsReplaceParams {
        project_id: project,
        text: "THE INSTRUCTIONS".to_owned(),
        include_workspace_files: None,
        expected_revision: 1,
        operation_id: None,
    };
    life.daemon.catalogue.replace_instructions(Caller::default(), replace, Vec::new()).await.unwrap();
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "hello").await;
    let asked = life.asked().await;
    let told = &asked.request.instructions;
    let at = |text: &str| told.find(text).unwrap_or_else(|| panic!("{text} is missing: {told}"));
    assert!(at("THE INSTRUCTIONS") < at("OF THE PROJECT") && at("OF THE PROJECT") < at("OF THE USER"));
    assert!(!told.contains("OF ANOTHER"));
    asked.ends("Hi.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn b2_files_of_the_roots_are_told_unless_the_instructions_leave_them_out_and_are_their_sources() {
    let life = Life::first().await;
    let project = default_project(&life);
    let (readable, writable) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(readable.path().join("AGENTS.md"), "Use tabs.").unwrap();
    std::fs::write(readable.path().join("CLAUDE.md"), [0xff, 0xfe]).unwrap();
    std::fs::write(writable.path().join("AGENTS.md"), "Nobody may read this.").unwrap();
    for (directory, capability) in [(&readable, Capability::Read), (&writable, Capability::Write)] {
        let params = GrantAddParams {
            project_id: project.clone(),
            path: directory.path().to_str().unwrap().to_owned(),
            name: None,
            capabilities: vec![capability],
            operation_id: None,
            expected_revision: None,
        };
        life.daemon.catalogue.add_grant(Caller::default(), params).await.unwrap();
    }
    let thread = life.start(&Person::new("in-A"), Vec::new()).await;
    let told = layer(&thread, ContextLayerName::WorkspaceFiles).await.text;
    assert!(told.contains("Use tabs.") && told.contains("(not read: it is not UTF-8)"), "{told}");
    assert!(!told.contains("Nobody"));

    let sources = life.daemon.engine.instruction_sources(&project).await;
    let shown: Vec<_> = sources.iter().map(|source| (source.characters, source.cut, source.error.as_deref())).collect();
    assert_eq!(shown, [(9, false, None), (0, false, Some("it is not UTF-8"))]);
    assert!(sources[0].path.ends_with("/AGENTS.md") && sources[1].path.ends_with("/CLAUDE.md"));

    let leave_out = InstructionsReplaceParams {
        project_id: project.clone(),
        text: String::new(),
        include_workspace_files: Some(false),
        expected_revision: 1,
        operation_id: None,
    };
    let changed = life.daemon.catalogue.replace_instructions(Caller::default(), leave_out, sources).await.unwrap();
    assert_eq!(changed.instructions.sources, []);
    assert_eq!(layer(&thread, ContextLayerName::WorkspaceFiles).await.text, "");
}

#[tokio::test]
async fn after_a_crash_a_run_goes_on_with_the_memory_as_it_is_then() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "hello").await;
    assert!(!life.asked().await.request.instructions.contains("# Memory"), "nothing is remembered yet");
    remember(&life, None, MemoryKind::Profile, "Who", "A botanist.").await;

    let mut life = life.crash(std::time::Duration::from_secs(1)).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert!(asked.request.instructions.contains("A botanist."), "{}", asked.request.instructions);
    asked.ends("Hi.");
    life.ended(&thread, &run).await;
}
