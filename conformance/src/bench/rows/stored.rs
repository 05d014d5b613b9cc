//! What starting costs when much is stored, with an index that is good and with one that has to be built anew.

use std::{io, time::Instant};

use serde_json::json;

use super::memory::{end, fresh};
use crate::bench::{
    Bench, absent,
    report::{Bar, Row},
    subject::{new_thread, submit},
    timing::{median, rate},
    wire::Wire,
};

pub(super) const NAMES: &[&str] =
    &["start to ready, 10,000 threads", "walk over the logs, of a thread", "index built anew"];

const THREADS: usize = 10_000;
/// Who makes them, each by a connection of its own.
const CLIENTS: usize = 16;
const STARTS: usize = 7;
/// What is built anew: so many threads of so many runs, whose inputs have so many words.
const LONG_THREADS: usize = 32;
const RUNS: usize = 24;
const WORDS: usize = 1_500;

pub(super) async fn stored(bench: &Bench) -> io::Result<Vec<Row>> {
    let Some(empty) = start(bench, "empty").await? else { return Ok(absent()) };
    let mut bare = vec![empty];
    fill(bench, "many", THREADS / CLIENTS, 0).await?;
    let mut full = Vec::new();
    for _ in 0..STARTS {
        full.extend(start(bench, "many").await?);
        bare.extend(start(bench, "empty").await?);
    }
    let (full, bare) = (median(full), median(bare));
    let bytes = fill(bench, "long", LONG_THREADS / CLIENTS, RUNS).await?;
    let (mut built, mut known) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        known.extend(start_to_lists(bench, "long").await?);
        std::fs::remove_dir_all(bench.dir.join("long/index"))?;
        built.extend(start_to_lists(bench, "long").await?);
    }
    let seconds = (median(built) - median(known)).max(0.001) / 1e3;
    Ok(vec![
        Row::new(NAMES[0], "ms", full, Bar::AtMost(100.0)),
        Row::new(NAMES[1], "us", (full - bare).max(0.0) * 1e3 / THREADS as f64, Bar::AtMost(10.0)),
        Row::new(NAMES[2], "MB/s", bytes as f64 / 1e6 / seconds, Bar::AtLeast(50.0)),
    ])
}

/// Milliseconds from nothing to the ready line on the home of that name.
async fn start(bench: &Bench, name: &str) -> io::Result<Option<f64>> {
    let since = Instant::now();
    let Some(mut daemon) = fresh(bench, name).await? else { return Ok(None) };
    let took = since.elapsed().as_secs_f64() * 1e3;
    end(&mut daemon).await?;
    Ok(Some(took))
}

/// Milliseconds from nothing to an answer that needs the whole index, on the home of that name. Threads are served while
/// the index is built, so that the ready line says nothing about it.
async fn start_to_lists(bench: &Bench, name: &str) -> io::Result<Option<f64>> {
    let since = Instant::now();
    let Some(mut daemon) = fresh(bench, name).await? else { return Ok(None) };
    let mut wire = Wire::greeted(&daemon.ready().socket).await?;
    // Waits up to ten seconds for the end of the work, and is refused as `starting` after that.
    while wire.call("thread/list", json!({"limit": 1})).await.is_err() {}
    let took = since.elapsed().as_secs_f64() * 1e3;
    end(&mut daemon).await?;
    Ok(Some(took))
}

/// Makes threads on the home of that name, each client so many with so many runs each; the bytes of all logs then.
async fn fill(bench: &Bench, name: &str, threads: usize, runs: usize) -> io::Result<u64> {
    let Some(mut daemon) = fresh(bench, name).await? else { return Ok(0) };
    let socket = daemon.ready().socket.clone();
    let input = "word ".repeat(WORDS);
    rate(CLIENTS, threads, |_| {
        let (socket, input) = (socket.clone(), input.clone());
        async move {
            let mut wire = Wire::greeted(&socket).await?;
            for _ in 0..threads {
                let thread = new_thread(&mut wire, false, json!({})).await?;
                for _ in 0..runs {
                    let mut run = submit(&thread, &input);
                    run["wait"] = json!(true);
                    wire.call("run/submit", run).await?;
                }
            }
            Ok(())
        }
    })
    .await?;
    let status = Wire::greeted(&socket).await?.call("daemon/status", json!({})).await?;
    end(&mut daemon).await?;
    Ok(status["store"]["logBytes"].as_u64().unwrap_or_default())
}
