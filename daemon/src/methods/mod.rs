//! One short function a method: translate in, call once, translate out.

pub mod attention;
pub mod blobs;
pub mod branches;
mod caller;
mod check;
pub mod context;
pub mod daemon;
pub mod endpoints;
pub mod grants;
pub mod instructions;
pub mod interactions;
pub mod items;
pub mod memory;
pub mod policies;
pub mod projects;
pub mod queue;
pub mod runs;
pub mod search;
pub mod servers;
pub mod settings;
mod table;
pub mod threads;
pub mod upkeep;

pub use table::table;
