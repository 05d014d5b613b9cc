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
    wire::{Wire, contains, request},
};

pub(super) const NAMES: &[&str] = &["text to one client", "text to 100 clients"];
pub(super) const STOP: &[&str] = &["stop of a run whose client does not read"];

/// Words of the streamed text.
const WORDS: usize = 150_000;
const CLIENTS: usize = 100;
/// How often each is measured.
const TURNS: usize = 5;

pub(super) async fn streams(bench: &Bench) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, clients, bar) in [(NAMES[0], 1, 0.5), (NAMES[1], CLIENTS, 1.0 / 1.3)] {
        let mut pair = Pair::default();
        for _ in 0..TURNS {
            let (bytes, figure) = text_to(bench, clients).await?;
            pair.add(figure, bytes_to(bench, clients, bytes).await?);
        }
        rows.push(Row::new(name, "MB/s", pair.figure(), Bar::TimesAtLeast(bar)).over(pair.floor()));
    }
    Ok(rows)
}

/// A moment, and how much had been read by then.
type Read = (Instant, Instant, usize);

/// Streams the text to so many clients: the bytes of each, and megabytes a second from the first byte that any of them
/// got to the last byte that the last of them got.
async fn text_to(bench: &Bench, clients: usize) -> io::Result<(usize, f64)> {
    let mut owner = bench.subject.connect().await?;
    let thread = new_thread(&mut owner, false, json!({})).await?;
    let mut reading = JoinSet::new();
    for _ in 0..clients {
        let mut wire = bench.subject.connect().await?;
        wire.call("thread/subscribe", json!({"threadId": thread})).await?;
        reading.spawn(read_text(wire));
    }
    owner.call("run/submit", submit(&thread, &format!("say {}", "word ".repeat(WORDS)))).await?;
    let reads = all(reading).await?;
    Ok((reads.iter().map(|read| read.2).sum::<usize>() / clients, megabytes_a_second(&reads)))
}

async fn bytes_to(bench: &Bench, clients: usize, bytes: usize) -> io::Result<f64> {
    let mut reading = JoinSet::new();
    for _ in 0..clients {
        let mut wire = bench.floor.connect().await?;
        reading.spawn(async move {
            wire.send(&pour(bytes)).await?;
            let mut read = wire.some().await?;
            let first = Instant::now();
            while read < bytes {
                read += wire.some().await?;
            }
            Ok((first, Instant::now(), read))
        });
    }
    Ok(megabytes_a_second(&all(reading).await?))
}

async fn read_text(mut wire: Wire) -> io::Result<Read> {
    let mut read = wire.until(r#""type":"itemDelta""#).await?.len();
    let first = Instant::now();
    let mut last = first;
    loop {
        let line = wire.next().await?;
        if contains(&line[..line.len().min(256)], r#""type":"itemDelta""#) {
            read += line.len();
            last = Instant::now();
        } else if contains(line, r#""type":"runCompleted""#) {
            return Ok((first, last, read));
        }
    }
}

async fn all(mut reading: JoinSet<io::Result<Read>>) -> io::Result<Vec<Read>> {
    let mut reads = Vec::new();
    while let Some(read) = reading.join_next().await {
        reads.push(read.map_err(io::Error::other)??);
    }
    Ok(reads)
}

fn megabytes_a_second(reads: &[Read]) -> f64 {
    let first = reads.iter().map(|read| read.0).min();
    let last = reads.iter().map(|read| read.1).max();
    let time = first.zip(last).map_or(Duration::ZERO, |(first, last)| last.duration_since(first));
    reads.iter().map(|read| read.2).sum::<usize>() as f64 / time.as_secs_f64() / 1e6
}

/// A client that has not read for so long that the daemon cannot send it any more, asks for a stop and only then reads.
pub(super) async fn stop(bench: &Bench) -> io::Result<Vec<Row>> {
    let mut times = Vec::new();
    for _ in 0..TURNS {
        let mut wire = bench.subject.connect().await?;
        let thread = new_thread(&mut wire, true, json!({})).await?;
        let text = format!("say {}\nsleep 3600000", "word ".repeat(2 * WORDS));
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
    while words < 2 * WORDS {
        let line = wire.until(r#""type":"itemDelta""#).await?;
        words += memchr::memmem::find_iter(line, "word ").count();
    }
    Ok(())
}
