//! Tests of threads and runs over the store in memory: time moves when a test says so, and a model says what it is told to.

mod calls;
pub(crate) mod client;
mod crash;
mod group;
pub(crate) mod life;
pub(crate) mod model;
mod park;
mod presence;
mod room;
mod spy;
mod stream;
mod trouble;
