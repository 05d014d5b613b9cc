//! Programs whose connection to the daemon is lost in every place where it can be: they get what they would have got.
//!
//! The SDK talks to the real daemon through a proxy that cuts where it is told to, in the middle of a line too; the daemon
//! behind it may be stopped and started again on the same store in the same moment.

mod cuts;
mod phases;
pub(crate) mod play;
mod proxy;
mod world;

use std::time::Duration;

/// How long a test waits for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// Something that is to come in time.
async fn in_time<F: Future>(what: &str, future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("waited in vain: {what}"))
}
