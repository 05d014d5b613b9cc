//! The Ropewalk daemon, in the order in which a request passes through it.
//!
//! [`server`] accepts, [`connection`] reads and writes bytes, [`dispatch`] finds the method, [`methods`] translate,
//! [`peer`] knows the attached client, [`engine`] owns threads and drives runs, [`domain`] decides, [`tools`] and
//! [`models`] reach outside, [`catalogue`] keeps what belongs to no thread, and [`store`] makes it last.
//! [`page`] is what all lists share, [`search`] how text is looked for. [`start`] puts all of it on a home, [`embed`](mod@embed) into another program;
//! [`cli`] is a client.

pub mod app;
pub mod catalogue;
pub mod cli;
pub mod clock;
pub mod connection;
pub mod context;
pub mod daemon;
pub mod dispatch;
pub mod domain;
pub mod embed;
pub mod engine;
pub mod files;
pub mod methods;
pub mod models;
pub mod page;
pub mod peer;
pub mod search;
pub mod secrets;
pub mod server;
pub mod sessions;
pub mod start;
pub mod store;
pub mod tools;

/// The Rust of the page about embedding is compiled and run with the crate, so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
struct Embedding;

pub use embed::{EmbedConfig, EmbedHome, Embedded, embed, embed_parts, embed_with_binary};
pub use secrets::SecretChoice;
