//! What a project allows, replaced as one document.

use ropewalk_protocol::{Capability, SecurityReplaceParams};
use serde_json::{Value, json};

use super::*;

fn document(project: &Project, revision: u64, grants: Value, policies: Value) -> SecurityReplaceParams {
    let params = json!({
        "projectId": project.project_id, "expectedRevision": revision, "grants": grants, "policies": policies,
    });
    serde_json::from_value(params).unwrap()
}

fn rule(decision: &str) -> Value {
    json!({"tool": {"source": "app", "name": "app_read"}, "decision": decision})
}

#[tokio::test]
async fn app_174_what_the_document_leaves_out_is_gone_and_what_stays_keeps_its_id() {
    let world = World::new().await;
    let (project, other) = (world.project("p").await, world.project("q").await);
    let place = tempfile::tempdir().unwrap();
    let (kept, gone) = (place.path().join("kept"), place.path().join("gone"));
    std::fs::create_dir(&kept).unwrap();
    std::fs::create_dir(&gone).unwrap();
    let both = json!([{"path": kept, "capabilities": ["read"]}, {"path": gone, "capabilities": ["read", "write"]}]);
    let rules = json!([rule("ask"), {"source": "files", "decision": "deny", "maxCallsPerRun": 3}]);
    let first = world.catalogue.replace_security(client(), document(&project, 1, both, rules)).await.unwrap();
    assert_eq!(first.effect, "Grants of p: 2 new, 0 changed, 0 taken back. Its rules: 2 new, 0 changed, 0 taken back.");
    assert_eq!(first.project.revision, 2);
    let (grants, policies) = (first.project.grants.unwrap(), first.project.policies.unwrap());

    let one = json!([{"path": kept, "capabilities": ["write", "read"]}]);
    let params = document(&project, 2, one, json!([rule("ask")]));
    let second = world.catalogue.replace_security(client(), params).await.unwrap();
    assert_eq!(
        second.effect,
        "Grants of p: 0 new, 1 changed, 1 taken back. Its rules: 0 new, 0 changed, 1 taken back."
    );
    let read = world.catalogue.read_project(&project.project_id).unwrap();
    assert_eq!(second.project, read, "the answer is the project as it is read");
    let left = read.grants.unwrap();
    assert_eq!((left.len(), &left[0].grant_id), (1, &grants[0].grant_id));
    assert_eq!(left[0].capabilities, [Capability::Read, Capability::Write]);
    assert_eq!(read.policies.unwrap(), [policies[0].clone()], "a rule that says what it said is the same rule");
    assert_eq!(read.servers.iter().map(|server| server.server_id.as_str()).collect::<Vec<_>>(), ["app", "files"]);
    let untouched = world.catalogue.read_project(&other.project_id).unwrap();
    assert_eq!((untouched.revision, untouched.grants, untouched.policies), (1, Some(vec![]), Some(vec![])));
}

#[tokio::test]
async fn app_149_a_rehearsed_replacement_says_what_would_change_and_changes_nothing() {
    let world = World::new().await;
    let project = world.project("p").await;
    let mut params = document(&project, 1, json!([{"path": "/", "capabilities": ["read"]}]), json!([rule("allow")]));
    params.dry_run = Some(true);
    let before = world.catalogue.read_project(&project.project_id).unwrap();
    let told = world.catalogue.replace_security(client(), params).await.unwrap();
    assert_eq!((told.applied, told.dry_run), (false, true));
    assert_eq!(told.project.grants.unwrap().len(), 1);
    assert!(told.warning.unwrap().contains("every file"), "whoever grants all of it is warned");
    assert_eq!(world.catalogue.read_project(&project.project_id).unwrap(), before);
}

#[tokio::test]
async fn app_152_a_document_made_from_an_older_revision_is_a_conflict_with_the_newer_one() {
    let world = World::new().await;
    let project = world.project("p").await;
    let set = |revision| {
        world.catalogue.replace_security(client(), document(&project, revision, json!([]), json!([rule("deny")])))
    };
    set(1).await.unwrap();
    let (revision, current) = conflict(set(1).await);
    assert_eq!(revision, Some(2));
    assert_eq!(current.unwrap()["policies"][0]["decision"], "deny");
    // The same document again changes nothing, so nothing is newer than it.
    let same = set(2).await.unwrap();
    assert_eq!((same.project.revision, same.applied), (2, true));
}

#[tokio::test]
async fn app_160_a_member_that_does_not_fit_is_named_by_its_place_and_nothing_is_changed() {
    let world = World::new().await;
    let project = world.project("p").await;
    let here = std::env::temp_dir();
    let grant = |path: &str, capabilities: Value| json!({"path": path, "capabilities": capabilities});
    let good = grant(here.to_str().unwrap(), json!(["read"]));
    let unnamed = json!({"path": here, "capabilities": ["read"], "name": ""});
    for (grants, policies, path, reason) in [
        (json!([good, grant("/", json!([]))]), json!([]), "/grants/1/capabilities", "empty"),
        (json!([grant("", json!(["read"]))]), json!([]), "/grants/0/path", "empty"),
        (json!([grant("x", json!(["read"]))]), json!([]), "/grants/0/path", "not_absolute"),
        (json!([good, good]), json!([]), "/grants/1/path", "twice"),
        (json!([unnamed]), json!([]), "/grants/0/name", "empty"),
        (json!([]), json!([rule("ask"), {"source": "x", "decision": "deny"}]), "/policies/1/source", "unknown_source"),
        (json!([]), json!([{"decision": "deny"}]), "/policies/0/tool", "required"),
        (json!([]), json!([rule("ask"), rule("deny")]), "/policies/1", "twice"),
        (
            json!([]),
            json!([{"source": "files", "decision": "ask", "timeoutMs": 1}]),
            "/policies/0/timeoutMs",
            "out_of_range",
        ),
    ] {
        let refused = world.catalogue.replace_security(client(), document(&project, 1, grants, policies)).await;
        assert_eq!(invalid(refused), at(path, reason));
    }
    assert_eq!(world.catalogue.read_project(&project.project_id).unwrap().revision, 1);
}
