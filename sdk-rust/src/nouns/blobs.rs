//! Payloads that were cut from what the model saw.

use super::{noun, verbs};

noun! {
    /// Payloads that were cut from what the model saw, kept whole.
    Blobs
}

impl Blobs {
    verbs! {
        /// A part of a payload: of the `blob` of a tool call's item.
        read = BlobRead;
    }
}
