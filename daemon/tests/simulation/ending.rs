//! The end of a seed: the world is made healthy, time passes every deadline, and nobody may be left waiting for nothing.

use std::time::Duration;

use ropewalk_daemon::store::MemoryStore;
use serde_json::{Value, json};

use crate::{
    log::text,
    store::lock,
    world::{World, rows},
};

/// How much time passes at a time.
const STEP: Duration = Duration::from_secs(300);
/// How often, before what is under way by then counts as waiting for nothing: a run may wait half an hour for each of
/// its calls, and so may those behind it.
const STEPS: u32 = 1_000;
/// After how many of them it is looked whether anything is under way.
const LOOK: u32 = 10;

impl World {
    /// Ends a seed, and checks what must hold then.
    pub(crate) fn finish(&mut self) {
        self.trace.note("** the end: everything is well, and time passes");
        self.settle();
        self.bury();
        lock(&self.plan).restart();
        for connection in &mut self.connections {
            connection.wire.is_slow = false;
        }
        self.release();
        self.audit(true);
        self.check_runs();
        for connection in &self.connections {
            let methods: Vec<&String> = connection.pending.values().map(|pending| &pending.method).collect();
            assert!(methods.is_empty(), "connection {} waits for ever for {methods:?}", connection.key);
            let asked: Vec<&String> = connection.asks.iter().map(|ask| &ask.interaction).collect();
            assert!(asked.is_empty(), "connection {} is asked what nobody waits for: {asked:?}", connection.key);
        }
        let (live, rebuilt): (&MemoryStore, MemoryStore) = (&self.store, self.store.crash_without_index());
        assert_eq!(rows(live), rows(&rebuilt), "an index built from the logs is another one");
    }

    /// Lets time pass until nothing is under way but what somebody has to release; that.
    fn let_time_pass(&mut self) -> Vec<Value> {
        for step in 1..=STEPS {
            self.settle();
            self.clock.advance(STEP);
            if step % LOOK == 0 {
                let runs = self.unfinished();
                if runs.iter().all(is_parked) {
                    return runs;
                }
            }
        }
        panic!("after all deadlines runs are still under way: {:?}", self.unfinished())
    }

    /// Lets what is held or paused go on, until nothing is.
    fn release(&mut self) {
        for _ in 0..40 {
            let runs = self.let_time_pass();
            if runs.is_empty() {
                return;
            }
            for run in runs {
                let mut params = json!({"threadId": run["threadId"], "branchId": run["branchId"]});
                let method = if run["state"] == "paused" { "run/stop" } else { "run/skip" };
                if method == "run/stop" {
                    params["runId"] = run["runId"].clone();
                }
                self.query(method, params).expect("the daemon lives").expect("what waits can be released");
            }
        }
    }

    fn unfinished(&mut self) -> Vec<Value> {
        self.settle();
        let states = ["queued", "running", "waiting", "paused"];
        self.all("run/list", json!({"states": states, "limit": 1_000})).expect("the daemon lives")
    }

    fn check_runs(&mut self) {
        assert_eq!(self.unfinished(), Vec::<Value>::new(), "what was released has ended");
        for (thread, log) in self.book.logs.iter().filter(|(thread, _)| !self.book.gone.contains(*thread)) {
            assert!(log.open_runs().is_empty(), "{thread} has runs that did not end: {:?}", log.open_runs());
        }
        let open = self.all("interaction/list", json!({})).expect("the daemon lives");
        let open: Vec<String> = open.iter().map(|interaction| text(&interaction["interactionId"])).collect();
        assert!(open.is_empty(), "nobody waits for {open:?} any more");
        let status = self.query("daemon/status", json!({})).expect("the daemon lives").expect("a status");
        assert_eq!(status["counts"]["openInteractions"], 0, "{status}");
        assert_eq!(status["counts"]["runs"], json!({}), "{status}");
        assert_eq!(status["health"]["state"], "ok", "{status}");
    }
}

/// Whether a run goes on only when somebody says so: it is paused, or waits in a queue, held or behind one that is paused.
fn is_parked(run: &Value) -> bool {
    run["state"] == "queued" || run["state"] == "paused" && run["reason"].is_string()
}
