//! `Settings`: what holds everywhere and what refuses things, without a key and without what may hold one.

use serde_json::{Value, json};

use super::world::{AT, World};

const PLANTED: &str = "sk-planted-in-a-test";

fn endpoint(id: &str, rest: Value) -> ropewalk_protocol::Endpoint {
    let mut endpoint = json!({
        "endpointId": id, "name": id, "provider": "openaiCompatible", "model": "m", "isDefault": false,
        "forSubtasks": false, "enabled": true, "hasCredential": false, "builtin": false, "revision": 1,
    });
    for (name, value) in rest.as_object().unwrap() {
        endpoint[name] = value.clone();
    }
    serde_json::from_value(endpoint).unwrap()
}

fn rule(id: &str, level: &str, thread: Option<&str>) -> ropewalk_protocol::Policy {
    serde_json::from_value(json!({
        "policyId": id, "level": level, "threadId": thread, "tool": {"source": "app", "name": "app_read"},
        "decision": "deny", "maxCallsPerRun": 65535, "origin": "owner", "setBy": {"kind": "client", "clientName": "bot"},
        "at": AT, "matches": 0, "revision": 1,
    }))
    .unwrap()
}

fn server(id: &str) -> ropewalk_protocol::Server {
    serde_json::from_value(json!({
        "serverId": id, "slug": id, "name": id, "transport": "stdio", "command": "server", "args": [PLANTED],
        "envNames": ["TOKEN"], "stderrTail": PLANTED, "builtin": false, "readOnly": false, "removable": true,
        "enabled": false, "trusted": false, "privateNetwork": false, "origins": [], "signIn": "none",
        "state": "needsReview", "accounts": [], "counts": {"approved": 0, "blocked": 0, "updates": 0, "new": 0,
        "missing": 0, "unusable": 0}, "revision": 3,
    }))
    .unwrap()
}

fn kinds(page: &Value) -> Vec<&Value> {
    page["items"].as_array().unwrap().iter().map(|item| &item["kind"]).collect()
}

#[tokio::test]
async fn app_4_the_rule_behind_a_refusal_is_read_where_it_holds() {
    let mut world = World::new();
    world.policies = vec![rule("g1", "global", None), rule("h1", "thread", Some("t1"))];
    world.servers = vec![server("linear")];
    let client = world.client().await;
    let page = client.page(json!({"resource": "Settings"})).await;
    assert_eq!(kinds(&page), ["Settings", "Server", "Policy"]);
    let (off, rule) = (&page["items"][1], &page["items"][2]);
    assert_eq!((&off["enabled"], &off["state"], &off["revision"]), (&json!(false), &json!("NeedsReview"), &json!(3)));
    assert_eq!(
        (&rule["policyId"], &rule["decision"], &rule["level"]),
        (&json!("g1"), &json!("Deny"), &json!("Global"))
    );
    assert_eq!(rule["tool"], json!({"source": "app", "name": "app_read"}));
    let thread = client.page(json!({"resource": "Thread"})).await;
    let rules = &thread["items"][0]["policies"];
    assert_eq!((&rules[0]["policyId"], &rules[0]["decision"], &rules[1]), (&json!("h1"), &json!("Deny"), &Value::Null));
}

#[tokio::test]
async fn app_121_endpoints_are_shown_with_what_they_are_good_for() {
    let mut world = World::new();
    let prices = json!({"currency": "EUR", "inputPerMillion": 1.5, "outputPerMillion": 6.0});
    let rated = json!({"capability": 4, "goodFor": "long texts", "prices": prices, "forSubtasks": true});
    world.endpoints = vec![endpoint("e1", rated), endpoint("e2", json!({}))];
    let client = world.client().await;
    let page = client.page(json!({"resource": "Settings"})).await;
    let (one, two) = (&page["items"][1], &page["items"][2]);
    assert_eq!((&one["kind"], &one["provider"]), (&json!("Endpoint"), &json!("OpenaiCompatible")));
    assert_eq!((&one["capability"], &one["goodFor"], &one["prices"]), (&json!(4), &json!("long texts"), &prices));
    assert_eq!((&one["forSubtasks"], two.get("capability")), (&json!(true), Some(&Value::Null)), "unrated is null");
}

#[tokio::test]
async fn app_138_app_139_of_a_key_there_is_a_flag_and_nothing_that_may_hold_one_is_shown() {
    let mut world = World::new();
    let secretive = json!({
        "hasCredential": true, "headers": {"x-key": PLANTED}, "proxyUrl": format!("http://user:{PLANTED}@proxy"),
    });
    world.endpoints = vec![endpoint("e1", secretive), endpoint("e2", json!({}))];
    world.servers = vec![server("linear")];
    let client = world.client().await;
    let result = client.call("app_read", json!({"resource": "Settings"})).await;
    assert!(!serde_json::to_string(&result).unwrap().contains(PLANTED));
    let page = result.structured_content.unwrap();
    let flags: Vec<&Value> =
        page["items"].as_array().unwrap().iter().filter_map(|item| item.get("hasCredential")).collect();
    assert_eq!(flags, [true, false]);
}

#[tokio::test]
async fn settings_are_pages_like_any_list() {
    let mut world = World::new();
    world.endpoints = (0..5).map(|n| endpoint(&format!("e{n}"), json!({}))).collect();
    world.policies = vec![rule("g1", "global", None)];
    let client = world.client().await;
    let (mut found, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = client.page(json!({"resource": "Settings", "limit": 2, "cursor": cursor})).await;
        assert_eq!(page["total"], 7);
        found.extend(kinds(&page).into_iter().cloned());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let expected = ["Settings", "Policy", "Endpoint", "Endpoint", "Endpoint", "Endpoint", "Endpoint"];
    assert_eq!(found, expected);
}
