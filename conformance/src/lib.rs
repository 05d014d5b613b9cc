//! Ropewalk's conformance kit: what stands opposite the daemon in a test.
//!
//! * [`ScriptedServer`] is a model provider on a loopback port: the scripted model in the shape of OpenAI's chat
//!   completions, with a [strict mode](ServerOptions::strict), a journal of requests and [faults](Fault) on demand.
//! * [`RawServer`] plays bodies byte for byte and chunk for chunk, for answers no honest server gives.
//! * [`suite`] is a list of claims about a daemon's wire, each a scenario over raw connections.
//! * [`DaemonProcess`] is a daemon in a process of its own, to be killed, signalled and looked at from outside.
//! * [`serve`] is the command `conformance serve`, for tests in other languages, and [`bench()`] `conformance bench`.

mod bench;
mod processes;
mod raw;
mod scripted;
mod serve;
pub mod suite;

pub use bench::{BenchArgs, FloorArgs, bench, serve_floor};
pub use processes::{DaemonOptions, DaemonProcess, Ready, Refusal, Signal, StartFailure, Usage};
pub use raw::{RawEnding, RawReply, RawRequest, RawServer};
pub use scripted::{Fault, RecordedRequest, ScriptedServer, ServerOptions};
pub use serve::{ServeArgs, serve};
