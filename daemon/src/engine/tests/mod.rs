//! Tests of threads and runs over the store in memory: time moves when a test says so, and a model says what it is told to.

mod calls;
mod client;
mod crash;
mod group;
mod life;
mod model;
mod park;
mod presence;
mod spy;
mod stream;
mod trouble;
