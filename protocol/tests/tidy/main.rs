//! House rules that a person forgets and a test does not: sizes, layers, words, documentation, licences.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod docs;
mod doors;
mod layers;
mod licences;
mod rust;
mod tree;
mod words;
