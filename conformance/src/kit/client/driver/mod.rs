//! The driver of the Rust SDK: does what the runner says, with nothing but the public words of the crate `ropewalk`, and
//! reports what comes of it. `conformance/DRIVERS.md` says how to write one for another SDK.

mod events;
mod failures;
mod handlers;
mod reports;
mod runs;
mod tools;
mod verbs;

use std::{
    collections::HashMap,
    io::{self, BufRead},
    sync::{Arc, Mutex, PoisonError},
};

use ropewalk::{Client, Registration, Thread};
use serde_json::json;
use tokio::sync::mpsc;

use super::{
    commands::{Command, Verb},
    faulty::Fault,
};
use handlers::Gates;
use reports::Reports;
use runs::Followed;

/// Commands that may wait to be read; the runner waits for reports long before.
const COMMANDS: usize = 64;

/// Reads commands from stdin and reports on stdout, until the client is closed or stdin ends. With a fault, the SDK is
/// made to break one rule of the wire: a driver that the kit has to catch.
///
/// # Errors
/// When a line is no command.
pub async fn drive(fault: Option<Fault>) -> io::Result<()> {
    let driver = Arc::new(Driver {
        reports: Reports::default(),
        gates: Arc::default(),
        fault,
        held: Mutex::new(Held::default()),
    });
    driver.reports.send(&json!({"ready": {"sdk": "ropewalk", "version": env!("CARGO_PKG_VERSION")}}));
    let mut commands = read_commands();
    while let Some(line) = commands.recv().await {
        let command: Command = serde_json::from_str(&line?).map_err(|error| io::Error::other(error.to_string()))?;
        if matches!(command.verb, Verb::Close {}) {
            driver.close().await;
            driver.reports.done(&command.id, json!({}));
            break;
        }
        driver.reports.expect_one_more();
        let driver = Arc::clone(&driver);
        tokio::spawn(async move { driver.obey(command).await });
    }
    driver.close().await;
    if fault == Some(Fault::Lingers) {
        std::future::pending::<()>().await;
    }
    Ok(())
}

/// What a driver holds between commands.
struct Driver {
    reports: Reports,
    gates: Arc<Gates>,
    fault: Option<Fault>,
    held: Mutex<Held>,
}

/// The handles that commands know by name.
#[derive(Default)]
struct Held {
    client: Option<Client>,
    threads: HashMap<String, Thread>,
    runs: HashMap<String, Followed>,
    attached: HashMap<String, Registration>,
}

impl Driver {
    /// Closes the client, and waits until every command has reported what that did to it.
    async fn close(&self) {
        let client = self.held().client.clone();
        if let Some(client) = client {
            client.close().await;
        }
        self.reports.all_told().await;
        drop(std::mem::take(&mut *self.held()));
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lines of stdin. A thread of its own reads them, because one that waits for a line keeps a runtime from ending.
fn read_commands() -> mpsc::Receiver<io::Result<String>> {
    let (send, commands) = mpsc::channel(COMMANDS);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            if send.blocking_send(line).is_err() {
                return;
            }
        }
    });
    commands
}
