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

/// Starts a server and lists its tools.
pub(super) async fn start(
    world: &World,
    launch: &Launch,
    version: Option<String>,
    diagnostics: &Diagnostics,
) -> Result<(Arc<Session>, Arc<Listing>), String> {
    let is_unknown = version.is_none();
    let begun = match begin(world, launch, version, diagnostics).await {
        // Some servers end when anything comes before their handshake.
        Err(error) if is_unknown && error.has_hung_up => {
            begin(world, launch, Some(OLD_WAY.to_owned()), diagnostics).await
        }
        begun => begun,
    };
    let session = Arc::new(begun.map_err(|error| error.reason)?);
    match session.list(LIST_PATIENCE).await {
        Ok(listing) => Ok((session, listing)),
        Err(reason) => {
            session.close().await;
            Err(reason)
        }
    }
}

async fn begin(
    world: &World,
    launch: &Launch,
    version: Option<String>,
    diagnostics: &Diagnostics,
) -> Result<Session, NotBegun> {
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
            within(world, patience_ms, Session::begin(read, write, about(None)), None).await
        }
        How::Child(command) => {
            let (child, (read, write)) = Child::start(&world.children(), command, diagnostics.clone())
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
    world: &World,
    patience_ms: u64,
    beginning: impl Future<Output = Result<Session, NotBegun>>,
    child: Option<Child>,
) -> Result<Session, NotBegun> {
    let begun = tokio::select! {
        begun = beginning => begun,
        () = world.clock.sleep(Duration::from_millis(patience_ms)) => {
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
