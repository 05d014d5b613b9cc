//! Endpoints: what they need, which is the default, and what a change of address does.

use ropewalk_protocol::{Endpoint, EndpointRemoveParams, Settings};
use serde_json::{Value, json};

use super::*;

async fn change(world: &World, id: &EndpointId, value: Value) -> Result<Endpoint, Refusal> {
    let params: EndpointSetParams = serde_json::from_value(value).unwrap();
    Ok(world.set(EndpointSetParams { endpoint_id: Some(id.clone()), ..params }).await?.endpoint)
}

fn settings(world: &World) -> Settings {
    (*world.catalogue.snapshot().settings).clone()
}

fn is_default(world: &World, id: &str) -> bool {
    world.catalogue.snapshot().endpoints[id].is_default
}

#[tokio::test]
async fn the_scripted_endpoint_is_always_there_never_stored_and_cannot_be_touched() {
    let world = World::new().await;
    let endpoint = world.catalogue.snapshot().endpoints["scripted"].clone();
    assert!(endpoint.builtin && endpoint.is_default && endpoint.enabled);
    world.endpoint("a").await;
    let rows = world.store.rows.lock().unwrap().clone();
    assert!(rows.values().all(|value| !String::from_utf8_lossy(value).contains("scripted")));

    let id = EndpointId::from("scripted");
    assert_eq!(invalid(change(&world, &id, json!({ "name": "x" })).await), at("/endpointId", "builtin"));
    let remove = EndpointRemoveParams { endpoint_id: id, operation_id: None, expected_revision: None };
    assert_eq!(invalid(world.catalogue.remove_endpoint(client(), remove).await), at("/endpointId", "builtin"));
}

#[tokio::test]
async fn what_an_endpoint_lacks_or_has_wrong_is_refused_with_its_place() {
    let world = World::new().await;
    let id = world.endpoint("a").await;
    for (value, path, reason) in [
        (json!({ "name": "" }), "/name", "empty"),
        (json!({ "name": "n".repeat(121) }), "/name", "too_long"),
        (json!({ "model": " " }), "/model", "empty"),
        (json!({ "baseUrl": null }), "/baseUrl", "required_for_provider"),
        (json!({ "provider": "scripted" }), "/baseUrl", "not_for_provider"),
        (json!({ "contextTokens": 0 }), "/contextTokens", "out_of_range"),
        (json!({ "maxOutputTokens": 0 }), "/maxOutputTokens", "out_of_range"),
        (json!({ "maxOutputTokens": 1_u64 << 53 }), "/maxOutputTokens", "out_of_range"),
        (json!({ "maxOutputTokens": 8_000, "contextTokens": 8_000 }), "/maxOutputTokens", "fills_the_window"),
        (json!({ "capability": 0 }), "/capability", "out_of_range"),
        (json!({ "capability": 6 }), "/capability", "out_of_range"),
        (json!({ "goodFor": "g".repeat(2_049) }), "/goodFor", "too_long"),
        (prices(json!({ "inputPerMillion": -0.1 })), "/prices/inputPerMillion", "out_of_range"),
        (prices(json!({ "outputPerMillion": -1 })), "/prices/outputPerMillion", "out_of_range"),
        (prices(json!({ "cachedInputPerMillion": -1 })), "/prices/cachedInputPerMillion", "out_of_range"),
        (prices(json!({ "currency": "" })), "/prices/currency", "empty"),
    ] {
        assert_eq!(invalid(change(&world, &id, value.clone()).await), at(path, reason), "{value}");
    }
    for (missing, path) in [("name", "/name"), ("provider", "/provider"), ("model", "/model")] {
        let mut value = serde_json::to_value(endpoint_params("b")).unwrap();
        value.as_object_mut().unwrap().remove(missing);
        let params: EndpointSetParams = serde_json::from_value(value).unwrap();
        assert_eq!(invalid(world.set(params).await), at(path, "required"));
    }
    let unknown = change(&world, &"ep-9".into(), json!({ "name": "x" })).await;
    assert_eq!(missing(unknown), at("endpoint", "ep-9"));
    let message = RpcError::from(change(&world, &id, json!({ "baseUrl": null })).await.unwrap_err()).message;
    assert_eq!(message, "An openaiCompatible endpoint needs a baseUrl.");
}

