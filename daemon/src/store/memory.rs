//! Stub.

/// The twin in memory.
#[derive(Debug)]
pub struct MemoryStore;
