//! What a rule may call a source.

use super::*;

#[tokio::test]
async fn app_20_a_rule_names_a_source_by_its_id_and_never_by_its_name() {
    let world = World::new().await;
    let notes = world.added("notes").await;
    let check = |source: &str| match world.catalogue.snapshot().check_source("/source", source) {
        Ok(()) => None,
        Err(refusal) => {
            let RpcError { message, data, .. } = RpcError::from(refusal);
            match data.detail {
                ErrorDetail::InvalidParams { path, reason, .. } => Some((path, reason, message)),
                other => panic!("{other:?}"),
            }
        }
    };
    for known in ["app", "files", &notes, "client:bot", "client:never seen"] {
        assert_eq!(check(known), None);
    }
    let (path, reason, message) = check("Notes").unwrap();
    assert_eq!((&*path, &*reason), ("/source", "a_name"));
    assert!(message.contains(&*notes), "{message}");
    for unknown in ["nots", "client:", "0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11"] {
        let (_, reason, message) = check(unknown).unwrap();
        assert_eq!(reason, "unknown_source");
        assert!(message.contains("app, files") && message.contains("(notes)"), "{message}");
    }
    let second = world.added("notes").await;
    let (_, _, message) = check("notes").unwrap();
    assert!(message.contains(&*notes) && message.contains(&*second), "{message}");
}
