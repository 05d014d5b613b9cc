//! What is found, and what is said about it.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use ropewalk_protocol::{CheckResult, Difference, DifferenceKind, Endpoint, Provider, SecretStore, Settings};

use super::*;
use crate::server::Home;

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn states(findings: &[Finding]) -> Vec<(&'static str, State)> {
    findings.iter().map(|finding| (finding.check, finding.state)).collect()
}

#[test]
fn a_home_that_is_not_there_yet_is_no_problem() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let findings = places::check(&Home { socket: home.join("daemon.sock"), directory: home });
    assert_eq!(findings[0].state, State::Note);
    assert!(findings.iter().all(|finding| finding.state != State::Problem), "{findings:?}");
}

#[test]
fn what_others_can_read_is_a_problem_with_its_remedy() {
    let home = tempfile::tempdir().unwrap();
    let sockets = tempfile::tempdir().unwrap();
    fs::write(home.path().join("secrets"), "{}").unwrap();
    fs::create_dir(home.path().join("lost")).unwrap();
    fs::write(home.path().join("lost/piece"), "").unwrap();
    mode(home.path(), 0o755);
    mode(&home.path().join("secrets"), 0o644);
    mode(sockets.path(), 0o700);
    let place = Home { directory: home.path().to_owned(), socket: sockets.path().join("daemon.sock") };
    let findings = places::check(&place);
    let expected =
        [("home", State::Problem), ("secrets", State::Problem), ("logs", State::Warning), ("socket", State::Ok)];
    assert_eq!(states(&findings)[..4], expected);
    assert_eq!(findings[0].fix, Some(format!("chmod 700 '{}'", home.path().display())));
    assert!(findings[1].fix.as_ref().unwrap().starts_with("chmod 600"));

    mode(home.path(), 0o700);
    mode(&home.path().join("secrets"), 0o600);
    assert_eq!(states(&places::check(&place))[..2], [("home", State::Ok), ("secrets", State::Ok)]);
}