fn prices(more: Value) -> Value {
    let mut prices = json!({ "currency": "USD", "inputPerMillion": 0, "outputPerMillion": 0.5 });
    prices.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "prices": prices })
}

#[tokio::test]
async fn an_address_is_https_or_on_this_machine_and_nothing_but_an_address() {
    let world = World::new().await;
    let id = world.endpoint("a").await;
    for address in [
        "https://models.example",
        "https://models.example:8443/v1/",
        "https://127.0.0.1/v1",
        "http://127.0.0.1:11434/v1",
        "http://127.8.9.10",
        "http://localhost:8080",
        "http://LOCALHOST",
        "http://[::1]:8080/v1",
    ] {
        let endpoint = change(&world, &id, json!({ "baseUrl": address })).await.unwrap();
        assert_eq!(endpoint.base_url.as_deref(), Some(address));
    }
    for (address, reason) in [
        ("", "empty"),
        ("models.example/v1", "not_an_address"),
        ("https://", "not_an_address"),
        ("https://models.example/a b", "not_an_address"),
        ("https://models.example/\n", "control_character"),
        ("ftp://models.example", "unknown_scheme"),
        ("file:///etc/passwd", "unknown_scheme"),
        ("http://models.example/v1", "not_https"),
        ("http://localhost.example", "not_https"),
        ("http://10.0.0.1", "not_https"),
        ("http://0.0.0.0:8080", "not_https"),
        ("https://name@models.example", "has_credentials"),
        ("https://:word@models.example", "has_credentials"),
        ("https://models.example/v1?key=x", "has_query"),
        ("https://models.example/v1#part", "has_query"),
        (&format!("https://models.example/{}", "p".repeat(2_048)), "too_long"),
    ] {
        let result = change(&world, &id, json!({ "baseUrl": address })).await;
        assert_eq!(invalid(result), at("/baseUrl", reason), "{address}");
    }
}

#[tokio::test]
async fn headers_replace_those_there_were_and_null_clears_them() {
    let world = World::new().await;
    let id = world.endpoint("a").await;
    let headers =
        json!({ "headers": { "HTTP-Referer": "https://app.example/", "X-Title": "My App", "anthropic-beta": "a,b" } });
    change(&world, &id, json!({ "headers": { "x-max-tokens": "9" } })).await.unwrap();
    let endpoint = change(&world, &id, headers).await.unwrap();
    assert_eq!(endpoint.headers.len(), 3);
    let endpoint = change(&world, &id, json!({ "headers": { "x-title": "Other" } })).await.unwrap();
    assert_eq!(serde_json::to_value(&endpoint.headers).unwrap(), json!({ "x-title": "Other" }));
    assert_eq!(change(&world, &id, json!({ "name": "b" })).await.unwrap().headers.len(), 1);
    let revision = change(&world, &id, json!({ "headers": null })).await.unwrap().revision;
    assert!(world.restarted().await.catalogue.snapshot().endpoints[&id].headers.is_empty());
    assert_eq!(change(&world, &id, json!({ "headers": {} })).await.unwrap().revision, revision, "nothing to change");
    let most: serde_json::Map<_, _> = (0..32).map(|n| (format!("x-{n}"), json!("v".repeat(2_048)))).collect();
    assert_eq!(change(&world, &id, json!({ "headers": most })).await.unwrap().headers.len(), 32);
}

