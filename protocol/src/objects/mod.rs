//! The things the wire speaks of, one file a noun.

mod endpoint;
mod interaction;
mod item;
mod policy;
mod project;
mod run;
mod server;
mod thread;
mod tool;

pub use endpoint::*;
pub use interaction::*;
pub use item::*;
pub use policy::*;
pub use project::*;
pub use run::*;
pub use server::*;
pub use thread::*;
pub use tool::*;

/// An opaque position in a list: send it back to get the next page.
pub type Cursor = String;

/// A number that grows with every change of a thing; below 2^53.
pub type Revision = u64;

/// The position of a durable event in its thread, from 1, without gaps; below 2^53.
pub type Seq = u64;
