//! What a durable write costs: an input that is queued on a busy branch.

use std::{io, sync::Mutex, time::Instant};

use serde_json::json;

use crate::bench::{
    Bench,
    disk::Appended,
    report::{Bar, Row},
    subject::{new_thread, submit},
    timing::{DISK_ROUNDS, Pair, micros_each, rate},
    wire::{Wire, request},
};

pub(super) const NAMES: &[&str] = &["durable write, 1 client", "durable write, 64 clients", "appends, 64 at once"];

/// Writes of one turn: a branch takes 1,000 queued inputs.
const WRITES: usize = 5;
const CLIENTS: usize = 64;
/// Writes of each of many clients.
const WRITES_OF_MANY: usize = 60;

pub(super) async fn durable(bench: &Bench) -> io::Result<Vec<Row>> {
    let mut client = Busy::start(bench).await?;
    let before = bench.subject.log_bytes().await?;
    client.write(WRITES).await?;
    let bytes = usize::try_from(bench.subject.log_bytes().await?.saturating_sub(before)).unwrap_or(0) / WRITES;
    let mut file = Appended::new(&bench.dir, "write", bytes)?;
    let mut pair = Pair::default();
    for _ in 0..DISK_ROUNDS {
        let floor = file.micros(WRITES)?;
        let since = Instant::now();
        client.write(WRITES).await?;
        pair.add(micros_each(since, WRITES), floor);
    }
    client.stop().await?;
    let alone = 1e6 / pair.figure();
    let one = Row::new(NAMES[0], "us", pair.figure(), Bar::TimesAtMost(1.3)).over(pair.floor());
    let together = many(bench).await?;
    let many = Row::new(NAMES[1], "1/s, over one", together, Bar::TimesAtLeast(3.0)).over(alone);
    let floor = Row::new(NAMES[2], "1/s, over one", bare(bench, bytes).await?, Bar::None).over(1e6 / pair.floor());
    Ok(vec![one, many, floor])
}

async fn many(bench: &Bench) -> io::Result<f64> {
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(Some(Busy::start(bench).await?));
    }
    let clients = Mutex::new(clients);
    let done = std::sync::Arc::new(Mutex::new(Vec::new()));
    let work = |number: usize| {
        let client = clients.lock().expect("nobody panics with it")[number].take();
        let done = std::sync::Arc::clone(&done);
        async move {
            let mut client = client.expect("each is taken once");
            client.write(WRITES_OF_MANY).await?;
            done.lock().expect("nobody panics with it").push(client);
            Ok(())
        }
    };
    let rate = rate(CLIENTS, WRITES_OF_MANY, work).await?;
    let clients = std::mem::take(&mut *done.lock().expect("nobody panics with it"));
    for client in clients {
        client.stop().await?;
    }
    Ok(rate)
}

/// The same number of files appended to and synced by as many threads.
async fn bare(bench: &Bench, bytes: usize) -> io::Result<f64> {
    let files: Result<Vec<_>, _> =
        (0..CLIENTS).map(|number| Appended::new(&bench.dir, &number.to_string(), bytes)).collect();
    let files = Mutex::new(files?.into_iter().map(Some).collect::<Vec<_>>());
    let work = |number: usize| {
        let file = files.lock().expect("nobody panics with it")[number].take();
        async move {
            let mut file = file.expect("each is taken once");
            tokio::task::spawn_blocking(move || file.append(WRITES_OF_MANY)).await.map_err(io::Error::other)?
        }
    };
    rate(CLIENTS, WRITES_OF_MANY, work).await
}

/// A client and a thread whose branch is busy until it is stopped.
struct Busy {
    wire: Wire,
    thread: String,
    line: Vec<u8>,
}

impl Busy {
    async fn start(bench: &Bench) -> io::Result<Self> {
        let mut wire = bench.subject.connect().await?;
        let thread = new_thread(&mut wire, false, json!({})).await?;
        wire.call("run/submit", submit(&thread, "sleep 3600000")).await?;
        let line = request(0, "run/submit", &submit(&thread, "What is issue 7 about?"));
        Ok(Self { wire, thread, line })
    }

    async fn write(&mut self, count: usize) -> io::Result<()> {
        for _ in 0..count {
            self.wire.ask(&self.line).await?;
        }
        Ok(())
    }

    async fn stop(mut self) -> io::Result<()> {
        self.wire.call("run/stop", json!({"threadId": self.thread})).await.map(drop)
    }
}
