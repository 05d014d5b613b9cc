//! What a daemon takes that does nothing, what its clients add, and how soon it is there.

use std::{
    io,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    DaemonOptions, DaemonProcess, Signal,
    bench::{
        Bench, absent,
        floor::Floor,
        report::{Bar, Row},
        subject::new_thread,
        timing::Pair,
        wire::Wire,
    },
};

pub(super) const NAMES: &[&str] = &["memory, idle", "memory of a client that follows a thread"];
pub(super) const THREADS: &[&str] = &["memory of an idle thread"];
pub(super) const START: &[&str] = &["start to ready", "start to ready, a home that is new"];

const CLIENTS: u32 = 100;
/// Threads that are started and left alone, and how many at once.
const IDLE: usize = 2_000;
const STARTED_AT_ONCE: usize = 20;
/// How long a thread stays awake when nobody needs it any more, and a little.
const ASLEEP: Duration = Duration::from_secs(25);
/// Until what starting does behind the ready line is over.
const SETTLES: Duration = Duration::from_secs(1);
const STARTS: usize = 9;

pub(super) async fn memory(bench: &Bench) -> io::Result<Vec<Row>> {
    let Some(mut daemon) = fresh(bench, "idle").await? else { return Ok(absent()) };
    tokio::time::sleep(SETTLES).await;
    let idle = daemon.usage()?.resident_bytes as f64;
    let mut owner = Wire::greeted(&daemon.ready().socket).await?;
    let thread = new_thread(&mut owner, false, json!({})).await?;
    let before = daemon.usage()?.resident_bytes as f64;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let mut wire = Wire::greeted(&daemon.ready().socket).await?;
        wire.call("thread/subscribe", json!({"threadId": thread})).await?;
        clients.push(wire);
    }
    let each = (daemon.usage()?.resident_bytes as f64 - before) / f64::from(CLIENTS);
    end(&mut daemon).await?;
    Ok(vec![
        Row::new(NAMES[0], "MiB", idle / f64::from(1 << 20), Bar::AtMost(25.0)),
        Row::new(NAMES[1], "KiB", each / 1024.0, Bar::AtMost(64.0)),
    ])
}

/// What each of many threads takes that sleep: the first ones warm up what is kept for good.
pub(super) async fn threads(bench: &Bench) -> io::Result<Vec<Row>> {
    let Some(mut daemon) = fresh(bench, "threads").await? else { return Ok(absent()) };
    let mut resident = Vec::new();
    for _ in 0..2 {
        let mut starting = tokio::task::JoinSet::new();
        for _ in 0..STARTED_AT_ONCE {
            let mut wire = Wire::greeted(&daemon.ready().socket).await?;
            starting.spawn(async move {
                for _ in 0..IDLE / STARTED_AT_ONCE {
                    new_thread(&mut wire, false, json!({})).await?;
                }
                Ok::<_, io::Error>(())
            });
        }
        while let Some(done) = starting.join_next().await {
            done.map_err(io::Error::other)??;
        }
        tokio::time::sleep(ASLEEP).await;
        resident.push(daemon.usage()?.resident_bytes as f64);
    }
    end(&mut daemon).await?;
    let each = (resident[1] - resident[0]) / IDLE as f64;
    Ok(vec![Row::new(THREADS[0], "KiB", each / 1024.0, Bar::AtMost(1.0))])
}

pub(super) async fn start(bench: &Bench) -> io::Result<Vec<Row>> {
    let (mut warm, mut cold) = (Pair::default(), Pair::default());
    for number in 0..STARTS {
        let name = format!("start-{number}");
        let since = Instant::now();
        let floor = Floor::spawn(&bench.dir.join(format!("{name}.sock"))).await?;
        let bare = since.elapsed().as_secs_f64() * 1e3;
        drop(floor);
        for pair in [&mut cold, &mut warm] {
            let since = Instant::now();
            let Some(mut daemon) = fresh(bench, &name).await? else { return Ok(absent()) };
            pair.add(since.elapsed().as_secs_f64() * 1e3, bare);
            end(&mut daemon).await?;
        }
    }
    Ok(vec![
        Row::new(START[0], "ms", warm.figure(), Bar::AtMost(100.0)).over(warm.floor()),
        Row::new(START[1], "ms", cold.figure(), Bar::None).over(cold.floor()),
    ])
}

/// A daemon on the home of that name.
pub(super) async fn fresh(bench: &Bench, name: &str) -> io::Result<Option<DaemonProcess>> {
    let Some(program) = &bench.subject.program else { return Ok(None) };
    let options = DaemonOptions::new(program, bench.dir.join(name));
    DaemonProcess::start(&options).await.map(Some).map_err(io::Error::other)
}

pub(super) async fn end(daemon: &mut DaemonProcess) -> io::Result<()> {
    daemon.signal(Signal::Terminate)?;
    daemon.ended().await.map(drop)
}
