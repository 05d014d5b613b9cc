//! The SDK against a daemon that is played by the test: the wire is real, what is behind it is scripted.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::result_large_err, reason = "the played daemon answers with the errors of the wire as they are")]

mod approvals;
mod branches;
mod calls;
mod events;
mod handshake;
mod macros;
mod reconnecting;
mod runs;
mod send;
mod support;
mod taking_up;
mod threads;
