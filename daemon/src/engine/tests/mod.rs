//! Tests of threads and runs over the store in memory: time moves when a test says so, and a model says what it is told to.

mod calls;
pub(crate) mod client;
mod context;
mod crash;
mod group;
mod layers;
pub(crate) mod life;
pub(crate) mod model;
mod park;
mod presence;
mod retries;
mod shortfalls;
mod spy;
mod stream;
mod trouble;
