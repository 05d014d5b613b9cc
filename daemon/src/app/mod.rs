//! The App tools: an MCP server inside the daemon that gives a model the daemon's own data (APP-6, APP-8).
//!
//! An [`AppServer`] serves one run. Where the run stands is fixed when the server is made and is no argument of any tool, so
//! that a model can leave ids out and cannot take another's place. What it reads and shows comes through [`Reader`] and
//! [`Windows`], which whoever puts the daemon together stands behind: the tools act on threads whose runs call the tools,
//! and this is where that circle is open (APP-15).
//!
//! [`tools`] lists the tools, their schemas made from the types that read their arguments. [`read`] is `app_read`,
//! [`navigate`] is `app_navigate`, [`change`] are those that change something, and an [`answer`] is what each
//! gives to its three audiences.

mod answer;
mod authority;
mod change;
mod navigate;
mod notes;
mod read;
mod server;
mod spelling;
mod surroundings;
#[cfg(test)]
mod tests;
mod tools;

pub use authority::Authority;
pub use change::stakes;
pub use notes::Notes;
pub use read::ReadResource;
pub use server::AppServer;
pub use surroundings::{Asked, Chain, Hits, NobodyWrites, Reader, Setting, Standing, Windows, Writer};
pub use tools::{SOURCE, SOURCE_NAME, specs};
