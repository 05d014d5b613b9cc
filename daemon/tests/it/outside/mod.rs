//! What others wrote about JSON, JSON Schema and JSON-RPC, held against the daemon. `docs/outside-suites.md` says how many
//! cases there are and what differs.

mod clients;
mod exchanges;
mod mcp_runner;
mod mcp_servers;
mod parsing;
mod schemas;

use std::{fs, path::Path};

use ropewalk_conformance::{DaemonOptions, DaemonProcess};
use tempfile::TempDir;

/// The program on a socket of its own, and where its home is.
async fn listening() -> (DaemonProcess, TempDir) {
    let place = TempDir::new().unwrap();
    let options = DaemonOptions::new(env!("CARGO_BIN_EXE_ropewalk"), place.path().join("home"));
    (DaemonProcess::start(&options).await.unwrap(), place)
}

/// That the page says this, so that its figures are those of the run.
fn assert_told(sentence: &str) {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/outside-suites.md")).unwrap();
    let words: Vec<_> = page.split_whitespace().collect();
    assert!(words.join(" ").contains(sentence), "docs/outside-suites.md does not say: {sentence}");
}