#[tokio::test]
async fn a_header_that_is_none_or_secret_or_ours_is_refused_by_name() {
    let world = World::new().await;
    let id = world.endpoint("a").await;
    let long = "n".repeat(129);
    let many: serde_json::Map<_, _> = (0..33).map(|n| (format!("x-{n}"), json!("v"))).collect();
    assert_eq!(invalid(change(&world, &id, json!({ "headers": many })).await), at("/headers", "too_many"));
    for (name, reason) in [
        ("", "not_a_header_name"),
        ("x title", "not_a_header_name"),
        ("x:title", "not_a_header_name"),
        ("x-t\u{ef}tle", "not_a_header_name"),
        ("x\r\ny", "not_a_header_name"),
        (&long, "not_a_header_name"),
    ] {
        let result = change(&world, &id, json!({ "headers": { name: "v" } })).await;
        assert_eq!(invalid(result), at("/headers", reason), "{name:?}");
    }
    for (name, reason) in [
        ("Authorization", "secret_header"),
        ("authorization", "secret_header"),
        ("Proxy-Authorization", "secret_header"),
        ("x-api-key", "secret_header"),
        ("api-key", "secret_header"),
        ("X-Goog-Api-Key", "secret_header"),
        ("Ocp-Apim-Subscription-Key", "secret_header"),
        ("Cookie", "secret_header"),
        ("x-auth-token", "secret_header"),
        ("X-Session-Token", "secret_header"),
        ("Host", "reserved_header"),
        ("Content-Length", "reserved_header"),
        ("Content-Type", "reserved_header"),
        ("Transfer-Encoding", "reserved_header"),
        ("Connection", "reserved_header"),
        ("Accept", "reserved_header"),
    ] {
        let refusal = change(&world, &id, json!({ "headers": { name: "PLANTED" } })).await.unwrap_err();
        let error = RpcError::from(refusal);
        assert!(error.message.contains(name) && !error.message.contains("PLANTED"), "{error:?}");
        assert_eq!(error.message.contains("secret/set"), reason == "secret_header", "{error:?}");
        let result = change(&world, &id, json!({ "headers": { name: "v" } })).await;
        assert_eq!(invalid(result), at(&format!("/headers/{name}"), reason));
    }
    for (value, reason) in [
        ("", "not_a_header_value"),
        (" v", "not_a_header_value"),
        ("v\n", "not_a_header_value"),
        ("a\tb", "not_a_header_value"),
        ("caf\u{e9}", "not_a_header_value"),
        ("Bearer sk-1", "secret_header"),
        (&"v".repeat(2_049), "too_long"),
    ] {
        let result = change(&world, &id, json!({ "headers": { "x-title": value } })).await;
        assert_eq!(invalid(result), at("/headers/x-title", reason), "{value:?}");
    }
    let twice = json!({ "headers": { "X-Title": "a", "x-title": "b" } });
    assert_eq!(invalid(change(&world, &id, twice).await), at("/headers/x-title", "repeated"));
}

#[tokio::test]
async fn a_proxy_is_a_host_and_a_port_without_a_password() {
    let world = World::new().await;
    let id = world.endpoint("a").await;
    for proxy in
        ["http://proxy.example:3128", "https://proxy.example/", "socks5://127.0.0.1:1080", "socks5h://[::1]:1080"]
    {
        let endpoint = change(&world, &id, json!({ "proxyUrl": proxy })).await.unwrap();
        assert_eq!(endpoint.proxy_url.as_deref(), Some(proxy));
    }
    for (proxy, reason) in [
        ("", "empty"),
        ("proxy.example", "not_an_address"),
        ("http://", "not_an_address"),
        ("socks5://", "not_an_address"),
        ("socks5:proxy", "not_an_address"),
        ("http://proxy .example", "not_an_address"),
        ("ftp://proxy.example", "unknown_scheme"),
        ("socks4://proxy.example:1080", "unknown_scheme"),
        ("http://name:word@proxy.example", "has_credentials"),
        ("socks5://name@proxy.example", "has_credentials"),
        ("http://proxy.example/path", "has_path"),
        ("http://proxy.example?x", "has_path"),
        (&format!("http://{}", "p".repeat(2_048)), "too_long"),
    ] {
        let result = change(&world, &id, json!({ "proxyUrl": proxy })).await;
        assert_eq!(invalid(result), at("/proxyUrl", reason), "{proxy}");
    }
    assert_eq!(change(&world, &id, json!({ "proxyUrl": null })).await.unwrap().proxy_url, None);
}

