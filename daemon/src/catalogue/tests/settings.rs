//! Settings at the ends of their ranges.

use ropewalk_protocol::{Patch, SecretStore, Settings, SettingsUpdateParams};
use serde_json::json;

use super::*;

async fn update(world: &World, params: serde_json::Value) -> Result<Settings, Refusal> {
    let params: SettingsUpdateParams = serde_json::from_value(params).unwrap();
    Ok(world.catalogue.update_settings(client(), params).await?.settings)
}

#[tokio::test]
async fn every_number_is_taken_at_the_ends_of_its_range_and_refused_beyond_them() {
    let most = (1_u64 << 53) - 1;
    for (field, least, top) in [
        ("toolSilenceMs", 1_000, 1_800_000),
        ("toolCeilingMs", 120_000, 3_600_000),
        ("approvalMs", 1_000, 604_800_000),
        ("inputMs", 1_000, 604_800_000),
        ("ownerGraceMs", 0, 600_000),
        ("approverGraceMs", 0, 600_000),
        ("runMaxToolCalls", 1, most),
        ("runMaxTokens", 1, most),
        ("runMaxMs", 1_000, most),
        ("subtaskRuns", 1, 256),
        ("idleExitMs", 1_000, most),
    ] {
        let world = World::new().await;
        for value in [least, top] {
            let settings = update(&world, json!({ field: value })).await.unwrap();
            assert_eq!(serde_json::to_value(settings).unwrap()[field], value, "{field}");
        }
        let beyond = match field {
            "toolSilenceMs" => vec![999, 3_600_001],
            "toolCeilingMs" => vec![999, 3_600_001],
            _ if least == 0 => vec![top + 1],
            _ => vec![least - 1, top + 1],
        };
        for value in beyond {
            let path = format!("/{field}");
            assert_eq!(invalid(update(&world, json!({ field: value })).await), at(&path, "out_of_range"), "{value}");
        }
    }
}

#[tokio::test]
async fn null_means_for_ever_for_waits_and_no_limit_for_runs() {
    let world = World::new().await;
    for field in ["approvalMs", "inputMs", "runMaxToolCalls", "runMaxTokens", "runMaxMs", "idleExitMs"] {
        update(&world, json!({ field: 5_000 })).await.unwrap();
        let settings = update(&world, json!({ field: null })).await.unwrap();
        assert!(serde_json::to_value(settings).unwrap().get(field).is_none(), "{field}");
    }
    let again = world.restarted().await.catalogue.snapshot();
    assert_eq!((again.settings.approval_ms, again.settings.input_ms), (None, None));
}

#[tokio::test]
async fn a_silence_above_the_ceiling_is_refused_and_both_can_be_raised_together() {
    let world = World::new().await;
    let above = update(&world, json!({ "toolSilenceMs": 1_800_001 })).await;
    assert_eq!(invalid(above), at("/toolSilenceMs", "above_ceiling"));
    let below = update(&world, json!({ "toolCeilingMs": 119_999 })).await;
    assert_eq!(invalid(below), at("/toolSilenceMs", "above_ceiling"));
    assert!(update(&world, json!({ "toolSilenceMs": 3_600_000, "toolCeilingMs": 3_600_000 })).await.is_ok());
}

#[tokio::test]
async fn settings_have_a_revision_and_know_where_keys_are_kept() {
    let world = World::new().await;
    let before = world.catalogue.snapshot().settings.clone();
    assert_eq!((before.revision, before.secret_store), (1, SecretStore::Keyring));
    let settings = update(&world, json!({ "subtaskRuns": 4, "expectedRevision": 1 })).await.unwrap();
    assert_eq!((settings.revision, settings.secret_store), (2, SecretStore::Keyring));
    let (revision, current) = conflict(update(&world, json!({ "subtaskRuns": 5, "expectedRevision": 1 })).await);
    assert_eq!(revision, Some(2));
    assert_eq!(current.unwrap()["subtaskRuns"], 4);
}

#[tokio::test]
async fn the_default_endpoint_is_one_value_in_settings_and_endpoints() {
    let world = World::new().await;
    assert_eq!(update(&world, json!({ "defaultEndpointId": "scripted" })).await.unwrap().revision, 1);
    let id = world.endpoint("a").await;
    let unknown = update(&world, json!({ "defaultEndpointId": "ep-9" })).await;
    assert_eq!(missing(unknown), at("endpoint", "ep-9"));
    let scripted = update(&world, json!({ "defaultEndpointId": "scripted" })).await;
    assert_eq!(invalid(scripted), at("/defaultEndpointId", "builtin"));

    let params = SettingsUpdateParams { default_endpoint_id: Patch::Set(id.clone()), ..Default::default() };
    let settings = world.catalogue.update_settings(client(), params).await.unwrap().settings;
    assert_eq!(settings.default_endpoint_id, Some(id.clone()));
    assert!(world.catalogue.snapshot().endpoints[&id].is_default);
    assert_eq!(update(&world, json!({ "defaultEndpointId": null })).await.unwrap().default_endpoint_id, None);
    assert!(!world.catalogue.snapshot().endpoints[&id].is_default);
}
