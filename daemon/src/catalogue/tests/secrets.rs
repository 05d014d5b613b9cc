//! Keys: stored before they are spoken of, bound to where they are sent, never shown.

use std::sync::atomic::Ordering;

use ropewalk_protocol::{Effect, EndpointRemoveParams, SecretRemoveParams, SecretSetParams};
use serde_json::{Value, json};

use super::*;

fn key(id: &EndpointId, value: &str) -> SecretSetParams {
    SecretSetParams { endpoint_id: id.clone(), value: value.to_owned(), operation_id: None, expected_revision: None }
}

fn no_key(id: &EndpointId) -> SecretRemoveParams {
    SecretRemoveParams { endpoint_id: id.clone(), operation_id: None, expected_revision: None }
}

async fn change(world: &World, id: &EndpointId, value: Value) -> EndpointChanged {
    let params: EndpointSetParams = serde_json::from_value(value).unwrap();
    world.set(EndpointSetParams { endpoint_id: Some(id.clone()), ..params }).await.unwrap()
}

async fn with_key() -> (World, EndpointId) {
    let world = World::new().await;
    let id = world.endpoint("a").await;
    let set = world.catalogue.set_secret(client(), key(&id, "sk-1")).await.unwrap().endpoint;
    assert_eq!((set.has_credential, set.revision), (true, 2));
    (world, id)
}

async fn key_of(world: &World, id: &EndpointId) -> Option<String> {
    let endpoint = world.catalogue.snapshot().endpoints[id].clone();
    world.catalogue.key_of(&endpoint).await.unwrap()
}

#[tokio::test]
async fn a_key_is_stored_used_and_in_no_record_row_or_answer() {
    let (world, id) = with_key().await;
    assert_eq!(key_of(&world, &id).await.as_deref(), Some("sk-1"));
    let records = serde_json::to_string(&*world.store.records.lock().unwrap()).unwrap();
    assert!(!records.contains("sk-1"));
    assert!(world.store.rows.lock().unwrap().values().all(|row| !String::from_utf8_lossy(row).contains("sk-1")));
    assert_eq!(key_of(&world.restarted().await, &id).await.as_deref(), Some("sk-1"));
}

#[tokio::test]
async fn r28_another_provider_or_origin_removes_the_key_and_says_so() {
    for (value, keeps) in [
        (json!({ "baseUrl": "https://other.example/v1" }), false),
        (json!({ "baseUrl": "https://models.example:8443/v1" }), false),
        (json!({ "provider": "anthropic" }), false),
        (json!({ "provider": "anthropic", "baseUrl": null }), false),
        (json!({ "baseUrl": "https://models.example:443/v2" }), true),
        (json!({ "model": "gpt-y", "name": "b", "isDefault": true }), true),
    ] {
        let (world, id) = with_key().await;
        let changed = change(&world, &id, value.clone()).await.endpoint;
        assert_eq!((changed.has_credential, changed.revision), (keeps, 3), "{value}");
        assert_eq!(world.secrets.keys.lock().unwrap().is_empty(), !keeps, "{value}");
        assert_eq!(key_of(&world, &id).await.is_some(), keeps, "{value}");
    }
}

