//! A connection that is lost: made again, and what was under way is asked again; or given up, and everybody is told.

use std::time::Duration;

use ropewalk::{
    Client, Connection, Error, Tools,
    protocol::{ErrorDetail, ProtocolRange, RpcError, RunWait, RunWaitParams},
};
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinHandle, time::Instant};

use crate::support::{Daemons, Fake, attach, in_time, initialized, run, started};

/// A client, the daemon it is connected to, and those to come.
async fn connected() -> (Fake, Daemons, Client) {
    let daemons = Daemons::default();
    let fake = daemons.next();
    let client = in_time(daemons.connect().into_future()).await.unwrap();
    (fake, daemons, client)
}

fn spawn<T, Fut>(client: &Client, work: impl FnOnce(Client) -> Fut) -> JoinHandle<T>
where
    T: Send + 'static,
    Fut: Future<Output = T> + Send + 'static,
{
    tokio::spawn(work(client.clone()))
}

/// Waits until the connection is as it should be.
async fn until(connection: &mut watch::Receiver<Connection>, is_so: impl Fn(&Connection) -> bool) -> Connection {
    in_time(connection.wait_for(is_so)).await.unwrap().clone()
}

fn is_closed(connection: &Connection) -> bool {
    matches!(connection, Connection::Closed { .. })
}

#[tokio::test]
async fn dyn_20_what_was_under_way_is_asked_again_and_a_change_under_the_same_operation() {
    let (mut fake, daemons, client) = connected().await;
    let reading = spawn(&client, |client| async move { client.raw("thread/list", json!({})).await });
    let (_, _, _held) = fake.next().await;
    let changing = spawn(&client, |client| async move { client.raw("project/create", json!({"name": "work"})).await });
    let (_, first, _held) = fake.next().await;
    let mut next = daemons.next();
    fake.peer.close();
    for _ in 0..2 {
        let (method, params, responder) = next.next().await;
        if method == "project/create" {
            assert_eq!(params, first, "the same operation");
            assert!(params["operationId"].is_string());
        }
        responder.ok(&json!({"answers": method}));
    }
    assert_eq!(in_time(reading).await.unwrap().unwrap()["answers"], "thread/list");
    assert_eq!(in_time(changing).await.unwrap().unwrap()["answers"], "project/create");
    let said = |fake: &Fake| fake.asked("initialize")[0]["client"].clone();
    assert_eq!(said(&next), said(&fake), "the same process");
}

