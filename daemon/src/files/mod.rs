//! The bundled file tools: an MCP server over the directories a project was granted, and over nothing else.
//!
//! It runs as a process of its own ([`serve_stdio`]) that is told its grants when it starts and refuses everything it was not
//! granted. [`resolve`] follows a path to where it really leads, [`reach`] finds the grant and opens beneath it, [`confine`]
//! has the kernel hold the process to the same; each tool is a file of its own in [`tools`], and [`server`] speaks MCP.

mod closed;
pub mod confine;
mod grants;
mod reach;
mod refusal;
mod resolve;
mod server;
#[cfg(test)]
mod tests;
mod tools;
mod walk;

pub use grants::{Grant, Told, what_is_left};
pub use server::{CHANGE, FileServer, listed_tools, serve_stdio};
