//! The rows, in the order of the table.

mod endurance;
mod memory;
mod requests;
mod runs;
mod searching;
mod sleepers;
mod stored;
mod streams;
mod writes;

use std::io;

use futures::future::BoxFuture;

use super::{Bench, report::Row};

type Measuring<'a> = BoxFuture<'a, io::Result<Vec<Row>>>;

/// Rows that are measured together.
pub(super) struct Measure {
    /// Their names, to choose by.
    pub(super) names: &'static [&'static str],
    /// Measures them.
    pub(super) run: for<'a> fn(&'a Bench) -> Measuring<'a>,
}

/// All of them. Those that look at the memory of a fresh daemon start one of their own.
pub(super) const ALL: &[Measure] = &[
    Measure { names: requests::STATUS, run: |bench| Box::pin(requests::status(bench)) },
    Measure { names: requests::STATUS_64, run: |bench| Box::pin(requests::status_64(bench)) },
    Measure { names: requests::TO_CLIENT, run: |bench| Box::pin(requests::to_client(bench)) },
    Measure { names: writes::NAMES, run: |bench| Box::pin(writes::durable(bench)) },
    Measure { names: runs::OVERHEAD, run: |bench| Box::pin(runs::overhead(bench)) },
    Measure { names: runs::TOOL, run: |bench| Box::pin(runs::tool(bench)) },
    Measure { names: streams::NAMES, run: |bench| Box::pin(streams::streams(bench)) },
    Measure { names: streams::STOP, run: |bench| Box::pin(streams::stop(bench)) },
    Measure { names: endurance::MANY, run: |bench| Box::pin(endurance::many_at_once(bench)) },
    Measure { names: endurance::THOUSAND, run: |bench| Box::pin(endurance::thousand(bench)) },
    Measure { names: sleepers::NAMES, run: |bench| Box::pin(sleepers::sleepers(bench)) },
    Measure { names: memory::NAMES, run: |bench| Box::pin(memory::memory(bench)) },
    Measure { names: memory::THREADS, run: |bench| Box::pin(memory::threads(bench)) },
    Measure { names: memory::START, run: |bench| Box::pin(memory::start(bench)) },
    Measure { names: stored::NAMES, run: |bench| Box::pin(stored::stored(bench)) },
    Measure { names: searching::NAMES, run: |bench| Box::pin(searching::searching(bench)) },
];