#[test]
fn k35_a_home_of_a_newer_version_is_named_with_both_versions_and_a_half_restored_one_too() {
    let home = tempfile::tempdir().unwrap();
    mode(home.path(), 0o700);
    let place = Home { directory: home.path().to_owned(), socket: home.path().join("daemon.sock") };
    let found = |place: &Home| places::check(place).into_iter().find(|finding| finding.check == "format");
    assert_eq!(found(&place), None);
    fs::write(home.path().join("format"), r#"{"format":"ropewalk-home","version":9}"#).unwrap();
    let newer = found(&place).unwrap();
    let both = format!("has format version 9, and this build knows up to {}", crate::daemon::Daemon::STORE_FORMAT);
    assert!(newer.state == State::Problem && newer.message.contains(&both), "{newer:?}");
    assert!(newer.fix.unwrap().contains("newer Ropewalk"));
    fs::create_dir(home.path().join("restoring")).unwrap();
    assert!(found(&place).unwrap().fix.unwrap().contains("ropewalk restore"));
}

#[test]
fn room_on_the_disk_is_judged_by_what_the_daemon_needs() {
    assert_eq!(places::judged((16 << 20) - 1).state, State::Problem);
    assert_eq!(places::judged(16 << 20).state, State::Warning);
    assert_eq!(places::judged(256 << 20).state, State::Ok);
}

#[test]
fn another_version_is_named_with_the_way_to_end_it() {
    assert_eq!(running::version(env!("CARGO_PKG_VERSION"), 42).state, State::Ok);
    let other = running::version("99.0.0", 42);
    assert_eq!(other.state, State::Warning);
    assert!(other.fix.unwrap().contains("`kill 42`"));
}

#[test]
fn the_weaker_store_of_keys_is_named() {
    let why = Some("no keyring can be used: it is locked".to_owned());
    let finding = running::keys(&Settings { secret_store_reason: why.clone(), ..Settings::default() });
    assert!(finding.message.contains("weaker than a keyring"), "{finding:?}");
    assert!(finding.message.ends_with("(no keyring can be used: it is locked)"), "{finding:?}");
    let keyring = Settings { secret_store: SecretStore::Keyring, ..Settings::default() };
    assert_eq!(running::keys(&keyring).state, State::Ok);
    assert_eq!(running::keys(&Settings { secret_store_reason: why, ..keyring }).state, State::Warning);
}

#[test]
fn an_endpoint_that_runs_would_not_find_is_a_problem() {
    let endpoint = |url: &str, enabled, has_credential, builtin| Endpoint {
        endpoint_id: "e-1".into(),
        name: "work".to_owned(),
        provider: Provider::OpenaiCompatible,
        base_url: Some(url.to_owned()),
        model: "big".to_owned(),
        context_tokens: None,
        max_output_tokens: None,
        headers: std::collections::BTreeMap::new(),
        proxy_url: None,
        is_default: true,
        for_subtasks: false,
        enabled,
        capability: None,
        good_for: None,
        prices: None,
        has_credential,
        builtin,
        revision: 1,
    };
    let state = |endpoint, default: Option<&str>| {
        let settings = Settings { default_endpoint_id: default.map(Into::into), ..Settings::default() };
        running::default_endpoint(&[endpoint], &settings, "ropewalk").state
    };
    let remote = "https://api.example.com/v1";
    assert_eq!(state(endpoint(remote, true, true, false), Some("e-1")), State::Ok);
    assert_eq!(state(endpoint(remote, true, true, false), None), State::Problem);
    assert_eq!(state(endpoint(remote, true, true, false), Some("e-2")), State::Problem);
    assert_eq!(state(endpoint(remote, false, true, false), Some("e-1")), State::Problem);
    assert_eq!(state(endpoint(remote, true, false, false), Some("e-1")), State::Warning);
    assert_eq!(state(endpoint("http://127.0.0.1:8089/v1", true, false, false), Some("e-1")), State::Ok);
    assert_eq!(state(endpoint(remote, true, false, true), Some("e-1")), State::Note);
}

#[test]
fn what_a_check_found_is_a_problem_each_with_its_place_and_remedy() {
    let whole = running::differences(CheckResult::default());
    assert_eq!(states(&whole), [("check", State::Ok)]);
    let found = Difference {
        kind: DifferenceKind::Log,
        place: "/home/logs/01/aa01.jsonl".to_owned(),
        message: "the log is damaged at byte 7".to_owned(),
        remedy: "put it back".to_owned(),
    };
    let findings = running::differences(CheckResult { differences: vec![found], truncated: true });
    assert_eq!(states(&findings), [("check", State::Problem), ("check", State::Note)]);
    assert_eq!(findings[0].message, "/home/logs/01/aa01.jsonl: the log is damaged at byte 7");
    assert_eq!(findings[0].fix.as_deref(), Some("put it back"));
}

#[test]
fn servers_that_do_not_work_and_tools_out_of_use_are_named_with_what_helps() {
    let server = |more: serde_json::Value| -> ropewalk_protocol::Server {
        let mut all = serde_json::json!({
            "serverId": "s-1", "slug": "notes", "name": "notes", "transport": "stdio", "builtin": false, "readOnly": false,
            "removable": true, "enabled": true, "trusted": false, "privateNetwork": false, "origins": [], "signIn": "none",
            "state": "ready", "accounts": [], "revision": 1,
            "counts": {"approved": 1, "blocked": 0, "updates": 0, "new": 0, "missing": 0, "unusable": 0},
        });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    };
    let failed = serde_json::json!({"state": "failed", "party": "notes: its process ended with exit code 3."});
    let odd = serde_json::json!({"counts": {"approved": 1, "blocked": 1, "updates": 0, "new": 0, "missing": 0, "unusable": 2}});
    let findings = servers::check(&[server(failed.clone()), server(odd)], "ropewalk");
    let expected = [("servers", State::Problem), ("servers", State::Warning), ("servers", State::Warning)];
    assert_eq!(states(&findings), expected);
    assert_eq!(findings[0].message, "notes: its process ended with exit code 3.");
    assert!(findings[1].message.starts_with("1 tool of notes: out of use until they are reviewed"), "{findings:?}");
    assert!(findings.iter().all(|finding| finding.fix.as_ref().unwrap().contains("ropewalk mcp ")), "{findings:?}");
    let late = serde_json::json!({"state": "starting", "since": "2026-01-01T00:00:00.000Z", "reason": "handshake"});
    assert_eq!(states(&servers::check(&[server(late)], "ropewalk")), [("servers", State::Warning)]);
    let fine = servers::check(&[server(serde_json::json!({}))], "ropewalk");
    assert_eq!(states(&fine), [("servers", State::Ok)]);
    let mut off = failed;
    off["enabled"] = false.into();
    assert_eq!(servers::check(&[server(off)], "ropewalk")[0].state, State::Ok);
}
