//! Programs of the SDK whose daemon stands still under them for a while: nothing is lost, and nothing is done twice.

use ropewalk::{Connect, Ropewalk, RunEvent};
use ropewalk_conformance::{DaemonProcess, Signal};
use serde_json::json;

use super::{PATIENCE, Place};
use crate::reconnecting::play::{Phase, play_stalled};

fn connect(place: &Place) -> Connect {
    Ropewalk::connect().name("bot").home(place.home()).socket(place.home().join("daemon.sock")).start_on_demand(false)
}

/// Has the daemon stand still. When it resolves, the daemon does nothing any more.
async fn stall(daemon: &DaemonProcess) {
    daemon.signal(Signal::Stop).unwrap();
    daemon.stands_still(PATIENCE).await.unwrap();
}

fn resume(daemon: &DaemonProcess) {
    daemon.signal(Signal::Continue).unwrap();
}

#[tokio::test]
async fn dyn_20_whoever_is_at_it_while_the_daemon_stands_still_is_heard_when_it_goes_on() {
    for phase in Phase::ALL {
        let place = Place::new();
        let daemon = place.daemon().await;
        let context = format!("{phase:?}, stalled");
        play_stalled(connect(&place), phase, stall(&daemon), || resume(&daemon), &context).await;
    }
}

#[tokio::test]
async fn dyn_20_what_is_submitted_to_a_daemon_that_stands_still_runs_once() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let client = connect(&place).await.unwrap();
    let thread = client.threads().start().await.unwrap();
    stall(&daemon).await;
    let submitting = tokio::spawn({
        let thread = thread.clone();
        async move { thread.run("say once").await }
    });
    // The request is under way before the daemon goes on.
    tokio::task::yield_now().await;
    resume(&daemon);
    let result = tokio::time::timeout(PATIENCE, submitting).await.unwrap().unwrap().unwrap();
    assert!(result.is_completed() && result.text() == "once", "{result:?}");
    let chain = client.raw("thread/messages", json!({"threadId": thread.id()})).await.unwrap();
    assert_eq!(chain["items"].as_array().unwrap().len(), 2, "one input and one answer");
    client.close().await;
}

#[tokio::test]
async fn dyn_20_a_run_that_streams_while_the_daemon_stands_still_is_followed_to_its_end() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let client = connect(&place).await.unwrap();
    let thread = client.threads().start().await.unwrap();
    let mut run = thread.run("say begun\nsleep 200\nsay and ended").submit().await.unwrap();
    let following = async {
        let mut stalls = 0;
        while let Some(event) = run.next().await {
            match event.unwrap() {
                RunEvent::Text { .. } if stalls == 0 => {
                    stalls += 1;
                    stall(&daemon).await;
                    resume(&daemon);
                }
                RunEvent::Completed(result) => return (stalls, result),
                _ => {}
            }
        }
        panic!("it has no end");
    };
    let (stalls, result) = tokio::time::timeout(PATIENCE, following).await.unwrap();
    assert_eq!(stalls, 1);
    assert!(result.is_completed() && result.text().contains("and ended"), "{result:?}");
    client.close().await;
}
