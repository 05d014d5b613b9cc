//! The ways to a daemon: its socket, one stream that the application brought, or a function of the application.

use std::{
    future::Future,
    io,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use tokio::time::timeout;

use crate::{
    Error,
    environment::Places,
    transport::{self, Duplex},
};

/// How long a function of the application may take to connect.
const DIAL_DEADLINE: Duration = Duration::from_secs(10);

/// A way to a daemon.
pub(crate) trait Dial: Send + Sync {
    /// Opens a stream. `may_start` says whether a daemon that does not run may be started, where that was asked for.
    fn open(&self, may_start: bool) -> BoxFuture<'_, Result<Box<dyn Duplex>, Error>>;

    /// Whether a stream that is lost can be opened again.
    fn is_lasting(&self) -> bool {
        true
    }
}

/// The socket of a home.
pub(crate) struct Socket {
    pub(crate) places: Places,
    /// How long a daemon that is started may take; none when none is to be started.
    pub(crate) start: Option<Duration>,
}

impl Dial for Socket {
    fn open(&self, may_start: bool) -> BoxFuture<'_, Result<Box<dyn Duplex>, Error>> {
        let start = self.start.filter(|_| may_start);
        async move { Ok(Box::new(transport::open(&self.places, start).await?) as Box<dyn Duplex>) }.boxed()
    }
}

/// One stream, which cannot be had again.
pub(crate) struct Given(pub(crate) Mutex<Option<Box<dyn Duplex>>>);

impl Dial for Given {
    fn open(&self, _: bool) -> BoxFuture<'_, Result<Box<dyn Duplex>, Error>> {
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        async move { stream.ok_or(Error::Disconnected) }.boxed()
    }

    fn is_lasting(&self) -> bool {
        false
    }
}

/// A function of the application that connects.
pub(crate) struct Through<F>(pub(crate) F);

impl<F, Fut, S> Dial for Through<F>
where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future<Output = io::Result<S>> + Send + 'static,
    S: Duplex + 'static,
{
    fn open(&self, _: bool) -> BoxFuture<'_, Result<Box<dyn Duplex>, Error>> {
        let opening = (self.0)();
        async move {
            let opened = timeout(DIAL_DEADLINE, opening).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
            match opened {
                Ok(stream) => Ok(Box::new(stream) as Box<dyn Duplex>),
                Err(error) => Err(Error::Dial { reason: error.to_string(), source: error }),
            }
        }
        .boxed()
    }
}
