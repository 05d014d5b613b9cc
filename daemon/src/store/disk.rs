//! Stub.

/// Plain logs with sled as their index.
#[derive(Debug)]
pub struct DiskStore;
