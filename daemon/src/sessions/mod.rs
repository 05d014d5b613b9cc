//! Sessions with servers that speak MCP, over an in-process pair or the pipes of a process, supervised.
//!
//! [`Sessions`] has all of them. A [`Launch`] says how one is begun; [`supervised`] starts it when it is needed, once, and
//! brings it back when it is lost. A [`Session`] is one connection: [`lines`] carries its messages, [`handler`] hears what
//! the server says on its own, [`listing`] reads its tools, [`call`] makes a call, [`results`] reads what comes back.
//! A [`child`] is its process, ended as a group by our own [`keep`] mode, whatever becomes of the daemon; [`diagnostics`]
//! has what it said beside the protocol.

mod beginning;
mod call;
pub mod child;
pub mod diagnostics;
mod handler;
#[cfg(unix)]
mod keep;
mod launch;
mod lines;
pub mod listing;
mod reader;
pub mod results;
mod session;
mod starting;
mod supervised;
mod supervisor;
#[cfg(test)]
pub(crate) mod tests;

pub use call::Outgoing;
pub use child::{ChildCommand, ChildSetup};
#[cfg(unix)]
pub use keep::keep;
pub use launch::{How, Launch};
pub use listing::{ListedTool, Listing};
pub use session::{About, NotBegun, Session};
pub use starting::WaitsFor;
pub use supervised::{IDLE, Standing, Status, Trouble};
pub use supervisor::{Sessions, TellsChange};
