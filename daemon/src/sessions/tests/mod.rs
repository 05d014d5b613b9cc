//! Sessions with servers of all kinds.
