//! One end of a Ropewalk connection: framing, both directions of requests, and two lanes for what is sent.
//!
//! Daemon and SDK run the same [`serve`] over the same kind of stream. What comes in is cut into lines (`frame`),
//! taken apart without parsing its insides (`envelope`, `scan`), and handed to a [`Service`] or to the [`Pending`]
//! call it answers (`reader`). What goes out waits in the control lane, which is always sent first, or is pulled from
//! a [`Feed`] (`writer`). Nothing here knows a method by name.

mod batch;
mod call;
mod encode;
mod envelope;
mod frame;
#[cfg(any(test, fuzzing))]
pub mod holds;
mod peer;
mod reader;
mod responder;
mod scan;
mod serve;
mod sniff;
mod writer;

pub use call::{CallError, Closed, Pending};
pub use encode::{internal_error, notification_line};
pub use peer::Peer;
pub use responder::Responder;
pub use serve::{Feed, NoFeed, Options, Request, Service, serve, serve_with};

#[cfg(test)]
mod tests;
