//! The pull side of approvals, questions and tool calls, for programs that are not attached.

use super::{noun, verbs};

noun! {
    /// What waits for somebody.
    Interactions
}

impl Interactions {
    verbs! {
        /// The interactions, oldest first; the open ones unless told otherwise.
        list = InteractionList;
        /// Answers an interaction. The first valid answer counts; a later one meets `alreadySettled`.
        settle = InteractionSettle;
    }
}
