//! Ropewalk's conformance kit: what stands opposite the daemon in a test.
//!
//! * [`ScriptedServer`] is a model provider on a loopback port: the scripted model in the [shapes](Shape) of
//!   OpenAI and Anthropic, with a [strict mode](ServerOptions::strict), a [window](ServerOptions::window_tokens), a
//!   journal of requests and [faults](Fault) on demand.
//! * [`RawServer`] plays bodies byte for byte and chunk for chunk, for answers no honest server gives.
//! * [`kit`] plays vectors against daemons of others, and reports.
//! * [`suite`] is a list of claims about a daemon's wire, each a scenario over raw connections.
//! * [`DaemonProcess`] is a daemon in a process of its own, to be killed, signalled and looked at from outside.
//! * [`npm_package`], [`npm_package_of`], [`read_with`], [`run_with`] and [`Aimock`] are programs by others, as npm packages.
//! * [`torture()`] kills a daemon under load, or cuts its power, and holds what is left against what its clients know.
//! * [`serve`] is the command `conformance serve`, for tests in other languages, and [`bench()`] `conformance bench`.

mod bench;
pub mod kit;
mod peers;
mod processes;
mod raw;
mod scripted;
mod serve;
pub mod suite;
mod torture;

pub use bench::{BenchArgs, FloorArgs, bench, serve_floor};
pub use peers::{Aimock, npm_package, npm_package_of, read_with, run_with};
pub use processes::{DaemonOptions, DaemonProcess, Ready, Refusal, Signal, StartFailure, Usage};
pub use raw::{RawEnding, RawReply, RawRequest, RawServer};
pub use scripted::{Fault, RecordedRequest, ScriptedServer, ServerOptions, Shape};
pub use serve::{ServeArgs, serve};
pub use torture::{Blow, TortureArgs, TortureReport, can_cut_power, torture};
