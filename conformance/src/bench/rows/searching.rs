//! What looking for a text costs when much was said: over all of it, beside `grep` over the same files, and one page.

use std::{
    io,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::process::Command;

use super::memory::{end, fresh};
use crate::bench::{
    Bench, absent,
    report::{Bar, Row},
    subject::{new_thread, submit},
    timing::{Pair, median, rate},
    wire::Wire,
};

pub(super) const NAMES: &[&str] =
    &["literal search over 1 GiB", "literal search over 1 GiB, in one case", "a page of hits of a search over 1 GiB"];

/// How many messages are written: so many threads by so many clients, each of so many runs whose input and answer have so
/// many words.
const CLIENTS: usize = 32;
const THREADS: usize = 94;
const RUNS: usize = 12;
const WORDS: usize = 150;
/// A word of a text: long, so that an answer comes in few pieces. Texts stay short enough to lie in the log.
const WORD: &str = "twists-of-hemp-that-become-a-rope-when-somebody-walks-backwards-for-long-enough-with-all-of-them ";
/// Said by the last run of each client, and by nobody else.
const NEEDLE: &str = "Marlinspike";
/// How often each is measured.
const TURNS: usize = 5;
const PAGES: usize = 20;

pub(super) async fn searching(bench: &Bench) -> io::Result<Vec<Row>> {
    let Some(mut daemon) = fresh(bench, "searched").await? else { return Ok(absent()) };
    let socket = daemon.ready().socket.clone();
    fill(&socket).await?;
    let logs = bench.dir.join("searched/logs");
    let mut wire = Wire::greeted(&socket).await?;
    let mut rows = Vec::new();
    for (name, ignores_case) in [(NAMES[0], true), (NAMES[1], false)] {
        let mut pair = Pair::default();
        for _ in 0..TURNS {
            let floor = grep(&logs, ignores_case).await?;
            let since = Instant::now();
            let found = all(&mut wire, json!({"query": NEEDLE, "ignoreCase": ignores_case})).await?;
            pair.add(since.elapsed().as_secs_f64() * 1e3, floor.as_secs_f64() * 1e3);
            // Each has it in the input and, said back, in the answer.
            if found != 2 * CLIENTS {
                return Err(io::Error::other(format!("the search found {found} messages of {}", 2 * CLIENTS)));
            }
        }
        rows.push(Row::new(name, "ms", pair.figure(), Bar::TimesAtMost(2.0)).over(pair.floor()));
    }
    let mut pages = Vec::new();
    for _ in 0..PAGES {
        let since = Instant::now();
        wire.call("thread/search", json!({"query": "Walks-Backwards"})).await?;
        pages.push(since.elapsed().as_secs_f64() * 1e3);
    }
    end(&mut daemon).await?;
    rows.push(Row::new(NAMES[2], "ms", median(pages), Bar::AtMost(50.0)));
    Ok(rows)
}

/// How many messages a search finds, page by page.
async fn all(wire: &mut Wire, mut params: Value) -> io::Result<usize> {
    let mut found = 0;
    loop {
        let page = wire.call("thread/search", params.clone()).await?;
        found += page["items"].as_array().map_or(0, Vec::len);
        match page.get("nextCursor") {
            Some(next) => params["cursor"] = next.clone(),
            None => return Ok(found),
        }
    }
}

/// How long `grep` takes for the lines of all files that have it.
async fn grep(logs: &Path, ignores_case: bool) -> io::Result<Duration> {
    let mut command = Command::new("grep");
    command.args(["-r", "-F", "-e", NEEDLE]).args(ignores_case.then_some("-i")).arg(logs);
    let since = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?.wait_with_output().await?.status;
    let took = since.elapsed();
    if status.success() { Ok(took) } else { Err(io::Error::other("grep did not find what was said")) }
}

/// Has all of it said, on threads short enough for the window of their model.
async fn fill(socket: &Path) -> io::Result<()> {
    let socket = socket.to_owned();
    let words = WORD.repeat(WORDS);
    rate(CLIENTS, THREADS, |_| {
        let (socket, words) = (socket.clone(), words.clone());
        async move {
            let mut wire = Wire::greeted(&socket).await?;
            for thread in 1..=THREADS {
                let id = new_thread(&mut wire, false, json!({})).await?;
                for run in 1..=RUNS {
                    let is_last = thread == THREADS && run == RUNS;
                    let input = format!("{words}{}", if is_last { NEEDLE } else { "" });
                    let mut run = submit(&id, input.trim_end());
                    run["wait"] = json!(true);
                    wire.call("run/submit", run).await?;
                }
            }
            Ok(())
        }
    })
    .await
    .map(drop)
}