#[tokio::test]
async fn the_scripted_provider_sends_nothing_and_takes_no_way_to_send_it() {
    let world = World::new().await;
    let set = |value: Value| {
        let mut all = json!({ "name": "s", "provider": "scripted", "model": "m" });
        all.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        world.set(serde_json::from_value(all).unwrap())
    };
    assert_eq!(invalid(set(json!({ "headers": { "x": "y" } })).await), at("/headers", "not_for_provider"));
    assert_eq!(invalid(set(json!({ "proxyUrl": "http://p.example" })).await), at("/proxyUrl", "not_for_provider"));
    let made =
        set(json!({ "headers": {}, "proxyUrl": null, "contextTokens": 100, "maxOutputTokens": 10 })).await.unwrap();
    assert_eq!(made.endpoint.max_output_tokens, Some(10));
}

#[tokio::test]
async fn a_change_touches_what_is_named_clears_what_is_null_and_has_a_revision() {
    let world = World::new().await;
    let id = world.endpoint("a").await;
    let full = json!({ "capability": 5, "goodFor": "code", "contextTokens": 1, "forSubtasks": true });
    let endpoint = change(&world, &id, full).await.unwrap();
    assert_eq!((endpoint.revision, endpoint.capability, endpoint.for_subtasks), (2, Some(5), true));
    let cleared = json!({ "capability": null, "goodFor": null, "expectedRevision": 2 });
    let endpoint = change(&world, &id, cleared).await.unwrap();
    assert_eq!((endpoint.capability, endpoint.good_for, endpoint.context_tokens), (None, None, Some(1)));
    assert_eq!(conflict(change(&world, &id, json!({ "name": "x", "expectedRevision": 2 })).await).0, Some(3));
    let new = EndpointSetParams { expected_revision: Some(1), ..endpoint_params("b") };
    assert_eq!(invalid(world.set(new).await), at("/expectedRevision", "nothing_to_compare"));
    // What changes nothing is not written and raises nothing.
    assert_eq!(change(&world, &id, json!({ "name": "a" })).await.unwrap().revision, 3);
}

#[tokio::test]
async fn the_default_is_one_value_in_settings_and_endpoints() {
    let world = World::new().await;
    assert_eq!(settings(&world).default_endpoint_id, Some("scripted".into()));
    let a = world.endpoint("a").await;
    assert_eq!(settings(&world).default_endpoint_id, None);
    assert_eq!(settings(&world).revision, 2);
    assert!(!is_default(&world, "scripted") && !is_default(&world, &a));

    assert!(change(&world, &a, json!({ "isDefault": true })).await.unwrap().is_default);
    let params = EndpointSetParams { is_default: Some(true), ..endpoint_params("b") };
    let b = world.set(params).await.unwrap().endpoint;
    assert!(b.is_default && b.revision == 1);
    assert!(!is_default(&world, &a));
    assert_eq!(settings(&world).default_endpoint_id, Some(b.endpoint_id.clone()));

    // That another one is no default says nothing about this one.
    change(&world, &a, json!({ "isDefault": false })).await.unwrap();
    assert!(is_default(&world, &b.endpoint_id));
    assert!(!change(&world, &b.endpoint_id, json!({ "isDefault": false })).await.unwrap().is_default);
    assert_eq!(settings(&world).default_endpoint_id, None);
}

#[tokio::test]
async fn the_scripted_endpoint_is_the_default_again_when_the_last_other_one_is_removed() {
    let world = World::new().await;
    let params = EndpointSetParams { is_default: Some(true), ..endpoint_params("a") };
    let id = world.set(params).await.unwrap().endpoint.endpoint_id;
    let remove = |expected_revision| {
        let params = EndpointRemoveParams { endpoint_id: id.clone(), operation_id: None, expected_revision };
        world.catalogue.remove_endpoint(client(), params)
    };
    assert_eq!(conflict(remove(Some(9)).await).0, Some(1));
    let removed = remove(Some(1)).await.unwrap();
    assert_eq!((removed.applied, removed.effect.as_str()), (true, "Removes a."));
    assert_eq!(settings(&world).default_endpoint_id, Some("scripted".into()));
    assert!(is_default(&world, "scripted"));
    assert_eq!(missing(remove(None).await), at("endpoint", &id));
    let again = world.restarted().await;
    assert_eq!(*again.catalogue.snapshot().settings, settings(&world));
}