#[tokio::test]
async fn a_key_is_forgotten_on_request_and_with_its_endpoint() {
    let (world, id) = with_key().await;
    let removed = world.catalogue.remove_secret(client(), no_key(&id)).await.unwrap();
    assert_eq!((removed.applied, removed.effect.as_str()), (true, "Forgets the key of a."));
    assert!(world.secrets.keys.lock().unwrap().is_empty());
    assert!(!world.catalogue.snapshot().endpoints[&id].has_credential);
    let again = world.catalogue.remove_secret(client(), no_key(&id)).await.unwrap();
    assert_eq!((again.applied, again.effect.as_str()), (false, "a has no key."));

    let (world, id) = with_key().await;
    let remove = EndpointRemoveParams { endpoint_id: id, operation_id: None, expected_revision: None };
    let removed = world.catalogue.remove_endpoint(client(), remove).await.unwrap();
    assert_eq!(removed.effect, "Removes a and its key.");
    assert!(world.secrets.keys.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_is_no_key_is_refused_without_repeating_it() {
    let (world, id) = with_key().await;
    for (value, reason) in [
        ("", "empty"),
        ("sk\n", "control_character"),
        ("sk 1", "not_a_key"),
        ("schlüssel", "not_a_key"),
        (&"k".repeat(8_193), "too_long"),
    ] {
        let result = world.catalogue.set_secret(client(), key(&id, value)).await;
        assert_eq!(invalid(result), at("/value", reason));
    }
    assert!(world.catalogue.set_secret(client(), key(&id, &"k".repeat(8_192))).await.is_ok());
    let unknown = world.catalogue.set_secret(client(), key(&"ep-9".into(), "k")).await;
    assert_eq!(missing(unknown), at("endpoint", "ep-9"));
    let scripted = world.catalogue.set_secret(client(), key(&"scripted".into(), "k")).await;
    assert_eq!(invalid(scripted), at("/endpointId", "builtin"));
}

#[tokio::test]
async fn when_the_keeper_fails_nothing_changes_and_the_caller_is_told() {
    let (world, id) = with_key().await;
    let before = world.catalogue.snapshot();
    world.secrets.fails.store(true, Ordering::SeqCst);
    for refused in [
        world.catalogue.set_secret(client(), key(&id, "sk-2")).await.map(drop),
        world.catalogue.remove_secret(client(), no_key(&id)).await.map(drop),
    ] {
        let ErrorDetail::Unavailable { reason, effect, .. } = detail(refused) else {
            panic!("unavailable was expected")
        };
        assert_eq!((reason.as_str(), effect), ("no_secret_store", Some(Effect::None)));
    }
    assert_eq!(world.catalogue.snapshot(), before);
    assert_eq!(key_of(&world, &id).await.as_deref(), Some("sk-1"));
}

#[tokio::test]
async fn when_the_record_cannot_be_written_the_key_is_put_back_as_it_was() {
    let (world, id) = with_key().await;
    let other = world.endpoint("b").await;
    world.store.fails.store(true, Ordering::SeqCst);
    assert!(world.catalogue.set_secret(client(), key(&id, "sk-2")).await.is_err());
    assert!(world.catalogue.remove_secret(client(), no_key(&id)).await.is_err());
    assert!(world.catalogue.set_secret(client(), key(&other, "sk-3")).await.is_err());
    assert_eq!(key_of(&world, &id).await.as_deref(), Some("sk-1"));
    assert_eq!(world.secrets.keys.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_key_that_cannot_be_read_is_said_and_a_new_one_takes_its_place() {
    let (world, id) = with_key().await;
    world.secrets.unreadable.store(true, Ordering::SeqCst);
    let endpoint = world.catalogue.snapshot().endpoints[&id].clone();
    let error = RpcError::from(world.catalogue.key_of(&endpoint).await.unwrap_err());
    assert!(error.message.contains("the keyring is gone"), "{error:?}");
    assert_eq!(world.catalogue.endpoints_without_reach().join(","), endpoint.name);
    assert!(world.catalogue.remove_secret(client(), no_key(&id)).await.is_err());
    world.store.fails.store(true, Ordering::SeqCst);
    assert!(world.catalogue.set_secret(client(), key(&id, "sk-2")).await.is_err());
    world.store.fails.store(false, Ordering::SeqCst);
    assert!(world.catalogue.set_secret(client(), key(&id, "sk-3")).await.is_ok());
    world.secrets.unreadable.store(false, Ordering::SeqCst);
    assert_eq!(key_of(&world, &id).await.as_deref(), Some("sk-3"));
}

#[tokio::test]
async fn a_key_that_is_not_where_it_was_kept_is_never_taken_for_none() {
    let (world, id) = with_key().await;
    world.secrets.keys.lock().unwrap().clear();
    let endpoint = world.catalogue.snapshot().endpoints[&id].clone();
    let error = world.catalogue.key_of(&endpoint).await.unwrap_err().to_string();
    assert_eq!(error, "it is not where it was kept; store it again");
}
