//! Instructions: one text, two ways to it, and a revision that nothing else raises.

use ropewalk_protocol::{
    Capability, GrantAddParams, Instructions, InstructionsChanged, InstructionsReplaceParams, InstructionsSource,
    ProjectId, ProjectUpdateParams,
};

use super::*;

pub(super) async fn replaced(
    world: &World,
    project_id: &ProjectId,
    text: &str,
    revision: u64,
) -> Result<InstructionsChanged, Refusal> {
    let params = InstructionsReplaceParams { text: text.to_owned(), ..replacing(project_id, revision) };
    world.catalogue.replace_instructions(client(), params, Vec::new()).await
}

fn replacing(project_id: &ProjectId, revision: u64) -> InstructionsReplaceParams {
    InstructionsReplaceParams {
        project_id: project_id.clone(),
        text: String::new(),
        include_workspace_files: None,
        expected_revision: revision,
        operation_id: None,
    }
}

fn shown(world: &World, project_id: &ProjectId) -> Instructions {
    world.catalogue.snapshot().show_instructions(project_id, Vec::new()).unwrap()
}

#[tokio::test]
async fn b2_the_instructions_are_the_projects_text_whichever_way_it_is_changed() {
    let world = World::new().await;
    let project = world.project("p").await;
    let id = &project.project_id;
    let before = shown(&world, id);
    assert_eq!((before.text.as_str(), before.include_workspace_files, before.revision), ("", true, 1));
    let after = replaced(&world, id, "Be kind.", 1).await.unwrap().instructions;
    assert_eq!((after.text.as_str(), after.revision), ("Be kind.", 2));
    let read = world.catalogue.read_project(id).unwrap();
    assert_eq!((read.instructions.as_deref(), read.revision), (Some("Be kind."), 2));

    let update = ProjectUpdateParams {
        project_id: id.clone(),
        name: None,
        description: Patch::Keep,
        instructions: Patch::Set("Be brief.".to_owned()),
        default_endpoint_id: Patch::Keep,
        servers: None,
        operation_id: None,
        expected_revision: None,
    };
    world.catalogue.update_project(client(), update).await.unwrap();
    let again = world.restarted().await;
    let now = shown(&again, id);
    assert_eq!((now.text.as_str(), now.revision), ("Be brief.", 3));
    let gone = replaced(&again, id, "", 3).await.unwrap().instructions;
    assert_eq!((gone.text.as_str(), gone.revision), ("", 4));
    assert_eq!(again.catalogue.read_project(id).unwrap().instructions, None);
}

#[tokio::test]
async fn a_text_that_replaces_one_nobody_saw_is_a_conflict_with_what_there_is() {
    let world = World::new().await;
    let id = world.project("p").await.project_id;
    replaced(&world, &id, "First.", 1).await.unwrap();
    let (revision, current) = conflict(replaced(&world, &id, "Second.", 1).await);
    assert_eq!(revision, Some(2));
    assert_eq!(current.unwrap()["text"], "First.");
    assert_eq!(missing(replaced(&world, &"p-9".into(), "x", 1).await), at("project", "p-9"));
    assert_eq!(invalid(replaced(&world, &id, &"ä".repeat(32_001), 2).await), at("/text", "too_long"));
    assert_eq!(replaced(&world, &id, &"ä".repeat(32_000), 2).await.unwrap().instructions.revision, 3);
}

#[tokio::test]
async fn a_grant_or_a_rule_does_not_make_a_change_of_the_instructions_stale() {
    let world = World::new().await;
    let id = world.project("p").await.project_id;
    let directory = tempfile::tempdir().unwrap();
    let grant = GrantAddParams {
        project_id: id.clone(),
        path: directory.path().to_str().unwrap().to_owned(),
        capabilities: vec![Capability::Read],
        name: None,
        operation_id: None,
        expected_revision: None,
    };
    world.catalogue.add_grant(client(), grant).await.unwrap();
    assert_eq!(world.catalogue.read_project(&id).unwrap().revision, 2);
    assert_eq!(replaced(&world, &id, "Be kind.", 1).await.unwrap().instructions.revision, 2);
}

#[tokio::test]
async fn b2_files_are_sources_as_long_as_they_are_included() {
    let world = World::new().await;
    let id = world.project("p").await.project_id;
    let source = InstructionsSource { path: "/w/AGENTS.md".into(), characters: 4, cut: false, error: None };
    let include = |included, revision| {
        let include_workspace_files = Some(included);
        let params = InstructionsReplaceParams { include_workspace_files, ..replacing(&id, revision) };
        world.catalogue.replace_instructions(client(), params, vec![source.clone()])
    };
    let mut changes = world.catalogue.changes();
    let off = include(false, 1).await.unwrap().instructions;
    assert_eq!((off.include_workspace_files, off.sources, off.revision), (false, Vec::new(), 2));
    assert_eq!(world.catalogue.read_project(&id).unwrap().revision, 1, "nothing of the project has changed");
    let changed = changes.recv().await.unwrap();
    assert_eq!((changed.kinds, changed.ids), (vec![ropewalk_protocol::DataKind::Instructions], vec![id.to_string()]));
    assert_eq!(include(false, 2).await.unwrap().instructions.revision, 2, "the same again changes nothing");
    let on = include(true, 2).await.unwrap().instructions;
    assert_eq!((on.include_workspace_files, on.sources.len(), on.revision), (true, 1, 3));
}
