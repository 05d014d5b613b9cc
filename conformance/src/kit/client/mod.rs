//! Tries a client SDK: the kit plays the daemon on a socket of its own and tells a small program around the SDK, the
//! driver, what to do. `conformance/DRIVERS.md` is for those who write one.
//!
//! * [`library`] reads the vectors of `conformance/vectors/client`; a [`vector`] is a list of steps.
//! * `stage` is what a vector is played on: the socket, the driver as a process, and what either has said. `play` goes
//!   through the steps.
//! * [`trial`] plays all vectors that are asked for, several at once; [`client()`] is the command that does.
//! * [`commands`] is the language drivers are told things in, [`drive`] the driver of our own SDK, [`Fault`] what breaks
//!   it on purpose.

mod command;
pub mod commands;
mod driver;
mod faulty;
pub mod library;
mod play;
mod stage;
#[cfg(test)]
mod tests;
pub mod trial;
pub mod vector;

pub use command::{ClientArgs, client};
pub use driver::drive;
pub use faulty::Fault;
