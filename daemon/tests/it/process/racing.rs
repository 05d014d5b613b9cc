//! Two clients of one real daemon who want the same thing at the same moment: one wins, and the other is told precisely.

use ropewalk_conformance::suite::Raw;
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{Place, client};
use crate::support::{success, text, tool_with};

/// Runs, and the approvals each of them asks for.
const RUNS: usize = 10;
const APPROVALS: usize = 100;
/// How often two clients rename a thread at once, and stop a run at once.
const RENAMES: usize = 1_000;
const STOPS: usize = 100;

/// Two clients that follow one thread of the first, whose calls all ask.
async fn two(daemon: &ropewalk_conformance::DaemonProcess) -> (Raw<UnixStream>, Raw<UnixStream>, Value) {
    let mut one = client(daemon, "one", "in-1").await;
    let thread = one.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let mut other = client(daemon, "other", "in-2").await;
    other.call("thread/resume", json!({"threadId": thread})).await;
    (one, other, thread)
}

/// Both answers to the same kind of request, made at once; the later asker first every other time.
async fn at_once(
    (one, other): (&mut Raw<UnixStream>, &mut Raw<UnixStream>),
    method: &str,
    params: (Value, Value),
    turned: bool,
) -> (Value, Value) {
    let (a, b) = if turned {
        let b = other.request(method, params.1).await;
        (one.request(method, params.0).await, b)
    } else {
        let a = one.request(method, params.0).await;
        (a, other.request(method, params.1).await)
    };
    (one.answer(a).await, other.answer(b).await)
}

#[tokio::test]
async fn dyn_32_of_two_answers_to_an_approval_one_wins_a_thousand_times_and_the_other_is_told_who_and_when() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let (mut one, mut other, thread) = two(&daemon).await;
    let mut won = [0, 0];
    for _ in 0..RUNS {
        let calls: String = (0..APPROVALS).map(|n| format!("call act {{\"n\":{n}}}\n")).collect();
        let run = one.submit(&thread, &calls).await;
        for n in 0..APPROVALS {
            let asked = one.asked("approval/request").await;
            other.asked("approval/request").await;
            let id = &asked["params"]["interactionId"];
            let yes = json!({"interactionId": id, "answer": {"decision": "accept"}});
            let no = json!({"interactionId": id, "answer": {"decision": "decline", "note": "no"}});
            let (yes, no) = at_once((&mut one, &mut other), "interaction/settle", (yes, no), n % 2 == 0).await;
            let accepted = yes.get("result").is_some();
            assert_ne!(accepted, no.get("result").is_some(), "one winner: {yes} {no}");
            let (winner, loser, instance) = if accepted { (&yes, &no, "in-1") } else { (&no, &yes, "in-2") };
            won[usize::from(!accepted)] += 1;
            let told = one.told("interaction/settled").await;
            assert_eq!(other.told("interaction/settled").await, told, "both are told the same");
            let data = &loser["error"]["data"];
            assert_eq!(data["kind"], "alreadySettled", "{loser}");
            assert_eq!(data["by"]["instanceId"], instance, "{loser}");
            for same in ["interactionId", "by", "at", "outcome", "answer"] {
                assert_eq!(data[same], told[same], "{same}: {loser}");
            }
            assert_eq!(
                (&winner["result"]["outcome"], &winner["result"]["replayed"]),
                (&told["outcome"], &json!(false))
            );
            if accepted {
                let call = one.asked("tool/call").await;
                one.reply(&call, success("done")).await;
                one.told("interaction/settled").await;
            }
        }
        assert_eq!(one.ended(&run).await["outcome"]["status"], "completed");
        other.ended(&run).await;
        one.kept.clear();
        other.kept.clear();
    }
    assert_eq!(won[0] + won[1], RUNS * APPROVALS);
    println!("of {} approvals {} were accepted and {} declined", RUNS * APPROVALS, won[0], won[1]);
    let states = one.calls(&thread).await;
    let completed = states.iter().filter(|item| item["state"] == "completed").count();
    assert_eq!((completed, states.len()), (won[0], RUNS * APPROVALS), "what was told is what happened");
}

#[tokio::test]
async fn dyn_32_of_two_renames_of_one_revision_one_wins_a_thousand_times_and_the_other_gets_the_document() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let (mut one, mut other, thread) = two(&daemon).await;
    let read = one.call("thread/read", json!({"threadId": thread})).await;
    let mut revision = read["thread"]["revision"].clone();
    for n in 0..RENAMES {
        let to = |title: String| json!({"threadId": thread, "title": title, "expectedRevision": revision});
        let titles = (to(format!("one {n}")), to(format!("other {n}")));
        let (a, b) = at_once((&mut one, &mut other), "thread/update", titles, n % 2 == 0).await;
        let (winner, loser) = if a.get("result").is_some() { (a, b) } else { (b, a) };
        let document = &winner["result"]["thread"];
        assert_eq!(loser["error"]["data"]["kind"], "conflict", "{winner} {loser}");
        assert_eq!(loser["error"]["data"]["currentRevision"], document["revision"]);
        assert_eq!(loser["error"]["data"]["current"]["title"], document["title"]);
        revision = document["revision"].clone();
    }
    let log = one.log(&thread).await;
    let renamed = log.iter().filter(|event| event["event"]["thread"]["title"].is_string()).count();
    assert_eq!(renamed, RENAMES, "the losers wrote nothing");
}

#[tokio::test]
async fn dyn_32_of_two_stops_at_once_one_ends_the_run_and_the_other_changes_nothing() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let (mut one, mut other, thread) = two(&daemon).await;
    for n in 0..STOPS {
        let submit = json!({"threadId": thread, "input": text("call act"), "unattended": "wait"});
        let run = one.call("run/submit", submit).await["runId"].clone();
        one.asked("approval/request").await;
        let stop = json!({"threadId": thread, "runId": run});
        let (a, b) = at_once((&mut one, &mut other), "run/stop", (stop.clone(), stop), n % 2 == 0).await;
        assert_eq!(a["result"]["seq"], b["result"]["seq"], "{a} {b}");
        let ended = one.ended(&run).await;
        assert_eq!(ended["outcome"]["status"], "stopped");
        let told = one.told("interaction/settled").await;
        assert_eq!(told["by"]["instanceId"], ended["outcome"]["by"]["instanceId"], "one and the same stopped it");
        one.kept.clear();
        other.kept.clear();
    }
    let log = one.log(&thread).await;
    let ends = log.iter().filter(|event| event["event"]["type"] == "runCompleted").count();
    assert_eq!(ends, STOPS);
}
