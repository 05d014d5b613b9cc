//! What is stored, seen by a person: an older home, a newer one, a backup, a restore, a check.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use ropewalk_conformance::{DaemonProcess, StartFailure, suite::Raw};
use serde_json::{Value, json};
use tokio::{net::UnixStream, process::Command};

use super::{Place, client, program};
use crate::support::text;

const KEY: &str = "sk-PLANTED-7183";

/// Runs a command on a home, and gives what it printed.
async fn ropewalk(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.arg("--home").arg(home).args(arguments).stdin(std::process::Stdio::null()).kill_on_drop(true);
    command.env_remove("ROPEWALK_HOME").env_remove("ROPEWALK_SOCKET").env("ROPEWALK_SECRET_STORE", "file");
    tokio::time::timeout(super::PATIENCE, command.output()).await.unwrap().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Every event of every thread, by thread.
async fn everything(bot: &mut Raw<UnixStream>) -> Vec<Value> {
    let mut all = Vec::new();
    for thread in bot.call("thread/list", json!({"sort": "created"})).await["items"].as_array().unwrap() {
        let id = thread["threadId"].clone();
        let events = bot.call("thread/events", json!({"threadId": id, "after": 0})).await;
        let messages = bot.call("thread/messages", json!({"threadId": id})).await;
        all.push(json!([id, events["events"], messages["items"]]));
    }
    for list in ["project/list", "policy/list", "endpoint/list"] {
        let mut items = bot.call(list, json!({})).await["items"].clone();
        for item in items.as_array_mut().unwrap() {
            item.as_object_mut().unwrap().remove("hasCredential");
        }
        all.push(items);
    }
    all
}

/// All files below a directory.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut directories) = (Vec::new(), vec![root.to_owned()]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { directories.push(path) } else { found.push(path) }
        }
    }
    found
}

fn has(path: &Path, bytes: &[u8]) -> bool {
    fs::read(path).unwrap_or_default().windows(bytes.len()).any(|window| window == bytes)
}

#[tokio::test]
async fn k38_what_a_backup_holds_is_all_there_in_the_home_it_is_restored_to_but_the_keys() {
    let place = Place::new();
    let daemon = DaemonProcess::start(&place.options().variable("ROPEWALK_SECRET_STORE", "file")).await.unwrap();
    let mut bot = client(&daemon, "bot", "in-A").await;
    let endpoint =
        json!({"name": "far", "provider": "openaiCompatible", "baseUrl": "https://example.com/v1", "model": "m"});
    let endpoint = bot.call("endpoint/set", endpoint).await["endpoint"]["endpointId"].clone();
    bot.call("secret/set", json!({"endpointId": endpoint, "value": KEY})).await;
    bot.call("policy/set", json!({"level": "global", "source": "client:x", "decision": "deny"})).await;
    for script in ["say one", "think about it\nthen say two"] {
        let started = bot.call("thread/start", json!({"endpointId": "scripted"})).await;
        let thread = started["thread"]["threadId"].clone();
        bot.call("run/submit", json!({"threadId": thread, "input": text(script), "wait": true})).await;
    }
    let before = everything(&mut bot).await;
    let file = place.directory.path().join("backup.jsonl");
    let output = ropewalk(&place.home(), &["backup", file.to_str().unwrap()]).await;
    assert!(output.status.success() && said(&output).contains("has everything but the keys"), "{}", said(&output));
    let again = ropewalk(&place.home(), &["backup", file.to_str().unwrap()]).await;
    assert!(!again.status.success() && said(&again).contains("not written over"), "{}", said(&again));
    daemon.kill().await.unwrap();

    assert!(has(&place.home().join("secrets"), KEY.as_bytes()), "the key was planted");
    let other = Place::new();
    let output = ropewalk(&other.home(), &["restore", file.to_str().unwrap()]).await;
    assert!(output.status.success() && said(&output).contains("Keys are in no backup"), "{}", said(&output));
    for path in files(&other.home()).iter().chain([&file]) {
        assert!(!has(path, KEY.as_bytes()), "the key is in {}", path.display());
    }
    let refused = ropewalk(&other.home(), &["restore", file.to_str().unwrap()]).await;
    assert!(!refused.status.success() && said(&refused).contains("is not empty"), "{}", said(&refused));

    let daemon = other.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    assert_eq!(everything(&mut bot).await, before);
    let output = ropewalk(&other.home(), &["doctor", "--check"]).await;
    assert!(said(&output).contains("every log and payload is whole"), "{}", said(&output));
    let in_use = ropewalk(&other.home(), &["restore", file.to_str().unwrap()]).await;
    assert!(!in_use.status.success() && said(&in_use).contains("Another daemon"), "{}", said(&in_use));
}

