//! The things the wire speaks of, one file a noun.

mod approval;
mod endpoint;
mod instructions;
mod interaction;
mod item;
mod memory;
mod outcome;
mod policy;
mod project;
mod question;
mod run;
mod search;
mod server;
mod thread;
mod tool;
mod waiting;

pub use approval::*;
pub use endpoint::*;
pub use instructions::*;
pub use interaction::*;
pub use item::*;
pub use memory::*;
pub use outcome::*;
pub use policy::*;
pub use project::*;
pub use question::*;
pub use run::*;
pub use search::*;
pub use server::*;
pub use thread::*;
pub use tool::*;
pub use waiting::*;

/// An opaque position in a list: send it back to get the next page.
pub type Cursor = String;

/// A number that grows with every change of a thing; below 2^53.
pub type Revision = u64;

/// The position of a durable event in its thread, from 1, without gaps; below 2^53.
pub type Seq = u64;
