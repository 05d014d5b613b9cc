//! One attached client: who it is, what it can do, what it is asked, and the events it is sent.
//!
//! [`Client`] is what the engine sees of a connection; its [`EventFeed`] is where the connection's writer gets events
//! from when nothing more urgent is to be sent; [`Clients`] is all of them.

mod asked;
mod changes;
mod client;
mod clients;
mod feed;

#[cfg(test)]
mod tests;

pub use client::{Client, Session};
pub use clients::Clients;
pub use feed::{EventFeed, HoldGuard};
