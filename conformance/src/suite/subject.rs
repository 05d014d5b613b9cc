//! The daemon under test, as far as a scenario reaches it.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Raw;

/// Both directions of a connection.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// The client's end of a connection.
pub type Stream = Box<dyn Duplex>;

/// A daemon under test.
pub trait Subject: Send + Sync {
    /// Opens a connection. Dropping it is how a client is cut off.
    fn open(&self) -> BoxFuture<'_, Stream>;

    /// Lets time pass at once, for a daemon whose clock stands still otherwise.
    ///
    /// # Panics
    /// When the daemon goes by the machine's clock; scenarios that call this say so in the list.
    fn advance(&self, by: Duration) {
        panic!("this daemon goes by the machine's clock, so {by:?} cannot pass at once");
    }
}

impl dyn Subject {
    /// A connection that has not shaken hands.
    pub async fn raw(&self) -> Raw {
        Raw::new(self.open().await)
    }

    /// A client `bot`, instance `in-A`, that can do everything.
    pub async fn bot(&self) -> Raw {
        self.client("bot", "in-A").await
    }

    /// A client that can do everything.
    pub async fn client(&self, name: &str, instance: &str) -> Raw {
        Raw::greeted(self.open().await, name, instance).await
    }
}
