//! Grants: which directories may be granted, and what that does to their project.

use ropewalk_protocol::{Capability, GrantAddParams, GrantRemoveParams};

use super::*;

fn grant(project: &Project, path: &std::path::Path, capabilities: &[Capability]) -> GrantAddParams {
    GrantAddParams {
        project_id: project.project_id.clone(),
        path: path.to_str().unwrap().to_owned(),
        capabilities: capabilities.to_vec(),
        name: None,
        operation_id: None,
        expected_revision: None,
    }
}

#[tokio::test]
async fn a_grant_has_its_real_path_its_capabilities_once_and_the_last_part_as_its_name() {
    let world = World::new().await;
    let project = world.project("p").await;
    let home = tempfile::tempdir().unwrap();
    let real = home.path().join("real");
    std::fs::create_dir(&real).unwrap();
    #[cfg(unix)]
    let named = {
        let link = home.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        link
    };
    #[cfg(not(unix))]
    let named = real.clone();
    let twice = [Capability::Write, Capability::Read, Capability::Write];
    let added = world.catalogue.add_grant(client(), grant(&project, &named, &twice)).await.unwrap().grant;
    assert_eq!(added.path, real.canonicalize().unwrap().to_str().unwrap());
    assert_eq!(added.capabilities, [Capability::Read, Capability::Write]);
    assert_eq!(added.name, "real");
}

#[tokio::test]
async fn what_is_no_absolute_existing_directory_is_refused_with_the_reason() {
    let world = World::new().await;
    let project = world.project("p").await;
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let read = [Capability::Read];
    for (path, reason) in [
        (std::path::PathBuf::new(), "empty"),
        ("relative/path".into(), "not_absolute"),
        (home.path().join("absent"), "not_found"),
        (file.clone(), "not_a_directory"),
        (file.join("below"), "not_a_directory"),
        (home.path().join("nul\0"), "unreadable"),
    ] {
        let result = world.catalogue.add_grant(client(), grant(&project, &path, &read)).await;
        assert_eq!(invalid(result), at("/path", reason), "{path:?}");
    }
    let nothing = world.catalogue.add_grant(client(), grant(&project, home.path(), &[])).await;
    assert_eq!(invalid(nothing), at("/capabilities", "empty"));
    let unnamed = GrantAddParams { name: Some(String::new()), ..grant(&project, home.path(), &read) };
    assert_eq!(invalid(world.catalogue.add_grant(client(), unnamed).await), at("/name", "empty"));
    let homeless = GrantAddParams { project_id: "p-9".into(), ..grant(&project, home.path(), &read) };
    assert_eq!(missing(world.catalogue.add_grant(client(), homeless).await), at("project", "p-9"));
}

#[tokio::test]
async fn app_172_app_173_a_grant_raises_its_projects_revision_and_touches_nothing_else() {
    let world = World::new().await;
    let (project, other) = (world.project("p").await, world.project("q").await);
    let home = tempfile::tempdir().unwrap();
    let based_on_1 = GrantAddParams { expected_revision: Some(1), ..grant(&project, home.path(), &[Capability::Read]) };
    let added = world.catalogue.add_grant(client(), based_on_1.clone()).await.unwrap().grant;
    assert_eq!(world.catalogue.read_project(&project.project_id).unwrap().revision, 2);
    assert_eq!(world.catalogue.read_project(&other.project_id).unwrap().revision, 1);
    assert_eq!(conflict(world.catalogue.add_grant(client(), based_on_1).await).0, Some(2));

    let remove = |project: &Project, expected_revision| GrantRemoveParams {
        project_id: project.project_id.clone(),
        grant_id: added.grant_id.clone(),
        operation_id: None,
        expected_revision,
    };
    assert_eq!(conflict(world.catalogue.remove_grant(client(), remove(&project, Some(1))).await).0, Some(2));
    let foreign = world.catalogue.remove_grant(client(), remove(&other, None)).await;
    assert_eq!(missing(foreign), at("grant", &added.grant_id));
    assert!(world.catalogue.remove_grant(client(), remove(&project, Some(2))).await.unwrap().applied);
    let read = world.catalogue.read_project(&project.project_id).unwrap();
    assert_eq!((read.revision, read.grants.unwrap().len()), (3, 0));
    let again = world.catalogue.remove_grant(client(), remove(&project, None)).await;
    assert_eq!(missing(again), at("grant", &added.grant_id));
}

#[tokio::test]
async fn a_second_grant_on_a_directory_replaces_the_first_under_its_id() {
    let world = World::new().await;
    let project = world.project("p").await;
    let home = tempfile::tempdir().unwrap();
    let add =
        |capabilities: &[Capability]| world.catalogue.add_grant(client(), grant(&project, home.path(), capabilities));
    let first = add(&[Capability::Read]).await.unwrap().grant;
    let second = add(&[Capability::Read, Capability::Execute]).await.unwrap().grant;
    assert_eq!(first.grant_id, second.grant_id);
    let grants = world.catalogue.read_project(&project.project_id).unwrap().grants.unwrap();
    assert_eq!(grants, [second]);
}

#[cfg(unix)]
#[tokio::test]
async fn app_160_app_161_any_root_may_be_granted_and_grants_may_lie_within_each_other() {
    let world = World::new().await;
    let project = world.project("p").await;
    let home = tempfile::tempdir().unwrap();
    for path in [std::path::Path::new("/"), home.path()] {
        let added = world.catalogue.add_grant(client(), grant(&project, path, &[Capability::Read])).await.unwrap();
        assert_eq!(added.warning.is_some(), path == std::path::Path::new("/"), "{:?}", added.warning);
    }
    let grants = world.catalogue.read_project(&project.project_id).unwrap().grants.unwrap();
    let mut paths: Vec<_> = grants.iter().map(|grant| std::path::PathBuf::from(&grant.path)).collect();
    paths.sort();
    assert_eq!(paths, ["/".into(), home.path().canonicalize().unwrap()]);
    assert!(grants.iter().all(|grant| !grant.name.is_empty()), "{grants:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn app_160_app_161_a_grant_of_the_system_or_of_where_the_daemon_lives_is_made_with_a_warning() {
    let world = World::new().await;
    let project = world.project("p").await;
    let around = tempfile::tempdir().unwrap();
    let around = around.path().canonicalize().unwrap();
    let home = around.join("home");
    std::fs::create_dir_all(home.join("logs")).unwrap();
    world.catalogue.live_in(home.clone());
    for (path, words) in [
        ("/".into(), &["every file of this computer", "own home"][..]),
        ("/dev".into(), &["the system itself"]),
        (home.join("logs"), &["own home", "opens nothing"]),
        (home.clone(), &["own home", "opens nothing"]),
        (around.clone(), &["own home", "is in it"]),
    ] {
        let added = world.catalogue.add_grant(client(), grant(&project, &path, &[Capability::Read])).await.unwrap();
        let warning = added.warning.unwrap();
        assert!(words.iter().all(|word| warning.contains(word)), "{path:?}: {warning}");
    }
}
