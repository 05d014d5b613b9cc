//! The dialect, what is shown of a message, and the scan over a small archive.

mod archive;
mod dialect;
mod hits;
mod scanning;
