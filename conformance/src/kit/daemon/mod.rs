//! Plays vectors against a daemon: `conformance daemon`.
//!
//! A [`Subject`] is the daemon that is tried, [`play`] plays vectors against it and reports. Beside what a vector says,
//! [rules](self) hold on every connection at every moment; the README of the kit lists them.

mod broken;
mod command;
mod connection;
mod player;
mod process;
pub(super) mod rules;
mod runner;
mod seeking;
mod steps;
mod subject;
#[cfg(test)]
mod tests;

pub use broken::Fault;
pub use command::{DaemonArgs, daemon};

pub use super::command::Format;
pub use runner::{Playing, play};
pub use subject::{StartCommand, Subject};
