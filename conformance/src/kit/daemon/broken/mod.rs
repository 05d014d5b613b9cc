//! Deliberately broken daemons: a daemon with something between it and its clients that breaks one rule. The kit has to
//! catch each of them, or it would catch nobody.

mod fault;
mod proxy;

pub use fault::Fault;
pub(crate) use proxy::Proxy;
