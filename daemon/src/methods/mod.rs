//! One short function a method: translate in, call once, translate out.

mod caller;
pub mod endpoints;
pub mod grants;
pub mod policies;
pub mod projects;
pub mod settings;
