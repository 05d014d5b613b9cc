//! Lets connections in: ours only, not too many, and also when descriptors run out.

use std::{fs::File, io, time::Duration};

use interprocess::local_socket::tokio::{Listener, Stream, prelude::*};
use tokio_util::sync::CancellationToken;

use crate::{connection::Serving, dispatch::Host};

/// How long nothing is accepted after the system refused.
const AFTER_A_REFUSAL: Duration = Duration::from_millis(100);

/// Accepts until `shutdown` is cancelled.
pub(super) async fn accept_until<H: Host>(listener: &Listener, serving: &Serving<H>, shutdown: &CancellationToken) {
    let mut spare = Spare::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok(stream) => admit(stream, serving),
            Err(error) if is_out_of_descriptors(&error) => {
                tracing::warn!(%error, "a connection was refused because there are no descriptors left");
                spare.turn_away(listener, serving).await;
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                serving.host.clock().sleep(AFTER_A_REFUSAL).await;
            }
        }
    }
}

fn admit<H: Host>(stream: Stream, serving: &Serving<H>) {
    match is_ours(&stream) {
        Ok(true) => {
            serving.connect(stream);
        }
        Ok(false) => tracing::warn!("a connection of another user was closed"),
        Err(error) => tracing::warn!(%error, "a connection was closed because nobody could say whose it is"),
    }
}

#[cfg(unix)]
fn is_ours(stream: &Stream) -> io::Result<bool> {
    Ok(stream.peer_creds()?.euid() == Some(rustix::process::geteuid().as_raw()))
}

#[cfg(not(unix))]
fn is_ours(_: &Stream) -> io::Result<bool> {
    Ok(true)
}

#[cfg(unix)]
fn is_out_of_descriptors(error: &io::Error) -> bool {
    [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(not(unix))]
fn is_out_of_descriptors(_: &io::Error) -> bool {
    false
}

/// A descriptor kept for the moment in which there is no other: with it a connection can be told so, and does not stay
/// in the queue of the listener, which would be ready without end.
struct Spare(Option<File>);

impl Spare {
    fn new() -> Self {
        Self(File::open(if cfg!(windows) { "NUL" } else { "/dev/null" }).ok())
    }

    async fn turn_away<H: Host>(&mut self, listener: &Listener, serving: &Serving<H>) {
        drop(self.0.take());
        let accepted = tokio::time::timeout(AFTER_A_REFUSAL, listener.accept()).await;
        if let Ok(Ok(stream)) = accepted {
            let open = serving.connections.count() as u64;
            serving.refuse(stream, "open connections and files", open);
        }
        serving.host.clock().sleep(AFTER_A_REFUSAL).await;
        *self = Self::new();
    }
}
