//! Keys in a real keyring: the Secret Service of GNOME on a session bus of its own, so that none of a person is touched.

use std::{path::PathBuf, process::Stdio};

use ropewalk_conformance::{DaemonOptions, DaemonProcess, ScriptedServer, ServerOptions, Signal, StartFailure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::AsyncWriteExt,
    net::UnixStream,
    process::{Child, Command},
};

use super::{Place, client, eventually};
use crate::support::{Raw, text};

const KEY: &str = "sk-PLANTED-4711";

/// A session bus, and on it a keyring that is unlocked.
struct Desktop {
    directory: TempDir,
    _bus: Child,
    keyring: Child,
}

impl Desktop {
    async fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let socket = directory.path().join("bus");
        let mut bus = needed("dbus-daemon");
        bus.args(["--session", "--nofork", "--nopidfile"]).arg(format!("--address=unix:path={}", socket.display()));
        let bus = bus.stderr(Stdio::null()).spawn().expect("dbus-daemon can be run");
        eventually("the bus", || async { socket.exists() }).await;
        let keyring = needed("gnome-keyring-daemon")
            .args(["--foreground", "--unlock", "--components=secrets", "--control-directory"])
            .arg(directory.path().join("control"))
            .env("DBUS_SESSION_BUS_ADDRESS", address(&directory))
            .env("HOME", directory.path())
            .env("XDG_DATA_HOME", directory.path().join("data"))
            .env("XDG_RUNTIME_DIR", directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut keyring = keyring.expect("gnome-keyring-daemon can be run");
        keyring.stdin.take().unwrap().write_all(b"the password of a test").await.unwrap();
        let desktop = Self { directory, _bus: bus, keyring };
        eventually("the keyring on the bus", || desktop.keeps_secrets()).await;
        desktop
    }

    /// Whether something on the bus answers for secrets.
    async fn keeps_secrets(&self) -> bool {
        let asked = needed("dbus-send")
            .args(["--session", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus"])
            .args(["org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets"])
            .env("DBUS_SESSION_BUS_ADDRESS", address(&self.directory))
            .output()
            .await;
        String::from_utf8_lossy(&asked.expect("dbus-send can be run").stdout).contains("true")
    }

    /// A daemon that may use the keyring.
    fn options(&self, place: &Place) -> DaemonOptions {
        let options = place.options().variable("ROPEWALK_SECRET_STORE", "auto");
        options.variable("DBUS_SESSION_BUS_ADDRESS", address(&self.directory))
    }
}

fn address(directory: &TempDir) -> String {
    format!("unix:path={}", directory.path().join("bus").display())
}

/// A program of the system that this test cannot do without.
fn needed(program: &str) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found: Option<PathBuf> = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|it| it.exists());
    let found = found.unwrap_or_else(|| {
        panic!("{program} is missing: install the packages dbus and gnome-keyring, as .ci/run does")
    });
    let mut command = Command::new(found);
    command.kill_on_drop(true);
    command
}

/// Where keys are kept, and what is said about it.
async fn kept(daemon: &DaemonProcess) -> (Value, String) {
    let mut bot = client(daemon, "bot", "in-A").await;
    let settings = bot.call("settings/read", json!({})).await["settings"].clone();
    (settings["secretStore"].clone(), settings["secretStoreReason"].as_str().unwrap_or_default().to_owned())
}

/// How a run of the thread ends.
async fn outcome(bot: &mut Raw<UnixStream>, thread: &Value) -> Value {
    let submit = json!({"threadId": thread, "input": text("hello"), "wait": true});
    bot.call("run/submit", submit).await["run"]["outcome"].clone()
}

async fn end(mut daemon: DaemonProcess) {
    daemon.signal(Signal::Terminate).unwrap();
    daemon.ended().await.unwrap();
}

#[tokio::test]
async fn keys_move_to_the_keyring_are_used_from_there_and_missed_aloud_when_it_is_gone() {
    let (desktop, place) = (Desktop::new().await, Place::new());
    let options = ServerOptions { strict: true, key: Some(KEY.to_owned()), ..ServerOptions::default() };
    let server = ScriptedServer::start(options).await.unwrap();
    let file = || std::fs::read_to_string(place.home().join("secrets")).unwrap();

    let daemon = place.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let endpoint = bot.use_model_at(&server.base_url()).await;
    bot.call("secret/set", json!({"endpointId": endpoint, "value": KEY})).await;
    assert_eq!(kept(&daemon).await.0, "file");
    assert!(file().contains(KEY));
    end(daemon).await;

    let daemon = DaemonProcess::start(&desktop.options(&place)).await.unwrap();
    assert_eq!(kept(&daemon).await, (json!("keyring"), String::new()));
    assert!(!file().contains(KEY), "it has moved");
    let mut bot = client(&daemon, "bot", "in-A").await;
    let thread = bot.start(&[]).await;
    assert_eq!(outcome(&mut bot, &thread).await["status"], "completed");
    end(daemon).await;

    let gone = place.options().variable("ROPEWALK_SECRET_STORE", "auto");
    let gone = gone.variable("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");
    let daemon = DaemonProcess::start(&gone).await.unwrap();
    let (store, reason) = kept(&daemon).await;
    assert!(store == "file" && reason.contains("no keyring can be used"), "{store} {reason}");
    let mut bot = client(&daemon, "bot", "in-A").await;
    let health = bot.call("daemon/status", json!({})).await["health"].clone();
    assert_eq!(health["state"], "degraded");
    assert!(health["reason"].as_str().unwrap().contains("the key of http cannot be read"), "{health}");
    let error = bot.refused("endpoint/test", json!({"endpointId": endpoint})).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["reason"]), (&json!("unavailable"), &json!("no_secret_store")));
    let failed = outcome(&mut bot, &thread).await["error"].clone();
    assert_eq!(failed["kind"], "auth");
    assert!(failed["message"].as_str().unwrap().contains("store the key anew"), "{failed}");
    bot.call("secret/set", json!({"endpointId": endpoint, "value": KEY})).await;
    assert_eq!(outcome(&mut bot, &thread).await["status"], "completed");
    assert!(!daemon.log().contains(KEY));
    end(daemon).await;

    match DaemonProcess::start(&gone.argument("--secret-store").argument("keyring")).await {
        Err(StartFailure::Refused(refusal)) => {
            assert_eq!(refusal.error["data"]["reason"], "no_secret_store");
            assert!(refusal.error["message"].as_str().unwrap().contains("--secret-store auto"), "{}", refusal.error);
        }
        other => panic!("it should not start without a keyring: {other:?}"),
    }
}

#[tokio::test]
async fn a_keyring_that_does_not_answer_delays_the_start_by_seconds_and_no_more() {
    let (desktop, place) = (Desktop::new().await, Place::new());
    let keyring = desktop.keyring.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed())).unwrap();
    rustix::process::kill_process(keyring, rustix::process::Signal::STOP).unwrap();
    let daemon = DaemonProcess::start(&desktop.options(&place)).await.unwrap();
    let (store, reason) = kept(&daemon).await;
    assert!(store == "file" && reason.starts_with("no keyring can be used: "), "{store} {reason}");
    end(daemon).await;
}
