//! Requests that come while logs are still being read: those wait that are about what has not been read, and no others.

use std::{
    collections::HashSet,
    fs,
    sync::{Condvar, Mutex},
    time::Duration,
};

use ropewalk_conformance::suite::Raw;
use serde_json::{Value, json};
use tokio::io::DuplexStream;

use super::*;
use crate::{
    clock::ManualClock,
    engine::tests::spy::Spy,
    secrets::MemorySecrets,
    store::{LogName, MemoryStore, Projection, Rows, StoreError},
};

const PATIENCE: Duration = Duration::from_secs(60);
const ASKS: &str =
    "call ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"Which?\",\"options\":[{\"label\":\"red\"}]}]}";

/// The projector, held up before it has seen anything of one log.
struct HeldUp {
    inner: ThreadProjector,
    held: Mutex<HashSet<LogName>>,
    news: Condvar,
}

impl HeldUp {
    fn at(thread: &str) -> Arc<Self> {
        let held = Mutex::new([LogName::Thread(thread.into())].into());
        Arc::new(Self { inner: ThreadProjector, held, news: Condvar::new() })
    }

    fn let_go(&self) {
        self.held.lock().unwrap().clear();
        self.news.notify_all();
    }
}

struct ByWay(Arc<HeldUp>);

impl Projector for ByWay {
    fn begin(&self, log: &LogName) -> Box<dyn Projection> {
        let held = self.0.held.lock().unwrap();
        drop(self.0.news.wait_timeout_while(held, PATIENCE, |held| held.contains(log)).unwrap());
        self.0.inner.begin(log)
    }

    fn is_removed(&self, log: &LogName, rows: &dyn Rows) -> Result<bool, StoreError> {
        self.0.inner.is_removed(log, rows)
    }
}

async fn client(daemon: &Arc<Daemon>) -> (Raw<DuplexStream>, Serving<Daemon>) {
    let serving = Serving::new(daemon.clone(), Arc::new(methods::table()));
    let (ours, theirs) = tokio::io::duplex(65_536);
    serving.connect(ours);
    (Raw::greeted(theirs, "bot", "in-A").await, serving)
}

/// What a daemon leaves that was killed with a question open in the first of its three threads, but for the index.
async fn killed_while_it_asks() -> (tempfile::TempDir, [String; 3]) {
    let home = tempfile::tempdir().unwrap();
    let daemon = open(home.path(), SecretChoice::File, crate::sessions::ChildSetup::default()).await.unwrap();
    let (mut bot, _serving) = client(&daemon).await;
    let mut threads = [const { String::new() }; 3];
    for thread in &mut threads {
        let started = bot.call("thread/start", json!({"endpointId": "scripted"})).await;
        *thread = started["thread"]["threadId"].as_str().unwrap().to_owned();
    }
    let input = json!([{"type": "text", "text": ASKS}]);
    bot.call("run/submit", json!({"threadId": threads[0], "input": input})).await;
    let asked = json!({"threadId": threads[0]});
    bot.eventually("interaction/list", asked, |list| list["items"].as_array().unwrap().len() == 1).await;
    let image = tempfile::tempdir().unwrap();
    fs::copy(home.path().join("format"), image.path().join("format")).unwrap();
    let names = threads.iter().map(|id| format!("logs/{}/{id}.jsonl", &id[id.len() - 2..]));
    for file in names.chain(["logs/daemon.jsonl".to_owned()]) {
        fs::create_dir_all(image.path().join(&file).parent().unwrap()).unwrap();
        fs::copy(home.path().join(&file), image.path().join(&file)).unwrap();
    }
    daemon.stop(0);
    (image, threads)
}

