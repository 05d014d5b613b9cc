//! Projects: the default one, changes, and finding one by its directory.

use ropewalk_protocol::{
    Capability, ErrorDetail, GrantAddParams, Patch, ProjectEnsureParams, ProjectUpdateParams, ServerChoice,
};

use super::*;

fn rename(project: &Project, name: &str) -> ProjectUpdateParams {
    ProjectUpdateParams {
        project_id: project.project_id.clone(),
        name: Some(name.to_owned()),
        description: Patch::Keep,
        instructions: Patch::Keep,
        default_endpoint_id: Patch::Keep,
        servers: None,
        operation_id: None,
        expected_revision: None,
    }
}

fn ensure(path: &std::path::Path) -> ProjectEnsureParams {
    ProjectEnsureParams { path: path.to_str().unwrap().to_owned(), name: None, operation_id: None }
}

#[tokio::test]
async fn a_new_home_has_exactly_one_default_project_and_keeps_it() {
    let world = World::new().await;
    let first = world.catalogue.snapshot();
    assert_eq!(first.projects.values().filter(|project| project.is_default).count(), 1);
    world.project("other").await;
    let again = world.restarted().await.catalogue.snapshot();
    assert_eq!(again.projects.len(), 2);
    assert_eq!(again.default_project(), first.default_project());
}

#[tokio::test]
async fn texts_of_a_project_are_refused_beyond_their_limits() {
    let world = World::new().await;
    let of = |name: &str| ProjectCreateParams { name: name.to_owned(), ..Default::default() };
    let long = |count: usize| Some("ä".repeat(count));
    for (params, expected) in [
        (of(""), at("/name", "empty")),
        (of(" \t"), at("/name", "empty")),
        (of("a\nb"), at("/name", "control_character")),
        (of(&"n".repeat(121)), at("/name", "too_long")),
        (ProjectCreateParams { description: long(2_049), ..of("p") }, at("/description", "too_long")),
        (ProjectCreateParams { instructions: long(32_001), ..of("p") }, at("/instructions", "too_long")),
    ] {
        assert_eq!(invalid(world.catalogue.create_project(client(), params).await), expected);
    }
    let full = ProjectCreateParams { description: long(2_048), instructions: long(32_000), ..of(&"n".repeat(120)) };
    assert!(world.catalogue.create_project(client(), full).await.is_ok());
}

#[tokio::test]
async fn a_project_names_only_endpoints_and_servers_there_are() {
    let world = World::new().await;
    let of = |name: &str| ProjectCreateParams { name: name.to_owned(), ..Default::default() };
    let endpoint = ProjectCreateParams { default_endpoint_id: Some("ep-9".into()), ..of("p") };
    assert_eq!(missing(world.catalogue.create_project(client(), endpoint).await), at("endpoint", "ep-9"));
    let choice = ServerChoice { server_id: "s-9".into(), enabled: true };
    let server = ProjectCreateParams { servers: Some(vec![choice]), ..of("p") };
    assert_eq!(missing(world.catalogue.create_project(client(), server).await), at("server", "s-9"));
    let scripted = ProjectCreateParams { default_endpoint_id: Some("scripted".into()), ..of("p") };
    assert!(world.catalogue.create_project(client(), scripted).await.is_ok());
}

#[tokio::test]
async fn an_update_sets_what_is_named_clears_what_is_null_and_leaves_the_rest() {
    let world = World::new().await;
    let params = ProjectCreateParams {
        name: "before".to_owned(),
        description: Some("kept".to_owned()),
        instructions: Some("cleared".to_owned()),
        ..Default::default()
    };
    let project = world.catalogue.create_project(client(), params).await.unwrap().project;
    let update = ProjectUpdateParams { instructions: Patch::Clear, ..rename(&project, "after") };
    let after = world.catalogue.update_project(client(), update.clone()).await.unwrap().project;
    assert_eq!((after.name.as_str(), after.description.as_deref(), after.instructions), ("after", Some("kept"), None));
    assert_eq!(after.revision, 2);
    // The same again changes nothing, so nothing is written.
    let records = world.store.records.lock().unwrap().len();
    assert_eq!(world.catalogue.update_project(client(), update).await.unwrap().project.revision, 2);
    assert_eq!(world.store.records.lock().unwrap().len(), records);
}

