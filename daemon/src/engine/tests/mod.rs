//! Tests of threads and runs over the store in memory: time moves when a test says so, and a model says what it is told to.

mod budget;
mod calls;
pub(crate) mod client;
mod context;
mod crash;
mod group;
mod layers;
pub(crate) mod life;
mod loops;
pub(crate) mod model;
mod output;
mod park;
mod presence;
mod remarks;
mod retries;
mod room;
mod shortfalls;
mod spy;
mod stream;
mod trouble;
