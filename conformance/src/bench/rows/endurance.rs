//! Many runs: at once, and one after the other for a long time.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::sync::Mutex;

use super::runs::Client;
use crate::bench::{
    Bench,
    model::StrictModel,
    report::{Bar, Row},
    timing::rate,
};

pub(super) const MANY: &[&str] = &["32 threads x 20 runs at once", "CPU of one of these runs"];
pub(super) const THOUSAND: &[&str] = &[
    "memory grown by the second 1,000 runs",
    "memory after 2,000 runs",
    "histories refused by the strict model",
    "one of 2,000 runs, over HTTP",
];

const THREADS: usize = 32;
const RUNS: usize = 20;
/// Runs of the long row, on threads with as many runs each as in the other.
const LONG: usize = 1_000;
/// How long a thread stays awake when nobody needs it any more, and a little.
const ASLEEP: Duration = Duration::from_secs(25);

pub(super) async fn many_at_once(bench: &Bench) -> io::Result<Vec<Row>> {
    let mut clients = Vec::new();
    for _ in 0..THREADS {
        clients.push(Arc::new(Mutex::new(Client::start(bench).await?)));
    }
    let before = bench.subject.usage()?.cpu;
    let work = |number: usize| {
        let client = Arc::clone(&clients[number]);
        async move {
            let mut client = client.lock().await;
            for _ in 0..RUNS {
                client.run("four words make it").await?;
            }
            Ok(())
        }
    };
    let rate = rate(THREADS, RUNS, work).await?;
    let cpu = bench.subject.usage()?.cpu.saturating_sub(before);
    let each = cpu.as_secs_f64() * 1e3 / (THREADS * RUNS) as f64;
    Ok(vec![Row::new(MANY[0], "runs/s", rate, Bar::AtLeast(400.0)), Row::new(MANY[1], "ms", each, Bar::AtMost(2.0))])
}

/// The same twice: the first time warms up what is kept for good.
pub(super) async fn thousand(bench: &Bench) -> io::Result<Vec<Row>> {
    let model = StrictModel::start(bench).await?;
    let (mut resident, mut took) = (Vec::new(), Duration::ZERO);
    for _ in 0..2 {
        let since = Instant::now();
        for _ in 0..LONG / RUNS {
            let mut client = Client::start_on(bench, json!({"endpointId": model.endpoint_id})).await?;
            for run in 0..RUNS {
                let text = if run % 2 == 0 { "What is it about?" } else { "call echo {\"id\":\"7\"}" };
                client.run(text).await?;
            }
        }
        took += since.elapsed();
        tokio::time::sleep(ASLEEP).await;
        resident.push(bench.subject.usage()?.resident_bytes as f64 / f64::from(1 << 20));
    }
    let refused = model.finish(bench).await?;
    Ok(vec![
        Row::new(THOUSAND[0], "MiB", resident[1] - resident[0], Bar::AtMost(4.0)),
        Row::new(THOUSAND[1], "MiB", resident[1], Bar::None),
        Row::new(THOUSAND[2], "", refused as f64, Bar::AtMost(0.0)),
        Row::new(THOUSAND[3], "ms", took.as_secs_f64() * 1e3 / (2 * LONG) as f64, Bar::None),
    ])
}
