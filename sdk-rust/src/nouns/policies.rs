//! Rules for tools.

use super::{noun, verbs};

noun! {
    /// Rules for tools.
    Policies
}

impl Policies {
    verbs! {
        /// Sets a rule; a second one for the same level, tool or source, principal and connection replaces the first.
        set = PolicySet;
        /// Takes a rule back.
        remove = PolicyRemove;
        /// The rules, in the order of their ids.
        list = PolicyList;
    }
}
