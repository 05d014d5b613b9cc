//! The conformance kit for those who implement the protocol: vectors, and what plays them.
//!
//! * [`matching`] is how a vector says what it expects and what it sends.
//! * [`vector`] is a claim about a daemon, [`daemon`](mod@daemon) plays it.
//! * [`client`] tries a client SDK, with vectors of its own.
//! * [`report`] is what became of each vector, [`known`] the list of those that are known to fail, [`selection`] which
//!   are asked for.

pub mod client;
mod command;
pub mod daemon;
pub mod known;
pub mod matching;
pub mod report;
pub mod selection;
mod shell;
#[cfg(test)]
mod tests;
pub mod vector;
