//! Text on its way to clients: to one, to many, and past a client that wants to stop it.

use std::{
    io,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::task::JoinSet;

use crate::bench::{
    Bench,
    floor::pour,
    report::{Bar, Row},
    subject::{new_thread, submit},
    timing::{Pair, median},
    wire::{contains, request},
};

pub(super) const NAMES: &[&str] = &["text to one client", "text to 100 clients"];
pub(super) const STOP: &[&str] = &["stop of a run whose client does not read"];

/// Words of the streamed text, a delta of the model each.
const WORDS: usize = 20_000;
/// Words that are more than a socket's buffer and the daemon's hot end take.
const FLOOD: usize = 300_000;
const CLIENTS: usize = 100;
/// How often each is measured.
const TURNS: usize = 7;

pub(super) async fn streams(bench: &Bench) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, clients, bar) in [(NAMES[0], 1, 0.5), (NAMES[1], CLIENTS, 1.0 / 1.3)] {
        let mut pair = Pair::default();
        for _ in 0..TURNS {
            let (_, plain) = text_to(bench, clients, 1).await?;
            let (bytes, text) = text_to(bench, clients, WORDS).await?;
            let floor = bytes_to(bench, clients, bytes / clients).await?;
            let rate = |time: Duration| bytes as f64 / time.as_secs_f64() / 1e6;
            pair.add(rate(text.saturating_sub(plain)), rate(floor));
        }
        rows.push(Row::new(name, "MB/s", pair.figure(), Bar::TimesAtLeast(bar)).over(pair.floor()));
    }
    Ok(rows)
}

/// Has a run say so many words to so many clients: the bytes that all of them got, and the time until the last of them
/// had the end of the run.
async fn text_to(bench: &Bench, clients: usize, words: usize) -> io::Result<(usize, Duration)> {
    let mut owner = bench.subject.connect().await?;
    let thread = new_thread(&mut owner, false, json!({})).await?;
    let mut reading = JoinSet::new();
    for _ in 0..clients {
        let mut wire = bench.subject.connect().await?;
        wire.call("thread/subscribe", json!({"threadId": thread})).await?;
        reading.spawn(async move {
            let mut read = 0;
            loop {
                let line = wire.next().await?;
                read += line.len();
                if contains(&line[..line.len().min(256)], r#""type":"runCompleted""#) {
                    return Ok(read);
                }
            }
        });
    }
    let line = request(0, "run/submit", &submit(&thread, &format!("say {}", "word ".repeat(words))));
    let since = Instant::now();
    owner.send(&line).await?;
    Ok((all(reading).await?, since.elapsed()))
}

async fn bytes_to(bench: &Bench, clients: usize, bytes: usize) -> io::Result<Duration> {
    let mut wires = Vec::new();
    for _ in 0..clients {
        wires.push(bench.floor.connect().await?);
    }
    let since = Instant::now();
    let mut reading = JoinSet::new();
    for mut wire in wires {
        reading.spawn(async move {
            wire.send(&pour(bytes)).await?;
            let mut read = 0;
            while read < bytes {
                read += wire.some().await?;
            }
            Ok(read)
        });
    }
    all(reading).await?;
    Ok(since.elapsed())
}

async fn all(mut reading: JoinSet<io::Result<usize>>) -> io::Result<usize> {
    let mut bytes = 0;
    while let Some(read) = reading.join_next().await {
        bytes += read.map_err(io::Error::other)??;
    }
    Ok(bytes)
}

/// A client that has not read for so long that the daemon cannot send it any more, asks for a stop and only then reads.
pub(super) async fn stop(bench: &Bench) -> io::Result<Vec<Row>> {
    let mut times = Vec::new();
    for _ in 0..TURNS {
        let mut wire = bench.subject.connect().await?;
        let thread = new_thread(&mut wire, true, json!({})).await?;
        let text = format!("say {}\nsleep 3600000", "word ".repeat(FLOOD));
        wire.send(&request(0, "run/submit", &submit(&thread, &text))).await?;
        streamed(bench, &thread).await?;
        let since = Instant::now();
        wire.ask_past(&request(7, "run/stop", &json!({"threadId": thread})), r#"{"jsonrpc":"2.0","id":7,"#).await?;
        times.push(since.elapsed().as_secs_f64() * 1e3);
    }
    Ok(vec![Row::new(STOP[0], "ms", median(times), Bar::AtMost(50.0))])
}

/// Waits, over another connection, until all of the text has streamed.
async fn streamed(bench: &Bench, thread: &str) -> io::Result<()> {
    let mut wire = bench.subject.connect().await?;
    wire.call("thread/subscribe", json!({"threadId": thread, "after": 0})).await?;
    let mut words = 0;
    while words < FLOOD {
        let line = wire.until(r#""type":"itemDelta""#).await?;
        words += memchr::memmem::find_iter(line, "word ").count();
    }
    Ok(())
}
