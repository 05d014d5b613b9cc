//! Readers that lag: one that sleeps for the whole run beside one that does not, and one that comes to a long thread.

use std::{
    io,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::task::JoinHandle;

use crate::bench::{
    Bench,
    report::{Bar, Row},
    subject::new_thread,
    timing::{Pair, micros},
    wire::{Wire, contains, request},
};

pub(super) const NAMES: &[&str] = &[
    "events to a client while another is asleep",
    "memory grown by the second half of them",
    "events the sleeper has missed",
    "attach to a thread of 100,000 events",
    "memory grown by a hundred such clients",
];

/// Events of the long thread.
const EVENTS: u64 = 100_000;
/// Renames that are under way at once: as many as one connection may have.
const AT_ONCE: u64 = 64;
/// How often a client comes to the long thread, and to the short one.
const ATTACHES: usize = 100;
/// Until what lags behind the last event is over.
const SETTLES: Duration = Duration::from_secs(1);

pub(super) async fn sleepers(bench: &Bench) -> io::Result<Vec<Row>> {
    let mut writer = bench.subject.connect().await?;
    let thread = new_thread(&mut writer, false, json!({})).await?;
    let mut sleeper = bench.subject.connect().await?;
    sleeper.call("thread/subscribe", json!({"threadId": thread, "after": 0})).await?;
    let mut healthy = bench.subject.connect().await?;
    healthy.call("thread/subscribe", json!({"threadId": thread, "after": 0})).await?;
    let reading: JoinHandle<io::Result<u64>> = tokio::spawn(async move { all_events(&mut healthy, EVENTS).await });

    let since = Instant::now();
    rename(&mut writer, &thread, EVENTS / 2).await?;
    let half = bench.subject.usage()?.resident_bytes as f64;
    rename(&mut writer, &thread, EVENTS - EVENTS / 2).await?;
    reading.await.map_err(io::Error::other)??;
    let rate = EVENTS as f64 / since.elapsed().as_secs_f64();
    let grown = bench.subject.usage()?.resident_bytes as f64 - half;
    let reached = all_events(&mut sleeper, EVENTS).await?;

    let short = new_thread(&mut writer, false, json!({})).await?;
    rename(&mut writer, &short, 8).await?;
    tokio::time::sleep(SETTLES).await;
    let before = bench.subject.usage()?.resident_bytes as f64;
    let mut pair = Pair::default();
    let mut attached = Vec::new();
    for _ in 0..ATTACHES {
        let (long, wire) = attach(bench, &thread).await?;
        attached.push(wire);
        pair.add(long, attach(bench, &short).await?.0);
    }
    let clients = bench.subject.usage()?.resident_bytes as f64 - before;
    let mib = f64::from(1 << 20);
    Ok(vec![
        Row::new(NAMES[0], "1/s", rate, Bar::AtLeast(10_000.0)),
        Row::new(NAMES[1], "MiB", grown / mib, Bar::AtMost(1.0)),
        Row::new(NAMES[2], "", (EVENTS - reached.min(EVENTS)) as f64, Bar::AtMost(0.0)),
        Row::new(NAMES[3], "us", pair.figure(), Bar::TimesAtMost(3.0)).over(pair.floor()),
        Row::new(NAMES[4], "MiB", clients / mib, Bar::AtMost(6.25)),
    ])
}

/// Makes so many durable events of a thread, as fast as one connection may.
async fn rename(writer: &mut Wire, thread: &str, count: u64) -> io::Result<()> {
    let (mut asked, mut answered) = (0, 0);
    while answered < count {
        while asked < count && asked - answered < AT_ONCE {
            let title = json!({"threadId": thread, "title": format!("title {asked}")});
            writer.send(&request(asked, "thread/update", &title)).await?;
            asked += 1;
        }
        let answer = writer.next().await?;
        if contains(&answer[..answer.len().min(64)], r#""error":"#) {
            return Err(io::Error::other(String::from_utf8_lossy(answer).into_owned()));
        }
        answered += 1;
    }
    Ok(())
}

/// Reads durable events in order until there were so many; the last of them.
async fn all_events(wire: &mut Wire, count: u64) -> io::Result<u64> {
    let mut reached = 0;
    while reached < count {
        let line = wire.next().await?;
        if contains(line, &format!(r#""seq":{},"#, reached + 1)) {
            reached += 1;
        } else {
            return Err(io::Error::other(format!("after {reached} came {}", String::from_utf8_lossy(line))));
        }
    }
    Ok(reached)
}

/// A new client that resumes a thread without a cursor: microseconds to its answer, the snapshot.
async fn attach(bench: &Bench, thread: &str) -> io::Result<(f64, Wire)> {
    let mut wire = bench.subject.connect().await?;
    let since = Instant::now();
    wire.call("thread/resume", json!({"threadId": thread})).await?;
    Ok((micros(since.elapsed()), wire))
}