fn has_answer(bot: &Raw<DuplexStream>, id: i64) -> bool {
    !bot.seen(|line| line["id"] == json!(id) && line.get("method").is_none()).is_empty()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ruling_40_a_thread_is_used_when_its_log_is_read_and_nobody_else_waits_for_others() {
    let (home, [asking, held, third]) = killed_while_it_asks().await;
    let gate = HeldUp::at(&held);
    let opening = Opening::begin(home.path(), SecretChoice::File).await.unwrap();
    let daemon = opening.finish_with(Arc::new(ByWay(gate.clone())), 0).await.unwrap();
    let (mut bot, _serving) = client(&daemon).await;
    let status = bot.call("daemon/status", json!({})).await;
    assert_eq!(status["store"]["index"], "rebuilding", "{status}");
    bot.call("settings/read", json!({})).await;
    let waiting = [
        bot.request("thread/read", json!({"threadId": held})).await,
        bot.request("thread/list", json!({})).await,
        bot.request("thread/start", json!({"operationId": "o-1"})).await,
    ];
    // It was taken up before it is shown: its run goes on when its question is answered.
    let open = bot.call("interaction/list", json!({"threadId": asking})).await["items"][0].clone();
    let answer = json!({"answers": {"q": {"selected": [0]}}});
    settles(&mut bot, json!({"interactionId": open["interactionId"], "answer": answer})).await;
    let ended = bot.call("run/wait", json!({"runId": open["runId"]})).await;
    assert_eq!(ended["run"]["state"], "completed", "{ended}");
    let input = json!([{"type": "text", "text": "say done"}]);
    let ended = bot.call("run/submit", json!({"threadId": third, "input": input, "wait": true})).await;
    assert_eq!(ended["run"]["state"], "completed", "{ended}");
    bot.call("thread/resume", json!({"threadId": asking})).await;
    let unknown = bot.refused("thread/read", json!({"threadId": "0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11"})).await;
    assert_eq!(unknown["data"]["kind"], "notFound");
    assert!(!waiting.iter().any(|id| has_answer(&bot, *id)), "these wait for the log that is held up");

    gate.let_go();
    assert_eq!(bot.answer(waiting[0]).await["result"]["thread"]["threadId"], json!(held));
    let list = bot.answer(waiting[1]).await;
    assert!(list["result"]["items"].as_array().unwrap().len() >= 3, "{list}");
    assert!(bot.answer(waiting[2]).await["result"]["thread"].is_object());
    let status = bot.eventually("daemon/status", json!({}), |status| status["store"]["index"] == "ok").await;
    assert_eq!(status["counts"]["threads"], 4);
    let run = bot.call("run/read", json!({"runId": open["runId"]})).await;
    assert_eq!(run["run"]["state"], "completed", "the end of the start takes nothing up a second time: {run}");
    daemon.stop(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ruling_40_a_daemon_that_stops_while_it_reads_logs_leaves_its_home_free() {
    let (home, [_, held, _]) = killed_while_it_asks().await;
    let gate = HeldUp::at(&held);
    let opening = Opening::begin(home.path(), SecretChoice::File).await.unwrap();
    let daemon = opening.finish_with(Arc::new(ByWay(gate.clone())), 0).await.unwrap();
    let (mut bot, serving) = client(&daemon).await;
    bot.request("thread/read", json!({"threadId": held})).await;
    daemon.stop(0);
    serving.stop().await;
    let ending = tokio::spawn({
        let daemon = daemon.clone();
        async move { daemon.let_go().await }
    });
    // Its reader is in the middle of a log.
    gate.let_go();
    tokio::time::timeout(PATIENCE, ending).await.expect("nobody is waited for but the disk").unwrap();
    let refused = daemon.store.room().unwrap_err();
    assert!(matches!(refused, StoreError::Closed), "{refused}");
    let next =
        open(home.path(), SecretChoice::File, crate::sessions::ChildSetup::default()).await.expect("the index is free");
    let (mut bot, _serving) = client(&next).await;
    assert_eq!(bot.call("thread/list", json!({})).await["items"].as_array().unwrap().len(), 3);
    next.stop(0);
    next.let_go().await;
}

#[tokio::test]
async fn ruling_40_whoever_waits_for_too_long_is_told_that_the_daemon_starts() {
    let store = Spy::new(MemoryStore::new());
    store.is_reading.send_replace(true);
    let clock = ManualClock::new(Timestamp::from_millis(1_796_040_000_000));
    let parts = Parts {
        store: store.clone(),
        secrets: Arc::new(MemorySecrets::new()),
        ids: Arc::new(Ids::seeded(1)),
        models: Arc::new(Models::new(Arc::new(clock.clone()))),
        clock: Arc::new(clock.clone()),
    };
    let daemon = parts.prepare(Arc::default());
    daemon.take_up().await.unwrap();
    let (mut bot, _serving) = client(&daemon).await;
    for (method, params) in [("thread/read", json!({"threadId": "t-1"})), ("thread/list", json!({}))] {
        let id = bot.request(method, params).await;
        let answer = passing(&clock, bot.answer(id)).await;
        assert_eq!(answer["error"]["data"]["reason"], "starting", "{method}: {answer}");
        assert_eq!(answer["error"]["data"]["retryable"], true);
    }
    store.is_reading.send_replace(false);
    let id = bot.request("thread/list", json!({})).await;
    assert_eq!(bot.answer(id).await["result"]["items"], json!([]));
    daemon.stop(0);
}

/// Answers what is open. Its run may be just on its way back to it, and says so until it is there.
async fn settles(bot: &mut Raw<DuplexStream>, params: Value) {
    let all = async {
        loop {
            let id = bot.request("interaction/settle", params.clone()).await;
            let answer = bot.answer(id).await;
            if answer["result"].is_object() {
                return;
            }
            assert_eq!(answer["error"]["data"]["reason"], "starting", "{answer}");
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("it is settled");
}

/// What comes while time passes.
async fn passing(clock: &ManualClock, wait: impl Future<Output = Value>) -> Value {
    let all = async {
        tokio::pin!(wait);
        loop {
            tokio::select! {
                biased;
                answer = &mut wait => return answer,
                () = tokio::task::yield_now() => clock.advance(Duration::from_secs(1)),
            }
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("it is answered")
}
