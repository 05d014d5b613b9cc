//! A clock that is put back under the daemon and between two of them.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use futures::future::BoxFuture;
use ropewalk_conformance::suite::Raw;
use ropewalk_daemon::{
    clock::{Clock, Ids, SystemClock},
    daemon::Parts,
    embed::embed_parts,
    models::Models,
    secrets::MemorySecrets,
    store::MemoryStore,
};
use ropewalk_protocol::Timestamp;
use serde_json::json;

use crate::support::text;

/// The machine's clock, put forward or back by so much.
#[derive(Clone, Default)]
struct Stepped(Arc<AtomicI64>);

impl Clock for Stepped {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(SystemClock.now().as_millis() + self.0.load(Ordering::SeqCst))
    }

    fn sleep(&self, duration: std::time::Duration) -> BoxFuture<'static, ()> {
        SystemClock.sleep(duration)
    }
}

#[tokio::test]
async fn with_a_clock_that_steps_back_ids_and_numbers_still_grow_and_runs_still_end() {
    let clock = Stepped::default();
    let seam: Arc<dyn Clock> = Arc::new(clock.clone());
    let parts = Parts {
        store: Arc::new(MemoryStore::new()),
        secrets: Arc::new(MemorySecrets::new()),
        ids: Arc::new(Ids::new(seam.now())),
        models: Arc::new(Models::new(seam.clone())),
        clock: seam,
    };
    let daemon = embed_parts(parts).await.unwrap();
    let mut bot = Raw::greeted(daemon.pipe(), "bot", "in-A").await;
    let thread = bot.call("thread/start", json!({})).await["thread"]["threadId"].clone();
    let mut ids = vec![thread.as_str().unwrap()[..13].to_owned()];
    for step_ms in [0, -3_600_000, -86_400_000 * 365, 5_000, -1] {
        clock.0.fetch_add(step_ms, Ordering::SeqCst);
        let run = bot.call("run/submit", json!({"threadId": thread, "input": text("hi")})).await;
        ids.push(run["runId"].as_str().unwrap()[..13].to_owned());
        let ended = bot.call("run/wait", json!({"runId": run["runId"]})).await;
        assert_eq!(ended["run"]["outcome"]["text"], "You said: hi", "{step_ms} ms: {ended}");
    }
    assert!(ids.is_sorted(), "the time in an id never goes back: {ids:?}");
    let events = bot.call("thread/events", json!({"threadId": thread, "after": 0, "limit": 1_000})).await;
    let numbers: Vec<u64> =
        events["events"].as_array().unwrap().iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
}
