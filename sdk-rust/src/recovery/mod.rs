//! The life of a client's connection: made, lost, made again, and given up.
//!
//! Whoever is told that the connection was lost starts one task, which tries until it stands or the patience is at its
//! end: a stream, the handshake, every open thread behind its last seen event, and what was settled in the meantime. Only
//! then calls go through it.

mod attachments;
mod changes;
mod interactions;
mod threads;
mod wire;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use ropewalk_peer::{NoFeed, Peer, serve};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::{
    Error,
    duties::{Duties, Incoming},
    events::End,
    link::{Outage, Over, millis},
};

pub(crate) use attachments::Attachments;
pub(crate) use threads::{missing, take_up};
pub(crate) use wire::Greeting;

use wire::Wire;

/// Makes the first connection, once.
///
/// # Errors
/// What stands in its way.
pub(crate) async fn connect(duties: &Arc<Duties>) -> Result<(), Error> {
    let (wire, generation) = shake_hands(duties, true).await?;
    open(duties, wire, generation, None);
    Ok(())
}

/// The connection of this generation is over.
pub(crate) fn lost(duties: &Arc<Duties>, generation: u64) {
    match duties.link.lost(generation) {
        None => {}
        Some(Err(_)) => end(duties, End::Lost),
        Some(Ok(outage)) => {
            duties.ledger.disconnected();
            let duties = Arc::clone(duties);
            tokio::spawn(async move {
                let ended = duties.link.ended().clone();
                tokio::select! {
                    () = ended.cancelled() => {}
                    () = reconnect(&duties, outage) => {}
                }
            });
        }
    }
}

/// Ends a client from this side. Gives the connection that calls went through.
pub(crate) fn close(duties: &Duties) -> Option<Peer> {
    duties.hub.end(End::Closed);
    let peer = duties.link.end(Over::Closed);
    // After the connection, so that work that is given up is not answered as if it had failed.
    duties.ledger.cancel_all();
    peer
}

fn end(duties: &Duties, end: End) {
    duties.hub.end(end);
    duties.ledger.cancel_all();
}

async fn reconnect(duties: &Arc<Duties>, mut outage: Outage) {
    let deadline = outage.deadline(duties.reconnect_for);
    let mut reason: Arc<str> = "the connection was lost".into();
    loop {
        outage.attempts = outage.attempts.saturating_add(1);
        let next = Instant::now() + outage.pause(rand::random());
        sleep_until(next.min(deadline)).await;
        if Instant::now() >= deadline {
            outage.attempts -= 1;
            break;
        }
        match timeout_at(deadline, attempt(duties, outage)).await {
            Ok(Ok(())) => return,
            Ok(Err(Error::Rpc(error))) if !error.data.retryable => return over(duties, Over::Refused(error)),
            Ok(Err(error)) => {
                tracing::debug!(attempt = outage.attempts, %error, "the connection could not be made again");
                reason = error.to_string().into();
                duties.link.tell(&outage, &reason);
            }
            Err(_) => break,
        }
    }
    over(duties, Over::GaveUp { attempts: outage.attempts, after_ms: millis(outage.since.elapsed()), reason });
}

fn over(duties: &Duties, over: Over) {
    tracing::warn!(error = %over.error(), "the client has ended");
    let _ = duties.link.end(over);
    end(duties, End::Lost);
}

/// One attempt, whole: afterwards everything is as it was before the connection was lost.
async fn attempt(duties: &Arc<Duties>, outage: Outage) -> Result<(), Error> {
    // Whoever is just starting the daemon anew gets the first moment.
    let (wire, generation) = shake_hands(duties, outage.attempts > 1).await?;
    threads::take_up_all(duties, &wire).await?;
    interactions::forget_settled(duties, &wire, generation).await?;
    open(duties, wire, generation, Some(outage));
    duties.tell(changes::everything());
    Ok(())
}

async fn shake_hands(duties: &Arc<Duties>, may_start: bool) -> Result<(Wire, u64), Error> {
    let stream = duties.dial.open(may_start).await?;
    let generation = duties.connections.fetch_add(1, Ordering::SeqCst) + 1;
    let service = Arc::new(Incoming::new(Arc::clone(duties), generation));
    let peer = serve(stream, ropewalk_peer::Options::default(), service, Arc::new(NoFeed));
    let wire = Wire::new(peer, duties.link.patience());
    let about = wire.greet(&duties.greeting).await?;
    duties.link.greeted(generation, about);
    Ok((wire, generation))
}

fn open(duties: &Arc<Duties>, wire: Wire, generation: u64, outage: Option<Outage>) {
    let peer = wire.keep();
    duties.link.open(&peer, generation, outage);
    // It may have been lost before anybody was told; and a client that has ended keeps none.
    if peer.is_closed() {
        lost(duties, generation);
    } else if duties.link.ended().is_cancelled() {
        peer.close();
    }
}

/// How long a lost connection is tried to be made again, unless a program says otherwise.
pub(crate) const RECONNECT_FOR: Duration = Duration::from_secs(120);
