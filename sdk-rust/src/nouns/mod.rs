//! The nouns of the wire, one file each: `run/stop` is `client.runs().stop(…)`.

mod attention;
mod blobs;
mod branches;
mod context;
mod daemon;
mod endpoints;
mod interactions;
mod items;
mod memory;
mod policies;
mod projects;
mod queue;
mod runs;
mod servers;
mod threads;

pub use attention::Attentions;
pub use blobs::Blobs;
pub use branches::Branches;
pub use context::Context;
pub use daemon::{Daemon, Settings};
pub use endpoints::{Endpoints, Secrets};
pub use interactions::Interactions;
pub use items::Items;
pub use memory::{Instructions, Memory};
pub use policies::Policies;
pub use projects::{Grants, Projects};
pub use queue::Queue;
pub use runs::Runs;
pub use servers::{ServerReviews, Servers};
pub use threads::Threads;

/// Declares a noun: a handle that knows its client and has the verbs of one file.
macro_rules! noun {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            client: crate::Client,
        }

        impl $name {
            pub(crate) const fn new(client: crate::Client) -> Self {
                Self { client }
            }
        }
    };
}

/// Declares verbs that take the parameters of the wire as they are.
macro_rules! verbs {
    ($($(#[$doc:meta])* $name:ident = $method:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// As [`Client::call`](crate::Client::call).
        pub async fn $name(
            &self,
            params: <ropewalk_protocol::$method as ropewalk_protocol::Method>::Params,
        ) -> Result<<ropewalk_protocol::$method as ropewalk_protocol::Method>::Result, crate::Error> {
            self.client.call::<ropewalk_protocol::$method>(params).await
        }
    )*};
}

pub(crate) use noun;
pub(crate) use verbs;
