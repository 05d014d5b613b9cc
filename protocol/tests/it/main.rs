//! What is promised about the wire, checked from outside the crate.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod bundle;
mod generated;
mod limits;
mod page;
mod samples;
mod story;
mod transcripts;
mod typed;
