//! What Ropewalk adds to a run: over the time of its model, and for a client's tool.

use std::{
    io,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::bench::{
    Bench,
    disk::Appended,
    floor::echo,
    report::{Bar, Row},
    subject::{echo_tool, new_thread, submit},
    timing::{DISK_ROUNDS, Pair, ROUNDS, micros, micros_each},
    wire::{Wire, contains, id_of, request, tool_result},
};

pub(super) const OVERHEAD: &[&str] = &["a run over its model's time"];
pub(super) const TOOL: &[&str] = &["a client tool's round trip"];

/// Calls of the longer batch; the difference to a batch of one is what so many less one cost.
const CALLS: usize = 41;

/// The built-in model takes no time, so a run on it is all overhead.
pub(super) async fn overhead(bench: &Bench) -> io::Result<Vec<Row>> {
    let mut client = Client::start(bench).await?;
    client.run("four words make it").await?;
    let before = bench.subject.log_bytes().await?;
    client.run("four words make it").await?;
    let bytes = bench.subject.log_bytes().await?.saturating_sub(before);
    let mut file = Appended::new(&bench.dir, "run", usize::try_from(bytes / 3).unwrap_or(0))?;
    let mut pair = Pair::default();
    for _ in 0..DISK_ROUNDS {
        let floor = 3.0 * file.micros(3)?;
        pair.add(micros(client.run("four words make it").await?), floor);
    }
    Ok(vec![Row::new(OVERHEAD[0], "us", pair.figure(), Bar::TimesAtMost(1.5)).over(pair.floor())])
}

pub(super) async fn tool(bench: &Bench) -> io::Result<Vec<Row>> {
    let mut client = Client::start(bench).await?;
    client.run(&calls(1)).await?;
    let before = bench.subject.log_bytes().await?;
    client.run(&calls(CALLS)).await?;
    let bytes = bench.subject.log_bytes().await?.saturating_sub(before);
    let mut file = Appended::new(&bench.dir, "call", usize::try_from(bytes).unwrap_or(0) / CALLS / 2)?;
    let mut bare = bench.floor.connect().await?;
    let same = echo(client.call_bytes, tool_result(1).len());
    let mut pair = Pair::default();
    for _ in 0..2 * ROUNDS {
        let synced = 2.0 * file.micros(2 * CALLS)?;
        let since = Instant::now();
        for _ in 0..CALLS {
            bare.exchange(&same).await?;
        }
        let floor = synced + micros_each(since, CALLS);
        let mut client = Client::start(bench).await?;
        let one = client.run(&calls(1)).await?;
        let many = client.run(&calls(CALLS)).await?;
        pair.add(micros(many.saturating_sub(one)) / (CALLS - 1) as f64, floor);
    }
    Ok(vec![Row::new(TOOL[0], "us", pair.figure(), Bar::TimesAtMost(1.5)).over(pair.floor())])
}

fn calls(count: usize) -> String {
    "call echo {\"id\":\"7\"}\n".repeat(count)
}

/// A client that follows a thread of its own and answers the calls of its tool at once.
pub(super) struct Client {
    wire: Wire,
    thread: String,
    call_bytes: usize,
}

impl Client {
    pub(super) async fn start(bench: &Bench) -> io::Result<Self> {
        Self::start_on(bench, json!({})).await
    }

    pub(super) async fn start_on(bench: &Bench, mut more: serde_json::Value) -> io::Result<Self> {
        let mut wire = bench.subject.connect().await?;
        more["tools"] = json!([echo_tool()]);
        let thread = new_thread(&mut wire, true, more).await?;
        Ok(Self { wire, thread, call_bytes: 0 })
    }

    /// Submits an input and waits for the end of its run, which must be a good one.
    pub(super) async fn run(&mut self, text: &str) -> io::Result<Duration> {
        let line = request(0, "run/submit", &submit(&self.thread, text));
        let since = Instant::now();
        self.wire.send(&line).await?;
        loop {
            let line = self.wire.next().await?;
            if contains(line, r#""method":"tool/call""#) {
                let id = id_of(line).unwrap_or_default();
                self.call_bytes = line.len();
                self.wire.send(tool_result(id).as_bytes()).await?;
            } else if contains(line, r#""type":"runCompleted""#) {
                if contains(line, r#""status":"completed""#) {
                    return Ok(since.elapsed());
                }
                return Err(io::Error::other(format!("a run failed: {}", String::from_utf8_lossy(line))));
            } else if contains(line, r#""error":{"code""#) {
                return Err(io::Error::other(format!("refused: {}", String::from_utf8_lossy(line))));
            }
        }
    }
}
