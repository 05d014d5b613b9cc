//! Starting a server: its process, the handshake within its time, the first list. What fails leaves nothing behind.

use std::{sync::Arc, time::Duration};

use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

use super::{
    child::Child,
    diagnostics::Diagnostics,
    launch::{How, Launch},
    listing::Listing,
    session::{About, NotBegun, Session},
    supervisor::{LIST_PATIENCE, World},
};

/// How long a server of unknown age may take longer: it is asked first which protocols it speaks, and some never answer that.
const PROBE_MS: u64 = 10_000;

/// A version that has a handshake: what a server is taken to speak that goes away when it is asked.
const OLD_WAY: &str = "2025-11-25";

/// Why a start ended that nobody wanted any more.
const CLOSED: &str = "it was closed while it was starting";

/// What a server that is starting is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// The end of its process, before another one is started.
    End,
    /// Its answer to the handshake.
    Handshake,
    /// The list of its tools.
    Tools,
}

/// A start, as it goes on.
#[derive(Clone, Copy)]
pub(super) struct Start<'a> {
    pub world: &'a World,
    pub launch: &'a Launch,
    /// Where its other words go.
    pub diagnostics: &'a Diagnostics,
    /// Cancelled when nobody wants it any more.
    pub stop: &'a CancellationToken,
    /// Told what is waited for now.
    pub now: &'a (dyn Fn(WaitsFor) + Send + Sync),
}

/// Starts a server and lists its tools. When it fails, nothing of it runs any more.
pub(super) async fn start(start: Start<'_>, version: Option<String>) -> Result<(Arc<Session>, Arc<Listing>), String> {
    let is_unknown = version.is_none();
    (start.now)(WaitsFor::Handshake);
    let begun = match begin(start, version).await {
        // Some servers end when anything comes before their handshake.
        Err(error) if is_unknown && error.has_hung_up => begin(start, Some(OLD_WAY.to_owned())).await,
        begun => begun,
    };
    let session = Arc::new(begun.map_err(|error| error.reason)?);
    (start.now)(WaitsFor::Tools);
    let listed = tokio::select! {
        biased;
        listed = session.list(LIST_PATIENCE) => listed,
        () = start.stop.cancelled() => Err(CLOSED.to_owned()),
    };
    match listed {
        Ok(listing) => Ok((session, listing)),
        Err(reason) => {
            session.close().await;
            Err(reason)
        }
    }
}

async fn begin(start: Start<'_>, version: Option<String>) -> Result<Session, NotBegun> {
    let Start { world, launch, diagnostics, .. } = start;
    let patience_ms = launch.start_timeout_ms + if version.is_none() { PROBE_MS } else { 0 };
    let about = |child| About {
        child,
        name: launch.name.clone(),
        version,
        diagnostics: diagnostics.clone(),
        clock: world.clock.clone(),
    };
    match &launch.how {
        How::InProcess(make) => {
            let (read, write) = tokio::io::split(make());
            within(start, patience_ms, Session::begin(read, write, about(None)), None).await
        }
        How::Child(command) => {
            let (child, (read, mut write)) = Child::start(&world.children(), command, diagnostics.clone())
                .map_err(|reason| NotBegun { reason, has_hung_up: false })?;
            let about = about(Some(child.clone()));
            let beginning = async move {
                // One that does not read it has hung up, and how it ended says why.
                let hung_up = |error| NotBegun { reason: format!("it does not read: {error}"), has_hung_up: true };
                write.write_all(&command.first).await.map_err(hung_up)?;
                Session::begin(read, write, about).await
            };
            within(start, patience_ms, beginning, Some(child)).await
        }
    }
}

/// Waits for the handshake. A process that does not come to it is gone when this returns.
async fn within(
    start: Start<'_>,
    patience_ms: u64,
    beginning: impl Future<Output = Result<Session, NotBegun>>,
    child: Option<Child>,
) -> Result<Session, NotBegun> {
    let begun = tokio::select! {
        begun = beginning => begun,
        () = start.stop.cancelled() => Err(NotBegun { reason: CLOSED.to_owned(), has_hung_up: false }),
        () = start.world.clock.sleep(Duration::from_millis(patience_ms)) => {
            let reason = format!("initialize timed out: no answer within {} s", patience_ms / 1_000);
            Err(NotBegun { reason, has_hung_up: false })
        }
    };
    let Err(error) = begun else { return begun };
    let Some(child) = child else { return Err(error) };
    child.end().await;
    // Why it hung up is in how it ended.
    let ended = child.exit().filter(|_| error.has_hung_up);
    let reason = ended.map_or(error.reason.clone(), |exit| format!("{}: {exit}", error.reason));
    Err(NotBegun { reason, ..error })
}
