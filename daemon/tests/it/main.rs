//! The whole daemon over its wire: in memory where that is enough, over sockets and processes where it is not.

mod support;
mod transcript_a;