#[tokio::test]
async fn k35_a_home_of_the_first_version_goes_on_under_this_one() {
    let place = Place::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/home-v1");
    for path in files(&fixture) {
        let target = place.home().join(path.strip_prefix(&fixture).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(path, target).unwrap();
    }
    fs::set_permissions(place.home(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let daemon = place.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let threads = bot.call("thread/list", json!({"sort": "created"})).await;
    let ids: Vec<_> = threads["items"].as_array().unwrap().iter().map(|thread| thread["threadId"].clone()).collect();
    assert_eq!(ids.len(), 2);
    let policies = bot.call("policy/list", json!({})).await;
    assert_eq!(policies["items"][0]["source"], "client:nobody");
    let settings = bot.call("settings/read", json!({})).await;
    assert_eq!(settings["settings"]["approvalMs"], 3_600_000);
    for id in ids {
        let messages = bot.call("thread/messages", json!({"threadId": id})).await;
        assert!(messages["items"].as_array().unwrap().len() >= 2, "{messages}");
        let submit = json!({"threadId": id, "input": text("say more"), "wait": true, "endpointId": "scripted"});
        let ended = bot.call("run/submit", submit).await;
        assert_eq!(ended["run"]["state"], "completed", "{ended}");
    }
    assert_eq!(bot.call("daemon/check", json!({})).await, json!({"differences": []}));
    assert_eq!(files(&place.home().join("backup/format-1")).len(), 3);
}

#[tokio::test]
async fn k35_a_home_of_a_newer_version_is_refused_with_the_version_and_the_way_out() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let thread = bot.call("thread/start", json!({})).await["thread"]["threadId"].as_str().unwrap().to_owned();
    daemon.kill().await.unwrap();
    let of_the_home = place.home().join("format");
    let of_a_thread = place.home().join("logs").join(&thread[thread.len() - 2..]).join(format!("{thread}.jsonl"));
    let good = [fs::read_to_string(&of_the_home).unwrap(), fs::read_to_string(&of_a_thread).unwrap()];
    for newer in [&of_the_home, &of_a_thread] {
        fs::write(&of_the_home, &good[0]).unwrap();
        if newer == &of_a_thread {
            fs::remove_file(&of_the_home).unwrap();
        }
        let text = fs::read_to_string(newer).unwrap();
        let (before, after) = text.split_once("\"version\":").unwrap();
        let rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
        fs::write(newer, format!("{before}\"version\":9{rest}")).unwrap();
        let Err(StartFailure::Refused(refusal)) = DaemonProcess::start(&place.options()).await else {
            panic!("it should say why it does not start");
        };
        let message = refusal.error["message"].as_str().unwrap();
        assert!(message.contains("format version 9") && message.contains("newer Ropewalk"), "{message}");
        assert_eq!(refusal.error["data"]["reason"], "store_version");
        assert!(!place.home().join("daemon.sock").exists(), "a daemon that does not start leaves no socket");
    }
    fs::write(&of_a_thread, &good[1]).unwrap();
    place.daemon().await;
}

#[tokio::test]
async fn k38_an_export_of_a_damaged_thread_has_what_is_readable_and_ends_with_1() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let started = bot.call("thread/start", json!({"endpointId": "scripted"})).await;
    let thread = started["thread"]["threadId"].as_str().unwrap().to_owned();
    for script in ["say one", "say two"] {
        bot.call("run/submit", json!({"threadId": thread, "input": text(script), "wait": true})).await;
    }
    daemon.kill().await.unwrap();
    let log = place.home().join("logs").join(&thread[thread.len() - 2..]).join(format!("{thread}.jsonl"));
    let mut bytes = fs::read(&log).unwrap();
    let at = bytes.windows(7).position(|window| window == b"say two").unwrap();
    bytes[at] ^= 1;
    fs::write(&log, bytes).unwrap();
    fs::remove_dir_all(place.home().join("index")).unwrap();

    let _daemon = place.daemon().await;
    for arguments in [vec!["export", thread.as_str()], vec!["export", thread.as_str(), "--format", "json"]] {
        let output = ropewalk(&place.home(), &arguments).await;
        let (written, why) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{written} {why}");
        assert!(written.contains("say one") && !written.contains("say two"), "{written}");
        assert!(why.contains("breaks off after event") && why.contains("is damaged at byte"), "{why}");
    }
}

#[tokio::test]
async fn a_restore_that_is_killed_at_its_beginning_leaves_no_home_that_a_daemon_starts_on() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let thread = bot.call("thread/start", json!({})).await["thread"]["threadId"].clone();
    let file = place.directory.path().join("backup.jsonl");
    let output = ropewalk(&place.home(), &["backup", file.to_str().unwrap()]).await;
    assert!(output.status.success(), "{}", said(&output));

    // It waits for whoever writes into it: the restore is killed before it has read a line.
    let pipe = place.directory.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let other = Place::new();
    let mut command = Command::new(program());
    command.arg("--home").arg(other.home()).arg("restore").arg(&pipe).kill_on_drop(true);
    command.env_remove("ROPEWALK_HOME").env_remove("ROPEWALK_SOCKET");
    let mut restore = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let begun = async {
        while !other.home().join("restoring").exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(super::PATIENCE, begun).await.expect("the home says that it is being restored");
    restore.kill().await.unwrap();

    let Err(StartFailure::Refused(refusal)) = DaemonProcess::start(&other.options()).await else {
        panic!("it should say why it does not start");
    };
    let message = refusal.error["message"].as_str().unwrap();
    assert!(message.contains("half restored") && message.contains("ropewalk restore"), "{message}");
    let output = ropewalk(&other.home(), &["doctor"]).await;
    assert!(!output.status.success() && said(&output).contains("half restored"), "{}", said(&output));
    let output = ropewalk(&other.home(), &["restore", file.to_str().unwrap()]).await;
    assert!(output.status.success(), "{}", said(&output));
    let daemon = other.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    bot.call("thread/read", json!({"threadId": thread})).await;
}
