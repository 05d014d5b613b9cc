//! From the connection's one line of events to as many readers as there are, each at its own pace.

mod delivered;
mod hub;
mod mailbox;
mod stream;

pub use stream::EventStream;

pub(crate) use delivered::Delivered;
pub(crate) use hub::Hub;
pub(crate) use mailbox::{End, Failure, Mailbox};