#[tokio::test]
async fn dyn_20_what_cannot_be_repeated_says_that_its_effect_is_unknown_and_the_client_goes_on() {
    let (mut fake, daemons, client) = connected().await;
    let unknown = spawn(&client, |client| async move { client.raw("of/tomorrow", json!({})).await });
    let (_, _, _held) = fake.next().await;
    let next = daemons.next();
    next.reply("of/tomorrow", |_| Ok(json!({})));
    fake.peer.close();
    let error = in_time(unknown).await.unwrap().unwrap_err();
    assert!(matches!(&error, Error::EffectUnknown { method } if method == "of/tomorrow"), "{error}");
    assert!(next.asked("of/tomorrow").is_empty());
    in_time(client.raw("of/tomorrow", json!({}))).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn dyn_20_a_wait_is_asked_again_with_what_is_left_of_its_time() {
    let (mut fake, daemons, client) = connected().await;
    let params = RunWaitParams { run_id: "run-1".into(), until: None, timeout_ms: Some(10_000) };
    let waiting = spawn(&client, |client| async move { client.call::<RunWait>(params).await });
    let (_, _, _held) = fake.next().await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut next = daemons.next();
    fake.peer.close();
    let (_, params, responder) = next.next().await;
    assert_eq!(params["timeoutMs"], 7_000);
    responder.ok(&json!({"run": run("run-1", "running"), "timedOut": true, "seq": 3}));
    assert!(waiting.await.unwrap().unwrap().timed_out);
}

#[tokio::test(start_paused = true)]
async fn k05_a_daemon_that_does_not_come_back_is_given_up_at_the_deadline_and_all_who_wait_are_told() {
    let (fake, daemons, client) = connected().await;
    fake.reply("thread/start", |_| Ok(started("th-1", 3)));
    let thread = client.threads().start().await.unwrap();
    let mut events = thread.events();
    let begun = Instant::now();
    fake.peer.close();
    let waiting = spawn(&client, |client| async move { client.daemon().status().await });
    let error = waiting.await.unwrap().unwrap_err();
    assert_eq!(begun.elapsed().as_secs(), 120);
    assert!(matches!(&error, Error::ReconnectFailed { attempts: 20..60, after_ms: 120_000, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("attempts in 120000 ms") && text.contains("cannot be reached"), "{text}");
    assert!(matches!(events.next().await, Some(Err(Error::ReconnectFailed { .. }))));
    assert!(events.next().await.is_none());
    assert!(is_closed(&client.connection().borrow()));
    // It has ended for good: nobody connects behind the back of the program.
    let late = daemons.next();
    assert!(client.daemon().status().await.is_err());
    assert_eq!(late.requests(), 0);
}

#[tokio::test(start_paused = true)]
async fn k05_a_connection_that_is_lost_again_and_again_is_given_up_too() {
    let daemons = Daemons::default();
    let fake = daemons.next();
    let client = daemons.connect().reconnect_for(Duration::from_secs(60)).await.unwrap();
    let begun = Instant::now();
    fake.peer.close();
    let mut connection = client.connection();
    let flapping = async {
        loop {
            let fake = daemons.next();
            let is_settled = |it: &Connection| matches!(it, Connection::Connected { .. } | Connection::Closed { .. });
            if is_closed(&until(&mut connection, is_settled).await) {
                return;
            }
            fake.peer.close();
            until(&mut connection, |it| !matches!(it, Connection::Connected { .. })).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(90), flapping).await.unwrap();
    assert!(begun.elapsed() <= Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn k45_close_and_drop_end_a_client_that_is_reconnecting_at_once() {
    let (fake, _daemons, client) = connected().await;
    let mut connection = client.connection();
    fake.peer.close();
    until(&mut connection, |connection| matches!(connection, Connection::Reconnecting { .. })).await;
    let waiting = spawn(&client, |client| async move { client.daemon().status().await });
    tokio::task::yield_now().await;
    let begun = Instant::now();
    client.close().await;
    assert!(matches!(waiting.await.unwrap().unwrap_err(), Error::Disconnected));
    assert_eq!(*connection.borrow_and_update(), Connection::Closed { error: None });
    assert!(begun.elapsed() < Duration::from_millis(1));

    let (fake, daemons, client) = connected().await;
    let mut connection = client.connection();
    fake.peer.close();
    until(&mut connection, |connection| matches!(connection, Connection::Reconnecting { .. })).await;
    drop(client);
    until(&mut connection, is_closed).await;
    let late = daemons.next();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(late.requests(), 0, "the task that would connect has ended");
}

#[tokio::test]
async fn a_daemon_that_does_not_speak_this_protocol_any_more_ends_the_client_with_its_refusal() {
    let (fake, daemons, client) = connected().await;
    let next = daemons.next();
    next.reply("initialize", |_| {
        let supported = ProtocolRange { min: 2, max: 3 };
        let daemon = ropewalk::protocol::DaemonVersion { version: "9.0.0".to_owned() };
        Err(RpcError::new(ErrorDetail::UnsupportedProtocol { supported, daemon }, "This daemon speaks 2 to 3."))
    });
    fake.peer.close();
    let error = in_time(client.daemon().status()).await.unwrap_err();
    assert!(matches!(error.kind(), Some(ErrorDetail::UnsupportedProtocol { .. })), "{error}");
    let shown = Connection::Closed { error: Some("This daemon speaks 2 to 3.".into()) };
    assert_eq!(*client.connection().borrow(), shown);
}

#[tokio::test]
async fn the_connection_shows_the_outage_and_which_life_of_the_daemon_came_after_it() {
    let (fake, daemons, client) = connected().await;
    let mut connection = client.connection();
    let first = Connection::Connected { daemon: "dm-1".into(), reconnects: 0 };
    assert_eq!(*connection.borrow_and_update(), first);
    fake.peer.close();
    let away = until(&mut connection, |it| matches!(it, Connection::Reconnecting { attempt: 2.., .. })).await;
    assert!(matches!(&away, Connection::Reconnecting { reason, .. } if reason.contains("not found")), "{away:?}");
    let next = daemons.next();
    next.reply("initialize", |_| {
        let mut answer = initialized();
        answer["daemon"]["instanceId"] = json!("dm-2");
        answer["limits"]["maxInFlight"] = json!(7);
        Ok(answer)
    });
    let back = until(&mut connection, |it| matches!(it, Connection::Connected { .. })).await;
    assert_eq!(back, Connection::Connected { daemon: "dm-2".into(), reconnects: 1 });
    assert_eq!((client.daemon_info().instance_id.as_str(), client.limits().max_in_flight), ("dm-2", 7));
}

#[tokio::test]
async fn k36_who_shows_lists_is_told_that_all_may_have_changed_meanwhile() {
    let daemons = Daemons::default();
    let fake = daemons.next();
    let (told, mut hear) = tokio::sync::mpsc::unbounded_channel();
    let connect = daemons.connect().on_change(move |change| told.send(change).unwrap());
    let _client = in_time(connect.into_future()).await.unwrap();
    let _next = daemons.next();
    fake.peer.close();
    let change = in_time(hear.recv()).await.unwrap();
    assert_eq!((change.seq, change.ids, change.kinds.len()), (0, None, 18));
}

#[tokio::test]
async fn a_daemon_that_is_ending_is_not_asked_but_the_one_after_it() {
    let (fake, daemons, client) = connected().await;
    let peer = fake.peer.clone();
    fake.reply("thread/list", move |_| {
        let peer = peer.clone();
        tokio::spawn(async move { peer.close() });
        Err(RpcError::new(ErrorDetail::ShuttingDown { grace_ms: 0 }, "The daemon is ending."))
    });
    let next = daemons.next();
    next.reply("thread/list", |_| Ok(json!({"items": []})));
    in_time(client.threads().list(Default::default())).await.unwrap();
    assert_eq!(next.asked("thread/list").len(), 1);
}

#[tokio::test]
async fn a_client_that_has_the_daemon_stopped_does_not_come_back_to_it() {
    let (fake, daemons, client) = connected().await;
    let peer = fake.peer.clone();
    fake.reply("daemon/shutdown", move |_| {
        let peer = peer.clone();
        tokio::spawn(async move { peer.close() });
        Ok(json!({}))
    });
    let next = daemons.next();
    in_time(client.daemon().shutdown(Default::default())).await.unwrap();
    until(&mut client.connection(), is_closed).await;
    assert!(matches!(client.daemon().status().await.unwrap_err(), Error::Disconnected));
    assert_eq!(next.requests(), 0);
}

#[tokio::test]
async fn a_run_whose_submission_is_repeated_is_read_from_where_it_was_first_submitted() {
    let daemons = Daemons::default();
    let fake = daemons.next();
    let (mut fake, thread) = attach(fake, daemons.connect(), Tools::new()).await;
    fake.hold("run/submit");
    let running = tokio::spawn(thread.run("hello").into_future());
    let (_, first, _held) = fake.next().await;
    let next = daemons.next();
    next.reply("thread/resume", |_| {
        Ok(json!({"thread": crate::support::header("th-1", 3), "seq": 3, "tools": [], "replayed": false}))
    });
    next.reply("run/submit", move |params| {
        assert_eq!(params, first);
        let mut answer: Value = crate::support::submitted("run-1");
        answer["replayed"] = json!(true);
        Ok(answer)
    });
    fake.peer.close();
    let mut connection = thread.client().connection();
    until(&mut connection, |it| matches!(it, Connection::Connected { reconnects: 1, .. })).await;
    let outcome = json!({"status": "completed", "text": "hi"});
    next.event("th-1", 4, crate::support::completed("run-1", outcome));
    assert_eq!(in_time(running).await.unwrap().unwrap().text(), "hi");
    assert!(next.asked("thread/events").is_empty(), "nothing from before is read");
}
