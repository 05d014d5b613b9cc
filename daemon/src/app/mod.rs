//! The App tools: an MCP server inside the daemon that gives a model the daemon's own data (APP-6, APP-8).
//!
//! An [`AppServer`] serves one run. Where the run stands is fixed when the server is made and is no argument of any tool, so
//! that a model can leave ids out and cannot take another's place. What it reads and shows comes through [`Reader`] and
//! [`Windows`], which whoever puts the daemon together stands behind: the tools act on threads whose runs call the tools,
//! and this is where that circle is open (APP-15).
//!
//! [`tools`] lists the tools, their schemas made from the types that read their arguments. [`read`] is `app_read`,
//! [`navigate`] is `app_navigate`, [`memory`] is `app_memory`, [`instructions`] is `app_instructions`, and an [`answer`] is what either gives to its three audiences.

mod answer;
mod instructions;
mod memory;
mod navigate;
mod notes;
mod read;
mod server;
mod spelling;
mod surroundings;
#[cfg(test)]
mod tests;
mod tools;
mod written;

pub use notes::Notes;
pub use read::ReadResource;
pub use server::AppServer;
pub use surroundings::{Chain, Reader, Windows};
pub use tools::{SOURCE, SOURCE_NAME, specs};
