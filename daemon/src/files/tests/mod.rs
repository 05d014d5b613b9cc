//! The file tools, called as a stock client calls them.

mod bench;
mod boundary;
mod left;
mod process;
mod race;
mod reading;
mod searching;
mod writing;
