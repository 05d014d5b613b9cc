//! A daemon that is killed in the middle of a step: what it sends afterwards is refused by no provider, and is what
//! `thread/messages` shows.

use rand::{Rng, SeedableRng, rngs::StdRng};
use ropewalk_conformance::{
    ScriptedServer, ServerOptions, Shape,
    suite::{Raw, endpoint, same_as_shown},
};
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{Place, client, get_issue};
use crate::support::{success, text};

/// How often the daemon is killed in each shape.
const ROUNDS: usize = 6;
/// Lines of the longest script, its deltas included, are fewer.
const MOST_LINES: usize = 45;
/// Whoever wants other instants changes this; a failing round names its own.
const SEED: u64 = 20_261_130;

/// What a run may be asked for, each with other places to be killed in.
const SCRIPTS: [&str; 3] = [
    "think it over\nthink [redacted] hidden\nsay let me look\ncall get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"2\"}\n\
     then think again\ncall get_issue {\"id\":\"3\"}\nthen think enough\nsay done",
    "say one two three four five six seven eight nine ten eleven twelve",
    "call get_issue {\"id\":\ncall get_issue {\"id\":\"1\"}\nthen call no_such_tool\nthen say well",
];

/// A thread of a daemon that is killed again and again, and its client of the moment.
struct Patient<'a> {
    place: &'a Place,
    daemon: ropewalk_conformance::DaemonProcess,
    bot: Raw<UnixStream>,
    thread: Value,
}

impl<'a> Patient<'a> {
    /// A daemon with an endpoint of this shape at the server, and a thread with a tool.
    async fn new(place: &'a Place, server: &ScriptedServer, shape: Shape) -> Self {
        let daemon = place.daemon().await;
        let mut bot = client(&daemon, "bot", "in-A").await;
        bot.call("endpoint/set", endpoint(server, shape)).await;
        let started = bot.call("thread/start", json!({"tools": [get_issue("allow")]})).await;
        Self { place, daemon, bot, thread: started["thread"]["threadId"].clone() }
    }

    async fn submit(&mut self, script: &str) -> Value {
        let submit = json!({"threadId": self.thread, "input": text(script)});
        self.bot.call("run/submit", submit).await["runId"].clone()
    }

    /// Answers calls for so many lines, or to the end of the run.
    async fn goes_on_for(&mut self, lines: usize) {
        for _ in 0..lines {
            let line = if self.bot.kept.is_empty() { self.bot.next().await } else { self.bot.kept.remove(0) };
            if self.takes(&line).await {
                break;
            }
        }
    }

    /// Answers calls until the run has ended; its outcome.
    async fn ends(&mut self, run: &Value) -> Value {
        loop {
            let line = self.bot.until("a call or an end", |line| {
                line["method"] == "tool/call" || line["params"]["event"]["type"] == "runCompleted"
            });
            let line = line.await;
            if self.takes(&line).await && line["params"]["event"]["runId"] == *run {
                return line["params"]["event"]["outcome"].clone();
            }
        }
    }

    async fn takes(&mut self, line: &Value) -> bool {
        if line["method"] == "tool/call" {
            self.bot.reply(line, success("an issue")).await;
        }
        line["params"]["event"]["type"] == "runCompleted"
    }

    /// Kills the daemon, starts another on the same home, and resumes the thread from its beginning.
    async fn killed_and_back(self) -> Self {
        let Self { place, daemon, thread, .. } = self;
        daemon.kill().await.unwrap();
        let daemon = place.daemon().await;
        let mut bot = client(&daemon, "bot", "in-A").await;
        bot.call("thread/resume", json!({"threadId": thread, "after": 0})).await;
        Self { place, daemon, bot, thread }
    }
}

#[tokio::test]
async fn l01_l19_l22_a_daemon_killed_at_any_instant_sends_a_history_that_is_accepted() {
    let mut random = StdRng::seed_from_u64(SEED);
    for shape in Shape::ALL {
        let server = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
        let place = Place::new();
        let mut patient = Patient::new(&place, &server, *shape).await;
        for round in 0..ROUNDS {
            let (script, lines) = (SCRIPTS[round % SCRIPTS.len()], random.random_range(0..MOST_LINES));
            let context = format!("{shape:?}, round {round} of seed {SEED}: {script:?}, killed after {lines} lines");
            let run = patient.submit(script).await;
            patient.goes_on_for(lines).await;
            patient = patient.killed_and_back().await;
            // Every other time somebody stops what would go on, wherever that is.
            if round >= SCRIPTS.len() {
                patient.bot.call("run/stop", json!({"threadId": patient.thread})).await;
            }
            let outcome = patient.ends(&run).await;
            let expected: &[&str] = if round >= SCRIPTS.len() { &["stopped", "completed"] } else { &["completed"] };
            assert!(expected.iter().any(|expected| outcome["status"] == *expected), "{context}: {outcome}");
            let next = patient.submit("say next").await;
            assert_eq!(patient.ends(&next).await["status"], "completed", "{context}");
            same_as_shown(&server, &mut patient.bot, &patient.thread).await;
        }
        patient.daemon.kill().await.unwrap();
    }
}

#[tokio::test]
async fn l22_thinking_outlives_a_daemon_that_is_killed_between_call_and_result() {
    for shape in Shape::ALL {
        let server = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
        let place = Place::new();
        let mut patient = Patient::new(&place, &server, *shape).await;
        let run = patient.submit(SCRIPTS[0]).await;
        for call in 1..=3 {
            let asked = patient.bot.asked("tool/call").await;
            assert_eq!(asked["params"]["arguments"]["id"], call.to_string(), "{shape:?}");
            patient = patient.killed_and_back().await;
            let again = patient.bot.asked("tool/call").await;
            assert_eq!(again["params"]["callId"], asked["params"]["callId"], "{shape:?}: the same call, once more");
            patient.bot.reply(&again, success("an issue")).await;
        }
        let outcome = patient.ends(&run).await;
        assert_eq!((&outcome["status"], &outcome["text"]), (&json!("completed"), &json!("done")), "{shape:?}");
        same_as_shown(&server, &mut patient.bot, &patient.thread).await;
        let answers = server.requests().len();
        assert_eq!(answers, 3, "{shape:?}: no step was asked twice, for each was stored before its call was offered");
        patient.daemon.kill().await.unwrap();
    }
}