#[tokio::test]
async fn a_change_based_on_an_old_revision_is_a_conflict_with_the_project_as_it_is() {
    let world = World::new().await;
    let project = world.project("p").await;
    let based_on = |revision| ProjectUpdateParams { expected_revision: Some(revision), ..rename(&project, "q") };
    let (revision, current) = conflict(world.catalogue.update_project(client(), based_on(7)).await);
    assert_eq!(revision, Some(1));
    assert_eq!(current.unwrap()["name"], "p");
    assert!(world.catalogue.update_project(client(), based_on(1)).await.is_ok());
    let unknown = ProjectUpdateParams { project_id: "p-9".into(), ..based_on(1) };
    assert_eq!(missing(world.catalogue.update_project(client(), unknown).await), at("project", "p-9"));
}

#[tokio::test]
async fn of_two_changes_based_on_the_same_revision_one_wins() {
    let world = World::new().await;
    let project = world.project("p").await;
    let change = |name: &str| {
        let params = ProjectUpdateParams { expected_revision: Some(1), ..rename(&project, name) };
        world.catalogue.update_project(client(), params)
    };
    let (a, b) = tokio::join!(change("a"), change("b"));
    let (won, lost) = if a.is_ok() { (a, b) } else { (b, a) };
    assert_eq!(won.unwrap().project.revision, 2);
    assert_eq!(conflict(lost).0, Some(2));
}

#[tokio::test]
async fn a_directory_has_one_project_however_it_is_named_and_however_many_ask_at_once() {
    let world = World::new().await;
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("repo");
    std::fs::create_dir(&directory).unwrap();
    let roundabout = directory.join("..").join("repo");
    let (a, b) = tokio::join!(
        world.catalogue.ensure_project(client(), ensure(&directory)),
        world.catalogue.ensure_project(client(), ensure(&roundabout)),
    );
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!(a.project.project_id, b.project.project_id);
    assert_ne!(a.created, b.created);
    assert_eq!(a.project.name, "repo");

    let read = world.catalogue.read_project(&a.project.project_id).unwrap();
    let grants = read.grants.unwrap();
    assert_eq!(grants.len(), 1);
    assert_eq!(grants[0].capabilities, [Capability::Read, Capability::Write]);
    assert_eq!(grants[0].path, directory.canonicalize().unwrap().to_str().unwrap());
}

#[tokio::test]
async fn a_directory_granted_by_hand_is_found_too_and_a_directory_inside_is_another() {
    let world = World::new().await;
    let home = tempfile::tempdir().unwrap();
    let project = world.project("p").await;
    let grant = GrantAddParams {
        project_id: project.project_id.clone(),
        path: home.path().to_str().unwrap().to_owned(),
        capabilities: vec![Capability::Read],
        name: None,
        operation_id: None,
        expected_revision: None,
    };
    world.catalogue.add_grant(client(), grant).await.unwrap();
    let found = world.catalogue.ensure_project(client(), ensure(home.path())).await.unwrap();
    assert_eq!((found.project.project_id, found.created), (project.project_id.clone(), false));

    let inside = home.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    let other = world.catalogue.ensure_project(client(), ensure(&inside)).await.unwrap();
    assert!(other.created);
    assert_ne!(other.project.project_id, project.project_id);
}

#[tokio::test]
async fn a_directory_that_is_found_is_journalled_so_that_a_repeat_is_recognised() {
    let world = World::new().await;
    let home = tempfile::tempdir().unwrap();
    world.catalogue.ensure_project(client(), ensure(home.path())).await.unwrap();
    world.catalogue.ensure_project(operation("op-1", "project/ensure"), ensure(home.path())).await.unwrap();
    let records = world.store.records.lock().unwrap();
    let last = records.last().unwrap();
    assert!(last.facts.is_empty());
    assert_eq!(last.op.as_ref().unwrap().id.as_str(), "op-1");
}

#[tokio::test]
async fn reading_an_unknown_project_is_not_found() {
    let world = World::new().await;
    let detail = detail(world.catalogue.read_project(&"p-9".into()));
    assert_eq!(detail, ErrorDetail::NotFound { noun: "project".into(), id: "p-9".into() });
}
