//! What a model is asked with.

use super::{noun, verbs};

noun! {
    /// What a model is asked with.
    Context
}

impl Context {
    verbs! {
        /// What the next request of a branch would be made of: every layer, and how much of the window each part takes.
        preview = ContextPreview;
    }
}
