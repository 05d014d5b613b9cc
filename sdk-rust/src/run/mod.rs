//! Submitting input and following what comes of it.

mod event;
mod handle;
mod image;
mod input;
mod request;
mod result;

pub use event::RunEvent;
pub use handle::Run;
pub use image::{image, image_file};
pub use input::Input;
pub use request::{RunRequest, RunStream};
pub use result::RunResult;
