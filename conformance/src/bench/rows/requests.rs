//! What a request costs when nothing has to be written down.

use std::{io, sync::Arc, time::Instant};

use ropewalk_peer::{NoFeed, Options, Peer, Request, Service, serve};
use serde_json::{json, value::RawValue};

use crate::bench::{
    Bench,
    floor::echo,
    report::{Bar, Row},
    timing::{Pair, ROUNDS, micros_each, rate},
    wire::{request, tool_result},
};

pub(super) const STATUS: &[&str] = &["request round trip, 1 client"];
pub(super) const STATUS_64: &[&str] = &["request round trip, 64 clients"];
pub(super) const TO_CLIENT: &[&str] = &["request to a client and back"];

/// Exchanges of one round.
const EXCHANGES: usize = 2_000;
/// Exchanges of each of many clients.
const EXCHANGES_OF_MANY: usize = 300;
const CLIENTS: usize = 64;

pub(super) async fn status(bench: &Bench) -> io::Result<Vec<Row>> {
    let question = request(1, "daemon/status", &json!({}));
    let mut ours = bench.subject.connect().await?;
    let mut bare = bench.floor.connect().await?;
    let mut pair = Pair::default();
    for _ in 0..ROUNDS {
        let answer = ours.exchange(&question).await?;
        let same = echo(question.len(), answer);
        let since = Instant::now();
        for _ in 0..EXCHANGES {
            bare.exchange(&same).await?;
        }
        let floor = micros_each(since, EXCHANGES);
        let since = Instant::now();
        for _ in 0..EXCHANGES {
            ours.exchange(&question).await?;
        }
        pair.add(micros_each(since, EXCHANGES), floor);
    }
    Ok(vec![Row::new(STATUS[0], "us", pair.figure(), Bar::TimesAtMost(1.6)).over(pair.floor())])
}

pub(super) async fn status_64(bench: &Bench) -> io::Result<Vec<Row>> {
    let question = request(1, "daemon/status", &json!({}));
    let answer = bench.subject.connect().await?.exchange(&question).await?;
    let same = echo(question.len(), answer);
    let mut pair = Pair::default();
    for _ in 0..3 {
        let mut rates = Vec::new();
        for (line, is_ours) in [(&same, false), (&question, true)] {
            let mut wires = Vec::new();
            for _ in 0..CLIENTS {
                wires.push(Some(if is_ours { bench.subject.connect().await? } else { bench.floor.connect().await? }));
            }
            let wires = std::sync::Mutex::new(wires);
            let work = |number: usize| {
                let wire = wires.lock().expect("nobody panics with it")[number].take();
                let line = line.clone();
                async move {
                    let mut wire = wire.expect("each is taken once");
                    for _ in 0..EXCHANGES_OF_MANY {
                        wire.exchange(&line).await?;
                    }
                    Ok(())
                }
            };
            rates.push(rate(CLIENTS, EXCHANGES_OF_MANY, work).await?);
        }
        pair.add(rates[1], rates[0]);
    }
    Ok(vec![Row::new(STATUS_64[0], "1/s", pair.figure(), Bar::TimesAtLeast(0.4)).over(pair.floor())])
}

/// The daemon's end of a connection, as the daemon runs it, in this process, and the floor as the client: what a call of
/// a client's tool costs beside everything that is written down for it.
pub(super) async fn to_client(bench: &Bench) -> io::Result<Vec<Row>> {
    let params = json!({
        "interactionId": "018f0000-0000-7000-8000-000000000000", "threadId": "018f0000-0000-7000-8000-000000000001",
        "runId": "018f0000-0000-7000-8000-000000000002", "callId": "call_1", "attempt": 1, "tool": "echo",
        "arguments": {"id": "7"}, "silenceMs": 120_000, "deadlineAt": "2026-11-30T12:00:00.000Z",
    });
    let peer: Peer = serve(bench.floor.stream().await?, Options::default(), Arc::new(AsksNothing), Arc::new(NoFeed));
    let mut bare = bench.floor.connect().await?;
    let same = echo(request(1, "tool/call", &params).len(), tool_result(1).len());
    let params = serde_json::value::to_raw_value(&params)?;
    let mut pair = Pair::default();
    for _ in 0..ROUNDS {
        let since = Instant::now();
        for _ in 0..EXCHANGES {
            bare.exchange(&same).await?;
        }
        let floor = micros_each(since, EXCHANGES);
        let since = Instant::now();
        for _ in 0..EXCHANGES {
            peer.call_raw("tool/call", Some(&params)).await.map_err(io::Error::other)?;
        }
        pair.add(micros_each(since, EXCHANGES), floor);
    }
    peer.close();
    Ok(vec![Row::new(TO_CLIENT[0], "us", pair.figure(), Bar::TimesAtMost(1.25)).over(pair.floor())])
}

/// A service nobody calls.
struct AsksNothing;

impl Service for AsksNothing {
    fn request(&self, _: &Peer, _: Request) {}

    fn notification(&self, _: &Peer, _: String, _: Option<Box<RawValue>>) {}
}
