//! Which endpoint a run uses.

use ropewalk_protocol::{EndpointRemoveParams, Patch, ProjectUpdateParams};

use super::*;
use crate::catalogue::NoEndpoint;

async fn name_for(world: &World, project: &Project, endpoint: &EndpointId) {
    let params = ProjectUpdateParams {
        project_id: project.project_id.clone(),
        name: None,
        description: Patch::Keep,
        instructions: Patch::Keep,
        default_endpoint_id: Patch::Set(endpoint.clone()),
        servers: None,
        operation_id: None,
        expected_revision: None,
    };
    world.catalogue.update_project(client(), params).await.unwrap();
}

#[tokio::test]
async fn the_thread_comes_before_its_project_and_the_project_before_the_default() {
    let world = World::new().await;
    let project = world.project("p").await;
    let chosen = |thread: Option<&EndpointId>| {
        world.catalogue.snapshot().which_endpoint(thread, &project.project_id).map(|it| it.endpoint_id.clone())
    };
    assert_eq!(chosen(None), Ok("scripted".into()));

    let (a, b) = (world.endpoint("a").await, world.endpoint("b").await);
    assert_eq!(chosen(None), Err(NoEndpoint::NoneChosen));
    world
        .set(EndpointSetParams { endpoint_id: Some(a.clone()), is_default: Some(true), ..Default::default() })
        .await
        .unwrap();
    assert_eq!(chosen(None), Ok(a.clone()));
    name_for(&world, &project, &b).await;
    assert_eq!(chosen(None), Ok(b.clone()));
    assert_eq!(chosen(Some(&a)), Ok(a.clone()));
    assert_eq!(chosen(Some(&"scripted".into())), Ok("scripted".into()));
}

#[tokio::test]
async fn an_endpoint_that_cannot_be_used_is_never_replaced_by_another() {
    let world = World::new().await;
    let project = world.project("p").await;
    let (a, b) = (world.endpoint("a").await, world.endpoint("b").await);
    name_for(&world, &project, &a).await;
    let chosen = |thread: Option<&EndpointId>| {
        world.catalogue.snapshot().which_endpoint(thread, &project.project_id).map(|it| it.endpoint_id.clone())
    };
    let off = EndpointSetParams { endpoint_id: Some(a.clone()), enabled: Some(false), ..Default::default() };
    world.set(off).await.unwrap();
    assert_eq!(chosen(None), Err(NoEndpoint::Disabled { name: "a".to_owned() }));

    let remove = EndpointRemoveParams { endpoint_id: a.clone(), operation_id: None, expected_revision: None };
    let removed = world.catalogue.remove_endpoint(client(), remove).await.unwrap();
    assert_eq!(removed.effect, "Removes a. One project names it and has to name another.");
    assert_eq!(chosen(None), Err(NoEndpoint::Removed { endpoint: a.clone(), by: "project" }));
    assert_eq!(chosen(Some(&a)), Err(NoEndpoint::Removed { endpoint: a, by: "thread" }));
    assert_eq!(chosen(Some(&b)), Ok(b));
}
