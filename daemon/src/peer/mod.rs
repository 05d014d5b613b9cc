//! Placeholder until clients are attached.

/// One attached client.
pub enum Client {}
