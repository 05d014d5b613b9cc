//! The whole daemon over its wire: in memory where that is enough, over sockets and processes where it is not.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod aimock;
mod authority;
mod broken;
mod embedded;
mod hostile;
mod outside;
mod process;
mod recipes;
mod reconnecting;
#[cfg(unix)]
mod servers;
mod suite;
mod support;
mod transcript_a;
