//! What enters a model's context, as pure decisions: how much there is, how much may be, and what is left out.
//!
//! [`tokens`] estimates, [`gauges`] corrects the estimates by what providers report, [`budgets`] says what part of a window is
//! for what. [`layers`] are what stands before the chain, [`cut`] cuts texts visibly, [`tools`] chooses the definitions that
//! fit, [`memory`] what an index of memory says, [`chain`] where a chain may be cut, and [`transcript`] writes messages down for whoever summarises them.

pub mod budgets;
pub mod chain;
pub mod cut;
pub mod gauges;
pub mod layers;
pub mod memory;
#[cfg(test)]
mod tests;
pub mod tokens;
pub mod tools;
pub mod transcript;

pub use budgets::Budgets;
pub use gauges::{Gauges, ModelKey};
